"""The first minutes: version, help, the demo, and a start that is quick."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import recollect
from recollect.paks import RecallStore

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

SCRIPT = Path(sys.executable).with_name("recollect")


def test_the_version_is_the_one_that_is_installed(run: Run) -> None:
    assert run("--version").stdout == f"recollect {recollect.__version__}\n"
    assert version("recollect") == recollect.__version__


@pytest.mark.parametrize("command", ["list", "show", "search", "check", "repair"])
def test_help_explains_and_gives_an_example(run: Run, command: str) -> None:
    for flag in ("--help", "-h"):
        result = run("paks", command, flag)
        assert result.returncode == 0
        assert f"Example: recollect paks {command}" in result.stdout
        assert "--db" in result.stdout
        assert "--json" in result.stdout


def test_the_bare_command_shows_the_way(run: Run) -> None:
    result = run()
    assert "recollect demo" in result.stdout + result.stderr


def test_the_demo_tells_its_story_and_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    result = run("demo", TMPDIR=str(tmp_path))
    assert result.returncode == 0, result.stderr
    for text in (
        "30 memories",
        "payments-double-charge",
        "recent_failure_link",
        "raw_logs_deferred",
        "BLOCK",
        "no problems",
        "demo --keep shop.db",
    ):
        assert text in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_every_command_that_the_demo_shows_runs(run: Run, shop: Path) -> None:
    told = run("demo").stdout
    shown = [line.split()[2:] for line in told.splitlines() if line.startswith("$ ")]
    assert len(shown) >= 8
    for words in shown:
        if "--keep" not in words:
            given = " ".join(words).replace("--db shop.db", "").split()
            assert run(*given, RECOLLECT_DB=str(shop)).returncode == 0, words


def test_the_demo_names_the_command_as_the_reader_can_type_it(run: Run) -> None:
    inside = f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"
    outside = os.pathsep.join(
        part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != SCRIPT.parent
    )
    assert "$ recollect --help" in run("demo", PATH=inside).stdout
    assert f"$ {SCRIPT} --help" in run("demo", PATH=outside).stdout


def test_a_kept_demo_is_a_real_catalogue(shop: Path) -> None:
    with RecallStore.open(shop, read_only=True) as store:
        assert store.count_paks() == 30
        assert store.check().ok


def test_the_demo_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    path.write_text("mine")
    result = run("demo", "--keep", path)
    assert result.returncode == 1
    assert "another path" in result.stderr
    assert path.read_text() == "mine"


def test_a_command_on_paks_loads_no_numeric_library(shop: Path) -> None:
    program = (
        "import atexit, sys\n"
        "heavy = ('numpy', 'httpx', 'tokenizers', 'Stemmer')\n"
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules],"
        " 'rich.table' in sys.modules, file=sys.stderr))\n"
        "from recollect.edge.cli import main\n"
        "main()\n"
    )
    for extra, rich in (([], True), (["--json"], False)):
        result = subprocess.run(
            [sys.executable, "-c", program, "paks", "list", "--db", str(shop), *extra],
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stderr == f"[] {rich}\n"
