"""Colour for people at a terminal, none in a pipe, and no obedience to what is stored."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recollect import Recollect
from recollect.paks import RecallStore

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

SCRIPT = Path(sys.executable).with_name("recollect")
ESCAPE = "\x1b["
RED_GROUND = "41m"


def at_a_terminal(*arguments: str | Path, **environment: str) -> str:
    """Run `recollect` on a pseudo-terminal of 100 columns and give back what it wrote there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [SCRIPT, *map(str, arguments)],
        env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLUMNS": "100", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as child:
        os.close(theirs)
        written = b""
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # Linux says so when the other side is closed
                break
            if not chunk:
                break
            written += chunk
        os.close(ours)
        child.wait(60)
    return written.decode()


def test_a_terminal_gets_colour_and_the_block_is_the_loudest(shop: Path) -> None:
    shown = at_a_terminal("paks", "show", "payments-card-rules", "--db", shop)
    assert ESCAPE in shown
    assert RED_GROUND in shown.split("BLOCK")[0][-20:]


def test_no_color_is_honoured_at_a_terminal(shop: Path) -> None:
    shown = at_a_terminal("paks", "show", "payments-card-rules", "--db", shop, NO_COLOR="1")
    assert RED_GROUND not in shown
    assert "BLOCK" in shown


@pytest.mark.parametrize(
    "command",
    [
        ("demo",),
        ("paks", "list"),
        ("paks", "search", "card"),
        ("paks", "show", "payments-card-rules"),
        ("paks", "check"),
        ("recall", "card payment"),
        ("recall", "card payment", "--signals"),
        ("get", "payments-card-rules"),
        ("frames", "list"),
        ("--help",),
        ("paks", "list", "--help"),
        ("paks", "show", "nobody"),
    ],
    ids=" ".join,
)
def test_a_pipe_gets_no_escape_codes(run: Run, shop: Path, command: tuple[str, ...]) -> None:
    result = run(*command, RECOLLECT_DB=str(shop), TERM="xterm-256color")
    assert result.stdout + result.stderr
    assert "\x1b" not in result.stdout + result.stderr


def test_remember_without_a_text_does_not_wait_at_a_terminal(tmp_path: Path) -> None:
    shown = at_a_terminal("remember", "--db", tmp_path / "new.db")
    assert "There is no text to remember." in shown
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_does_not_obey_the_text_of_a_frame(tmp_path: Path) -> None:
    path = tmp_path / "hostile.db"
    with Recollect.open(path) as memory:
        memory.remember("\x1b[2J cleared \x07", tags=["self/goal"])
    shown = at_a_terminal("frame", "task", "--db", path)
    assert "cleared" in shown
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown


def test_a_bulk_write_draws_a_bar_for_a_person_only(run: Run, tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(f'"Order {number} was paid."\n' for number in range(30)))
    shown = at_a_terminal("remember", "--jsonl", lines, "--db", tmp_path / "one.db")
    assert "Remembering" in shown
    assert "30/30" in shown
    piped = run("remember", "--jsonl", lines, "--db", tmp_path / "other.db")
    began = f"Began a new memory at {tmp_path / 'other.db'}.\n"
    assert (piped.stdout, piped.stderr) == (f"{began}Remembered 30, 30 of them new.\n", "")


@pytest.mark.parametrize("columns", ["80", "120"])
def test_tables_keep_to_the_width(run: Run, shop: Path, columns: str) -> None:
    for command in (
        ("paks", "list"),
        ("paks", "search", "card"),
        ("paks", "show", "payments-double-charge"),
        ("recall", "card payment"),
        ("recall", "card payment", "--signals"),
        ("get", "payments-card-rules"),
        ("frames", "list"),
    ):
        shown = run(*command, "--db", shop, COLUMNS=columns).stdout
        wide = [line for line in shown.splitlines() if len(line) > int(columns)]
        assert [line for line in wide if not line.startswith("More: ")] == []


def test_a_hash_is_shown_whole_in_80_columns(run: Run, shop: Path) -> None:
    with RecallStore.open(shop, read_only=True) as store:
        pak = store.get_pak("payments-double-charge")
    assert pak is not None
    shown = run("paks", "show", pak.pak_id, "--db", shop, COLUMNS="80").stdout
    assert pak.content_hash in shown


def test_stored_text_is_shown_and_never_obeyed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "hostile.db"
    with RecallStore.open(path) as store:
        store.upsert_pak(
            pak_id="hostile",
            pak_type="[red]fact[/red]",
            source_type="note",
            authority="stranger",
            title="\x1b[2J cleared [bold]\x07 :tea: \u202ereversed",
            summary="[/nothing] \x9b31m",
            content_hash="0",
        )
    for command in (("list",), ("show", "hostile"), ("search", "cleared")):
        result = run("paks", *command, "--db", path)
        assert result.returncode == 0, result.stderr
        assert not set(result.stdout) & {"\x1b", "\x07", "\x9b", "\u202e"}
        assert "[red]fact[/red]" in result.stdout
        assert "[bold]" in result.stdout
        assert ":tea:" in result.stdout
    assert "[/nothing]" in run("paks", "show", "hostile", "--db", path).stdout


def test_a_terminal_that_cannot_spell_a_title_is_no_error(run: Run, shop: Path) -> None:
    for command in (("demo",), ("paks", "show", "storefront-plain-words", "--db", shop)):
        result = run(*command, PYTHONIOENCODING="ascii")
        assert result.returncode == 0, result.stderr


def test_a_reader_that_leaves_early_is_no_traceback(shop: Path) -> None:
    with subprocess.Popen(
        [SCRIPT, "paks", "list", "--db", shop, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert b"Traceback" not in child.stderr.read()


def test_an_evaluation_shows_a_bar_to_people_and_its_table_stays(tmp_path: Path) -> None:
    notes = Path(__file__).parents[2] / "data" / "notes"
    files = [
        f"--corpus={notes / 'corpus.jsonl'}",
        f"--queries={notes / 'queries.jsonl'}",
        f"--qrels={notes / 'qrels.tsv'}",
    ]
    shown = at_a_terminal("eval", "jsonl", *files, TMPDIR=str(tmp_path))
    assert "Remembering and asking" in shown
    assert "━" in shown
    assert "paraphrase" in shown.split("Remembering and asking")[-1]
