"""The command line in child processes, and a memory for it to look into."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.warm import WarmCommand

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory with nothing in it."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def run(home: Path) -> Iterator[Run]:
    """Run `recollect` with a clean environment and give back what it said."""
    command = WarmCommand()

    def run_command(
        *arguments: str | Path, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(home), **environment}
        return command.run([str(one) for one in arguments], stdin=stdin, env=env, cwd=home)

    yield run_command
    command.close()


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
