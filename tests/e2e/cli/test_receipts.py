"""Receipts on the command line: kept when asked for, listed, and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect import Recollect
from recollect.model import Principal

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "agent.db"
    with Recollect.open(path, embedder="none") as memory:
        memory.remember("The kiln is booked until May.", pak_id="kiln")
        memory.remember("Never promise a kiln date.", pak_id="order", category="instruction")
    return path


def told(result: CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)


def test_an_answer_is_kept_when_asked_for_and_shown_by_its_id(run: Run, db: Path) -> None:
    silent = told(run("recall", "kiln", "--db", db, "--json"))
    assert run("why", silent["recall_id"], "--db", db).returncode == 1
    assert "There are no receipts" in run("receipts", "--db", db).stdout
    shown = run("recall", "kiln", "booked", "--receipt", "--db", db).stdout
    name = shown.splitlines()[-1].rpartition(" ")[2]
    receipt = told(run("why", name, "--db", db, "--json"))
    assert (receipt["recall_id"], receipt["request"]["query"]) == (name, "kiln booked")
    assert receipt["same_today"] is True
    people = run("why", name, "--db", db).stdout
    for text in ("kiln booked", name, "local of local", "kept until", "as it was", "[instruction]"):
        assert text in people
    assert "the same text is given today" in people


def test_what_became_of_an_answer_is_said(run: Run, db: Path) -> None:
    framed = run("frame", "attention", "kiln", "--receipt", "--db", db)
    name = framed.stderr.splitlines()[-1].rpartition(" ")[2]
    with Recollect.open(db, embedder="none") as memory:
        memory.update("kiln", content="The kiln is booked until June.")
    assert "changed since" in run("why", name, "--db", db).stdout
    assert "another text is given today" in run("why", name, "--db", db).stdout
    gone = run("forget", "kiln", "--db", db)
    assert gone.returncode == 0
    left = run("why", name, "--db", db).stdout
    assert "no longer kept" in left
    assert "Missing: 1 memory, forgotten since or not yours to read." in left


def test_the_environment_keeps_all_of_them_for_so_many_days(run: Run, db: Path) -> None:
    wanted = {"RECOLLECT_RECEIPTS": "1", "RECOLLECT_RECEIPT_DAYS": "2"}
    for word in ("kiln", "booked"):
        assert run("recall", word, "--db", db, **wanted).returncode == 0
    first = told(run("receipts", "--limit", "1", "--db", db, "--json"))
    page = told(run("receipts", "--cursor", first["next_cursor"], "--db", db, "--json"))
    assert page["next_cursor"] is None
    asked = [one["request"]["query"] for one in (*first["items"], *page["items"])]
    assert sorted(asked) == ["booked", "kiln"]
    (one,) = page["items"]
    assert int(one["until"][8:10]) != int(one["at"][8:10])
    more = run("receipts", "--limit", "1", "--db", db).stdout
    assert f"More: recollect receipts --limit 1 --db {db} --cursor" in more.replace("\n", "")
    refused = run("recall", "kiln", "--db", db, RECOLLECT_RECEIPT_DAYS="many")
    assert (refused.returncode, "RECOLLECT_RECEIPT_DAYS" in refused.stderr) == (1, True)


def test_a_store_that_nothing_is_written_to_says_that_there_is_no_receipt(
    run: Run, db: Path
) -> None:
    shown = run("--read-only", "recall", "kiln", "--receipt", "--db", db)
    assert shown.returncode == 0
    assert "Degraded: receipt. No receipt of this answer could be kept." in shown.stdout
    assert "why recall_" not in shown.stdout


def test_an_admin_names_whose_receipt_it_wants(run: Run, db: Path) -> None:
    with Recollect.open(db, embedder="none", receipts=True) as memory:
        ann = memory.as_principal(Principal("local", "ann"))
        name = ann.recall("kiln").recall_id
    assert told(run("why", name, "--principal", "ann", "--db", db, "--json"))["principal"] == "ann"
    assert run("why", name, "--principal", "bob", "--db", db).returncode == 1
