"""The first minutes: version, help, the demo, and a start that is quick."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.house.snippets import commands
from typer.main import get_command

import recollect
from recollect import Recollect
from recollect.edge.cli.app import app
from recollect.paks import RecallStore

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

SCRIPT = Path(sys.executable).with_name("recollect")
# What speaks a protocol has no other answer; what sets up a client opens no memory.
LACKS = {
    **dict.fromkeys(("recollect mcp", "recollect hook"), "--json"),
    **dict.fromkeys(("recollect uninstall", "recollect doctor"), "--db"),
    **dict.fromkeys(("recollect pause", "recollect resume"), "--db"),
}


def test_the_version_is_the_one_that_is_installed(run: Run) -> None:
    assert run("--version").stdout == f"recollect {recollect.__version__}\n"
    assert version("recollect") == recollect.__version__


@pytest.mark.parametrize("command", list(commands(get_command(app), "recollect")))
def test_help_explains_and_gives_an_example(run: Run, command: str) -> None:
    result = run(*command.split()[1:], "-h")
    assert result.returncode == 0
    assert f"Example: {command}" in result.stdout
    if command != "recollect demo" and not command.startswith("recollect eval"):
        # Hooks are looked at without a memory.
        where = "--hooks" if command.startswith("recollect hooks") else "--db"
        assert {where, "--json"} - {LACKS.get(command)} <= set(
            re.findall(r"--[\w-]+", result.stdout)
        )


def test_help_has_two_spellings(run: Run) -> None:
    assert run("recall", "--help").stdout == run("recall", "-h").stdout


def test_the_bare_command_shows_the_way(run: Run) -> None:
    result = run()
    assert "recollect demo" in result.stdout + result.stderr


def test_the_demo_tells_its_story_and_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    result = run("demo", TMPDIR=str(tmp_path))
    assert result.returncode == 0, result.stderr
    for text in (
        "30 memories, remembered in ",
        "payments-double-charge",
        "close in meaning",
        "What something newer took the place of is no answer any more.",
        "storefront-server-pages",
        "similarity",
        "## Identity",
        "## Relevant Knowledge",
        "## Active Goals",
        "of 800 tokens",
        "demo --keep shop.db",
    ):
        assert text in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_every_command_that_the_demo_shows_runs(run: Run, copy: Path) -> None:
    told = run("demo").stdout
    shown = [shlex.split(line)[2:] for line in told.splitlines() if line.startswith("$ ")]
    assert len(shown) >= 10
    for words in shown:
        if "--keep" not in words:
            given = words[: words.index("--db")] if "--db" in words else words
            assert run(*given, RECOLLECT_DB=str(copy)).returncode == 0, words


def test_the_demo_names_the_command_as_the_reader_can_type_it(run: Run) -> None:
    inside = f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"
    outside = os.pathsep.join(
        part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != SCRIPT.parent
    )
    assert "$ recollect --help" in run("demo", PATH=inside).stdout
    assert f"$ {SCRIPT} --help" in run("demo", PATH=outside).stdout


def test_a_kept_demo_is_a_real_memory_and_a_real_catalogue(shop: Path) -> None:
    with RecallStore.open(shop, read_only=True) as store:
        assert store.count_paks() == 30
        assert store.check().ok
    with Recollect.open(shop) as memory:
        assert memory.check() == ()
        assert memory.stats()["memories"] == 30
        assert [(one.first, one.second) for one in memory.disputes()] == [
            ("storefront-server-pages", "storefront-spa-trial")
        ]


def test_two_demos_tell_the_same_story(run: Run) -> None:
    one, other = (re.sub(r"[\d.]+ ms|/\S+", "", run("demo").stdout) for _ in range(2))
    assert one == other


def test_the_demo_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    path.write_text("mine")
    result = run("demo", "--keep", path)
    assert result.returncode == 1
    assert "another path" in result.stderr
    assert path.read_text() == "mine"


@pytest.mark.parametrize("words", [("paks", "list"), ("recall", "-h"), ("frames", "list", "-h")])
def test_a_command_without_the_engine_loads_no_numeric_library(
    shop: Path, words: tuple[str, ...]
) -> None:
    program = (
        "import atexit, sys\n"
        "heavy = ('numpy', 'httpx', 'tokenizers', 'Stemmer', 'pydantic', 'recollect.engine')\n"
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules],"
        " file=sys.stderr))\n"
        "from recollect.edge.cli import main\n"
        "main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={"PATH": os.environ["PATH"], "RECOLLECT_DB": str(shop)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == "[]\n"
