"""The real console script in child processes, and a memory for it to look into."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

SCRIPT = Path(sys.executable).with_name("recollect")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory with nothing in it."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def run(home: Path) -> Run:
    """Run `recollect` with a clean environment and give back what it said."""

    def run_script(
        *arguments: str | Path, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SCRIPT, *map(str, arguments)],
            input=stdin,
            env={"PATH": os.environ["PATH"], "HOME": str(home), **environment},
            cwd=home,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    return run_script


@pytest.fixture
def copy(shop: Path, tmp_path: Path) -> Path:
    """A copy of the demo's database that a test may change."""
    path = tmp_path / "copy.db"
    path.write_bytes(shop.read_bytes())
    return path


@pytest.fixture(scope="session")
def shop(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database that the demo leaves behind; tests only read it."""
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    made = run("demo", "--keep", path)
    assert made.returncode == 0, made.stderr
    return path
