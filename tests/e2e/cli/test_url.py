"""`recollect --url`: commands ask a server and say what they say of a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tests.served import served

from recollect import Recollect
from recollect.edge import wire
from recollect.policy import PERMISSIONS, Principal

Run = Callable[..., CompletedProcess[str]]
NOW = "2026-09-21T14:13:20Z"
READS = (
    ["recall", "card payment", "--top-k", "3", "--now", NOW],
    ["recall", "--now", NOW],
    ["list", "--limit", "3"],
    ["get", "payments-double-charge"],
    ["get", "nobody-has-it"],
    ["history", "payments-double-charge"],
    ["select", "card payment", "--now", NOW],
    ["disputes"],
    ["frames", "list"],
    ["frames", "show", "self"],
    ["paks", "list"],
    ["paks", "show", "payments-double-charge"],
    ["paks", "search", "card"],
    ["gardens", "list"],
    ["quarantine", "list"],
    ["trust", "list"],
    ["keys", "list"],
    ["audit"],
    ["export"],
    ["recall", "tea", "--garden", "nowhere"],
    ["frames", "show", "nobody"],
)
OF_THE_FILE = (
    ["check"],
    ["repair"],
    ["reindex"],
    ["backup", "b.db"],
    ["restore", "b.db"],
    ["paks", "check"],
    ["export", "--all"],
)


@pytest.fixture
def both(copy: Path) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """A file, and a server that has it open, asked by the same key."""
    memory = Recollect.open(copy)
    key = memory.keys.create(Principal("local", "local", (), PERMISSIONS)).secret
    with served(memory) as url:
        yield (
            {"RECOLLECT_DB": str(copy), "RECOLLECT_KEY": key},
            {"RECOLLECT_URL": url, "RECOLLECT_KEY": key},
        )


def told(done: CompletedProcess[str], place: str) -> tuple[int, str]:
    """Return what a command said, but for when it said it and where it looked."""
    said = done.stdout.replace(place, "PLACE")
    try:
        answer = wire.after_the_moment(json.loads(said))
    except ValueError:
        return done.returncode, said
    return done.returncode, wire.encode(answer).decode()


def test_what_is_read_from_a_server_is_said_as_of_a_file(
    run: Run, both: tuple[dict[str, str], dict[str, str]]
) -> None:
    file, server = both
    for command in READS:
        for form in ([], ["--json"]) if command != ["export"] else ([],):
            here = run(*command, *form, **file)
            there = run(*command, *form, **server)
            assert told(there, server["RECOLLECT_URL"]) == told(here, file["RECOLLECT_DB"]), command
            assert there.stderr.replace(server["RECOLLECT_URL"], "PLACE") == here.stderr.replace(
                file["RECOLLECT_DB"], "PLACE"
            )


def test_what_is_written_through_a_server_is_in_the_file(
    run: Run, both: tuple[dict[str, str], dict[str, str]]
) -> None:
    file, server = both
    made = run("remember", "The kiln is booked.", "--pak-id", "kiln", "--json", **server)
    assert json.loads(made.stdout)["pak_id"] == "kiln", made.stderr
    assert run("archive", "kiln", **server).returncode == 0
    shown = json.loads(run("get", "kiln", "--json", **file).stdout)
    assert shown["memory"]["status"] == "archived"
    assert run("--url", server["RECOLLECT_URL"], "stats").returncode == 1
    two = run("stats", "--db", file["RECOLLECT_DB"], **server)
    assert (two.returncode, "two memories" in two.stderr) == (1, True)


def test_what_needs_the_file_says_so(run: Run, both: tuple[dict[str, str], dict[str, str]]) -> None:
    _, server = both
    for command in OF_THE_FILE:
        done = run(*command, **server)
        assert done.returncode == 1, command
        assert "Hint:" in done.stderr, command
        assert "file" in done.stderr, command
