"""How the process `recollect` ends, whichever way its arguments were read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from recollect.edge.cli import ask as asking
from recollect.edge.cli import main
from recollect.edge.cli.given import Chosen


@pytest.mark.parametrize("words", [["recall", "tea"], ["--read-only", "recall", "tea"]])
def test_an_interrupted_recall_ends_as_a_shell_expects(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recollect.edge.cli.open_memory.existing", interrupted)
    monkeypatch.setattr(Chosen, "read_only", False)  # whatever is chosen here is taken back
    monkeypatch.setattr(sys, "argv", ["recollect", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


def test_who_has_hooks_is_read_by_the_long_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the quick way was taken")

    hooks = tmp_path / "hooks.toml"
    hooks.write_text("")
    monkeypatch.setenv("RECOLLECT_HOOKS", str(hooks))
    monkeypatch.setattr(asking, "ask", never)
    monkeypatch.setattr(
        sys, "argv", ["recollect", "recall", "tea", "--db", str(tmp_path / "no.db")]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "no.db" in capsys.readouterr().err
