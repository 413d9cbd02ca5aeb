"""Windows is refused in words, by the library and by the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.edge.cli import main
from recollect.errors import UnsupportedPlatform
from recollect.settings import check_platform


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_linux_and_macos_are_taken(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    check_platform()


@pytest.mark.parametrize("platform", ["win32", "cygwin"])
def test_windows_is_refused_and_nothing_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(UnsupportedPlatform, match=platform) as caught:
        Recollect.open(tmp_path / "agent.db")
    assert isinstance(caught.value, OSError)
    assert "Linux" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_refuses_windows_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "argv", ["recollect", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "does not run on win32" in capsys.readouterr().err
