"""A store of any version before moves forward whole, and leaves a copy of what it was."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.engine.test_migration import STORES, copy_of, opened, version_of
from tests.house.snippets import ROOT

from recollect import Recollect
from recollect.model import canonical_json
from recollect.policy import PERMISSIONS, Principal
from recollect.stores.sqlite.migrations import ENGINE_VERSION

# Those that came after are of one release with this one.
VERSIONS = range(1, 5)
# The last commit before the tables of version 5, and the secret of the key in its store.
OLDER_RELEASE = "5dfc1c5"
# Fields of a memory that came since.
ADDED = ("valid_from", "superseded_by")
SECRET = "rk_628e410d23ea_IvTvsg_kMwIOOXKrtRXJdAnTMTSbDoZerpLfy3E8puY"
QUESTIONS = (
    None,
    "background tasks",
    "ship the release",
    "green tea",
    "bakery in the morning",
    "hot kiln",
)


def before(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-v{ENGINE_VERSION}")


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_copy_of_what_it_was_is_left_beside_it(version: int, tmp_path: Path) -> None:
    path = copy_of(version, tmp_path)
    known = dump(path)
    with opened(path) as memory:
        assert memory.check() == ()
    copy = before(path)
    assert version_of(path) == ENGINE_VERSION
    assert (version_of(copy), dump(copy)) == (version, known)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert {one.name for one in tmp_path.iterdir()} <= {path.name, copy.name}


def test_a_copy_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = copy_of(4, tmp_path)
    before(path).write_text("of another day")
    with opened(path):
        pass
    assert before(path).read_text() == "of another day"


def test_what_holds_nothing_needs_no_copy(tmp_path: Path) -> None:
    with opened(tmp_path / "new.db") as memory:
        memory.remember("a note")
    with opened(tmp_path / "new.db") as memory:
        memory.remember("another")
    assert list(tmp_path.glob("*.before-*")) == []


def test_a_store_of_version_4_gives_the_answers_that_it_gave(tmp_path: Path) -> None:
    expected = json.loads((STORES / "engine-4.answers.json").read_text())
    with opened(copy_of(4, tmp_path)) as memory:
        answers = [canonical_json(memory.recall(question)) for question in QUESTIONS]
        assert memory.stats()["embeds_titles"] is False
    for answer, before in zip(map(_as_it_was, answers), map(_as_it_was, expected), strict=True):
        now, then = (
            {one["fact"]["pak_id"]: one["fact"] for one in said["results"]}
            for said in (answer, before)
        )
        # How scores are made has changed since; what answers, and what is known of it, has not.
        assert next(iter(now)) == next(iter(then))
        assert [now[name] for name in now if name in then] == [
            then[name] for name in now if name in then
        ]
        assert len(now.keys() & then.keys()) >= min(2, len(then))


def _as_it_was(answer: str) -> dict[str, Any]:
    """Return an answer without what facts have had since."""
    said: dict[str, Any] = json.loads(answer)
    for result in said["results"]:
        for name in ADDED:
            assert result["fact"].pop(name, None) is None
    return said


def test_a_store_of_version_4_keeps_all_that_it_held(tmp_path: Path) -> None:
    path = copy_of(4, tmp_path)
    with opened(path) as memory:
        stats = memory.stats()
        assert (stats["memories"], stats["edges"], stats["frames"]) == (16, 22, 1)
        assert (stats["revision"], stats["active_hours"]) == (35, 3.0)
        (dispute,) = memory.disputes()
        assert ({dispute.first, dispute.second}, dispute.note) == (
            {"celery", "rabbit"},
            "which queue?",
        )
        (link,) = (one for one in memory.inspect("tea").links if one.pak_id == "coffee")
        assert link.weight == 0.75
        alike = {f"bakery-{number}" for number in range(1, 7)}
        assert alike <= {one.pak_id for one in memory.inspect("bakery-0").links}
        assert memory.frames.get("review").token_budget == 400
        assert [garden.slug for garden in memory.gardens.list()] == ["roses"]
        assert ("ann", "reader") in {
            (one.principal, one.role) for one in memory.gardens.members("roses")
        }
        assert memory.keys.principal_for(SECRET) == Principal("local", "ann", (), PERMISSIONS)
        assert memory.trust.of("a stranger") == 0.25
        assert len(memory.audit()) == 10
        shelf, tea = memory.get("shelf"), memory.get("tea")
        assert shelf is not None
        assert tea is not None
        assert (shelf.status, tea.title) == ("archived", "Tea")
        assert [memory.get(gone) for gone in ("gone", "oven")] == [None, None]
        new = memory.remember("At noon the bakery opens once more.", pak_id="new")
        assert new.created
        assert memory.forget("bakery-3").pak_ids == ("bakery-3",)
        assert memory.check() == ()


def test_what_is_forgotten_is_not_left_in_the_copy(tmp_path: Path) -> None:
    path = copy_of(4, tmp_path)
    with opened(path) as memory:
        assert before(path).exists()
        assert memory.forget("tea").wiped
        assert not before(path).exists()


def test_where_no_copy_fits_nothing_is_migrated(tmp_path: Path) -> None:
    path = copy_of(4, tmp_path)
    known = dump(path)
    # No file of this process may become larger than 64 KiB.
    program = (
        "import resource, sys; from recollect import Recollect; from recollect.errors import *\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "try: Recollect.open(sys.argv[1])\n"
        "except (StoreUnavailable, StoreFull) as error: print(error, '|', error.hint)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    assert before(path).name in ran.stdout
    assert "Nothing was changed" in ran.stdout
    assert (version_of(path), dump(path)) == (4, known)
    assert list(tmp_path.glob("*.before-*")) == []
    with opened(path) as memory:
        assert memory.check() == ()


def test_a_migrated_store_says_its_version_where_older_releases_look(tmp_path: Path) -> None:
    path = copy_of(1, tmp_path)
    with opened(path):
        pass
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("SELECT version FROM engine_state").fetchone()
        (catalogue,) = connection.execute("SELECT version FROM schema_version").fetchone()
    assert (version, catalogue) == (ENGINE_VERSION, 3)


def test_an_older_release_refuses_a_migrated_store_and_changes_nothing(tmp_path: Path) -> None:
    sources = subprocess.run(
        ["git", "archive", OLDER_RELEASE, "src"], cwd=ROOT, capture_output=True, check=False
    )
    if sources.returncode:
        pytest.skip("the older release is not in this clone")
    with tarfile.open(fileobj=io.BytesIO(sources.stdout)) as tar:
        tar.extractall(tmp_path / "older", filter="data")
    path = copy_of(4, tmp_path)
    with opened(path) as memory:
        memory.remember("written since", pak_id="since")
    known = dump(path)
    program = (
        "import sys; from recollect import Recollect; from recollect.errors import StoreTooNew\n"
        "try: Recollect.open(sys.argv[1])\n"
        "except StoreTooNew as error: print('refused:', error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, path],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "older/src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "refused" in ran.stdout
    assert dump(path) == known
    with Recollect.open(path) as memory:
        assert memory.get("since") is not None


def test_the_files_of_all_versions_before_are_there() -> None:
    for version in VERSIONS:
        assert gzip.decompress((STORES / f"engine-{version}.db.gz").read_bytes())
