"""What commands do with what people type of a change: facts, ends, successors, scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect import Recollect

if TYPE_CHECKING:
    from tests.e2e.cli.conftest import Run


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


def told(run: Run, *words: str | Path) -> dict[str, Any]:
    said = run(*words, "--json")
    assert said.returncode == 0, said.stdout + said.stderr
    return json.loads(said.stdout)


def test_remember_takes_what_is_known_of_a_fact(run: Run, db: Path) -> None:
    fact = ("--entity", "Ann", "--relation", "lives in")
    told(
        run,
        "remember",
        "Ann lives in Paris.",
        *fact,
        "--value",
        "Paris",
        "--pak-id",
        "p",
        "--db",
        db,
    )
    extra = ("--metadata", '{"stars": 4}', "--ttl", "2w", "--source", "mail")
    from_when = ("--valid-from", "2026-01-01")
    done = told(
        run, "remember", "Ann lives in Rome.", *fact, "--value", "Rome", "--on-conflict",
        "supersede", *extra, *from_when, "--pak-id", "r", "--db", db,
    )  # fmt: skip
    assert done["superseded"] == ["p"]
    with Recollect.open(db) as memory:
        found, old = memory.get("r"), memory.get("p")
    assert (found.metadata, found.ttl, found.source) == ({"stars": 4}, 14 * 86_400.0, "mail")
    assert found.valid_from.startswith("2026-01-01")
    assert old.superseded_by == "r"


def test_remember_supersedes_by_how_an_id_begins(run: Run, db: Path) -> None:
    first = told(run, "remember", "The gate opens at six.", "--db", db)["pak_id"]
    said = run("remember", "The gate opens at seven.", "--supersedes", first[:10], "--db", db)
    assert f"Takes the place of: {first}" in said.stdout
    answer = told(run, "recall", "when does the gate open?", "--db", db)
    assert [one["fact"]["content"] for one in answer["results"]] == ["The gate opens at seven."]


def test_supersede_gives_a_place_and_takes_it_back(run: Run, db: Path) -> None:
    for name in ("old", "new"):
        told(run, "remember", f"The {name} gate.", "--pak-id", name, "--db", db)
    assert "new takes the place of old" in run("supersede", "old", "new", "--db", db).stdout
    with Recollect.open(db) as memory:
        assert memory.get("old").superseded_by == "new"
    assert "old has its place back" in run("supersede", "old", "--undo", "--db", db).stdout
    with Recollect.open(db) as memory:
        assert memory.get("old").superseded_by is None
    assert run("supersede", "old", "--db", db).returncode == 2


@pytest.mark.parametrize("wrong", ["soon", "3", "d", "3y", "-1h"])
def test_a_ttl_that_is_no_length_of_time_is_refused(run: Run, db: Path, wrong: str) -> None:
    said = run("remember", "tea", f"--ttl={wrong}", "--db", db)
    assert said.returncode == 1
    assert "ttl" in said.stderr
    assert "Traceback" not in said.stderr


def test_metadata_that_is_no_json_gets_an_example(run: Run, db: Path) -> None:
    said = run("remember", "tea", "--metadata", "{stars: 4}", "--db", db)
    assert said.returncode == 1
    assert "--metadata is no JSON" in said.stderr
    assert '{"stars": 4' in said.stderr


def test_recall_and_frame_leave_out_what_scores_less(run: Run, db: Path) -> None:
    told(run, "remember", "The kiln is booked until May.", "--db", db)
    asked = ("when is the kiln free?", "--db", db)
    assert told(run, "recall", *asked)["results"]
    assert told(run, "recall", *asked, "--min-score", "0.99")["results"] == []
    assert told(run, "frame", "attention", *asked, "--min-score", "0.99")["blocks"] == []


def test_forget_takes_earlier_versions_along(run: Run, db: Path) -> None:
    told(
        run, "remember", "The secret of Acme.", "--project", "acme", "--pak-id", "note", "--db", db
    )
    told(run, "update", "note", "The lunch of Globex.", "--project", "globex", "--db", db)
    said = run("forget", "--project", "acme", "--db", db)
    assert said.stdout.splitlines() == ["Forgot 1 earlier version of memories that stay."]
    assert len(told(run, "history", "note", "--db", db)["versions"]) == 1
    searched = run("forget", "--verify", "--db", db, stdin="secret\n")
    assert searched.returncode == 0, searched.stdout


def test_tidy_says_what_would_go_and_then_erases_it(run: Run, db: Path) -> None:
    told(run, "remember", "Until yesterday.", "--pak-id", "old", "--ttl", "1h", "--db", db)
    with Recollect.open(db) as memory:
        memory.update("old", ttl=None, valid_until="2026-01-01T00:00:00Z")
    assert told(run, "tidy", "--dry-run", "--db", db)["pak_ids"] == ["old"]
    assert told(run, "tidy", "--db", db)["pak_ids"] == ["old"]
    assert run("tidy", "--db", db).stdout == "Nothing has ended.\n"


def test_recall_says_since_when_a_fact_holds(run: Run, db: Path) -> None:
    told(run, "remember", "Ann lives in Rome.", "--valid-from", "2026-05-01", "--db", db)
    assert "since 2026-05-01" in run("recall", "where does Ann live?", "--db", db).stdout


def test_forget_and_export_take_a_filter(run: Run, db: Path) -> None:
    for stars in (1, 4):
        told(run, "remember", f"{stars} stars.", "--metadata", f'{{"stars": {stars}}}', "--db", db)
    few = ("--filter", '{"metadata.stars": {"lt": 3}}')
    exported = run("export", *few, "--db", db).stdout.splitlines()
    assert [line for line in exported if "1 stars." in line]
    assert not [line for line in exported if "4 stars." in line]
    assert len(told(run, "forget", *few, "--db", db)["pak_ids"]) == 1
    assert [one["content"] for one in told(run, "list", "--db", db)["items"]] == ["4 stars."]
    assert run("forget", "--filter", "{stars}", "--db", db).returncode == 1
