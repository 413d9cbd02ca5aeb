"""Requests with a name, and databases that are to be read only, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]

KILN, GLAZE = "kiln", "glaze"


def test_a_command_that_is_sent_again_is_done_once(run: Run, copy: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"kind": "memory", "pak_id": "taken-in", "content": "a note taken in"}\n')
    many = tmp_path / "many.jsonl"
    many.write_text('"one of many"\n"another of many"\n')
    requests = [
        ("remember", "The kiln fires at noon.", "--pak-id", KILN),
        ("remember", "Glaze dries overnight.", "--pak-id", GLAZE),
        ("remember", "--jsonl", str(many)),
        ("link", KILN, GLAZE),
        ("dispute", KILN, GLAZE),
        ("resolve", KILN, GLAZE),
        ("archive", KILN),
        ("unarchive", KILN),
        ("import", str(file)),
        ("forget", KILN),
    ]
    for number, request in enumerate(requests):
        sent = (*request, "--request-id", f"r{number}", "--json", "--db", copy)
        first = run(*sent)
        assert first.returncode == 0, first.stdout
        revision = json.loads(run("stats", "--json", "--db", copy).stdout)["revision"]
        if request[0] in ("archive", "unarchive"):
            # The answer of the command also tells what became of it since, which is nothing.
            assert json.loads(first.stdout)["changed"] is True
        again = run(*sent)
        assert (again.returncode, again.stdout) == (0, first.stdout)
        assert json.loads(run("stats", "--json", "--db", copy).stdout)["revision"] == revision
    refused = run("archive", GLAZE, "--request-id", "r0", "--json", "--db", copy)
    assert json.loads(refused.stdout)["error"]["code"] == "request_id_reused"


def test_a_database_that_is_to_be_read_only_is_read_and_not_written(run: Run, copy: Path) -> None:
    before = copy.read_bytes()
    answer = run("--read-only", "recall", "payment", "--db", copy)
    assert (answer.returncode, answer.stdout) == (0, run("recall", "payment", "--db", copy).stdout)
    for command in (("remember", "more"), ("reindex",), ("paks", "repair"), ("forget", "nobody")):
        for said in (
            run("--read-only", *command, "--db", copy, "--json"),
            run(*command, "--db", copy, "--json", RECOLLECT_READ_ONLY="1"),
        ):
            if command[0] != "forget":
                assert json.loads(said.stdout)["error"]["code"] == "store_read_only"
            assert said.returncode == 1
    assert copy.read_bytes() == before
    assert run("--read-only", "paks", "list", "--db", copy).returncode == 0
