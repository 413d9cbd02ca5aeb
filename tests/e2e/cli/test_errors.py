"""What a person and a program get when something is wrong: words and a way out, no traceback."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recollect.paks import RecallStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]

COMMANDS = [
    ("list",),
    ("show", "team-backup-drill"),
    ("search", "tea"),
    ("search", ""),
    ("check",),
    ("repair",),
]
commands = pytest.mark.parametrize("command", COMMANDS, ids=" ".join)


def missing(folder: Path) -> Path:
    return folder / "nowhere.db"


def directory(folder: Path) -> Path:
    return folder


def prose(folder: Path) -> Path:
    path = folder / "prose.db"
    path.write_text("This is a letter, and no database at all.\n" * 40)
    return path


def newer(folder: Path) -> Path:
    path = folder / "newer.db"
    with RecallStore.open(path) as store:
        store.conn.execute("UPDATE schema_version SET version = 99")
    return path


def stranger(folder: Path) -> Path:
    path = folder / "stranger.db"
    conn = sqlite3.connect(path)
    conn.execute("CREATE TABLE schema_version (id, version)")
    conn.execute("INSERT INTO schema_version VALUES (1, 3)")
    conn.commit()
    conn.close()
    return path


BAD_FILES = [
    (missing, "store_unavailable"),
    (directory, "store_unavailable"),
    (prose, "store_damaged"),
    (newer, "store_too_new"),
    (stranger, "store_not_a_catalogue"),
]


@commands
@pytest.mark.parametrize(("make", "code"), BAD_FILES, ids=[make.__name__ for make, _ in BAD_FILES])
def test_a_bad_file_is_a_clear_error(
    run: Run,
    tmp_path: Path,
    command: tuple[str, ...],
    make: Callable[[Path], Path],
    code: str,
) -> None:
    path = make(tmp_path)
    for_program = run("paks", *command, "--db", path, "--json")
    assert for_program.returncode == 1
    assert for_program.stderr == ""
    error = json.loads(for_program.stdout)["error"]
    assert error.keys() == {"code", "message", "hint"}
    assert error["code"] == code
    assert str(path) in error["message"]
    assert error["hint"]
    for_person = run("paks", *command, "--db", path)
    assert for_person.returncode == 1
    assert for_person.stdout == ""
    assert for_person.stderr == f"Error: {error['message']}\nHint:  {error['hint']}\n"


@commands
def test_a_missing_database_is_not_made(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    run("paks", *command, "--db", tmp_path / "nowhere.db")
    assert list(tmp_path.iterdir()) == []


ENGINE_COMMANDS = [
    ("recall", "tea"),
    ("frame", "self"),
    ("get", "one"),
    ("forget", "one"),
    ("link", "one", "other"),
    ("dispute", "one", "other"),
    ("resolve", "one", "other"),
    ("frames", "list"),
    ("frames", "show", "self"),
    ("frames", "register", "mine", "--extends", "self"),
    ("frames", "update", "mine"),
    ("frames", "delete", "mine"),
    ("stats",),
    ("check",),
    ("reindex",),
    ("reembed", "none"),
]


@pytest.mark.parametrize("command", ENGINE_COMMANDS, ids=" ".join)
def test_only_remember_starts_a_new_memory(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    path = tmp_path / "nowhere.db"
    result = run(*command, "--db", path, "--json")
    assert result.returncode == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "store_unavailable"
    assert str(path) in error["message"]
    assert "recollect remember" in error["hint"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [("recall", "tea"), ("remember", "tea")], ids=" ".join)
@pytest.mark.parametrize(
    ("make", "code"),
    [(directory, "store_unavailable"), (prose, "store_damaged"), (newer, "store_too_new")],
    ids=["directory", "prose", "newer"],
)
def test_a_bad_file_is_a_clear_error_to_the_engine_too(
    run: Run,
    tmp_path: Path,
    command: tuple[str, ...],
    make: Callable[[Path], Path],
    code: str,
) -> None:
    path = make(tmp_path)
    result = run(*command, "--db", path, "--json")
    assert result.returncode == 1, result.stderr
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert str(path) in error["message"]
    assert error["hint"]


def test_without_a_path_the_error_names_the_default_one(run: Run, home: Path) -> None:
    result = run("paks", "list")
    assert result.returncode == 1
    assert str(home / ".recollect/companion/recall.db") in result.stderr
    assert "--db" in result.stderr


def test_a_newer_database_is_left_as_it_is(run: Run, tmp_path: Path) -> None:
    path = newer(tmp_path)
    before = path.read_bytes()
    for command in COMMANDS:
        assert run("paks", *command, "--db", path).returncode == 1
    assert path.read_bytes() == before


def test_an_unknown_pak_is_an_error(run: Run, shop: Path) -> None:
    result = run("paks", "show", "no-such-pak", "--db", shop, "--json")
    assert result.returncode == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "unknown_pak"
    assert "no-such-pak" in error["message"]


def test_a_cursor_of_another_listing_is_an_error(run: Run, shop: Path) -> None:
    page = json.loads(run("paks", "list", "--db", shop, "--json").stdout)
    for cursor in (page["next_cursor"], "nonsense"):
        result = run("paks", "list", "--db", shop, "--project", "team", "--cursor", cursor)
        assert result.returncode == 1
        assert result.stderr.startswith("Error: This ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("paks", "lsit"),
        ("paks", "list", "--limit", "many"),
        ("paks", "list", "--colour", "red"),
        ("paks", "show"),
        ("paks", "search"),
        ("pask",),
        ("frame",),
        ("link", "one"),
        ("remember", "tea", "--jsonl", "lines.jsonl"),
        ("reembed",),
    ],
    ids=" ".join,
)
def test_bad_usage_exits_with_two_and_says_how(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Usage: recollect" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (("remember", ""), "", "content is blank"),
        (("remember",), "", "content is blank"),
        (("remember", "-"), "nul \0 here", "NUL"),
        (("remember", "tea", "--confidence", "7"), "", "confidence"),
        (("remember", "--jsonl", "no-such-file"), "", "no-such-file cannot be read"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_remembered_is_said_and_nothing_is_kept(
    run: Run, tmp_path: Path, words: tuple[str, ...], stdin: str, said: str
) -> None:
    result = run(*words, "--db", tmp_path / "new.db", stdin=stdin)
    assert result.returncode == 1
    assert said in result.stderr
    assert "Hint:" in result.stderr


def test_a_mistyped_command_gets_a_suggestion(run: Run) -> None:
    assert "'list'" in run("paks", "lsit").stderr


def test_a_text_that_is_too_long_is_refused_by_field_and_limit(run: Run) -> None:
    told = run("remember", "a text", "--project", "x" * 1_001)
    assert told.returncode != 0
    assert "project has 1,001 characters; the most is 1,000." in told.stderr
    assert "shorten the project" in told.stderr
