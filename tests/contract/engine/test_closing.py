"""What closing leaves: a cache file whenever there was something to save, and no long wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.index import MemoryIndex, follow
from recollect.testing import FakeClock, FakeEmbedder

WORTH = 40


@pytest.fixture(autouse=True)
def little_is_worth_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_WORTH_SAVING", WORTH)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


def opened(db: Path, *, cache_file: bool = True) -> Recollect:
    return Recollect.open(
        db, embedder=FakeEmbedder(), clock=FakeClock(), links=False, cache_file=cache_file
    )


def write(db: Path, first: int, count: int, *, cache_file: bool = True) -> None:
    """Write in a process that asks nothing."""
    with opened(db, cache_file=cache_file) as memory:
        memory.remember_many(
            [
                {"content": f"Kiln {n} is hot.", "pak_id": f"k{n}"}
                for n in range(first, first + count)
            ]
        )


def index_of(db: Path) -> Path:
    return Path(f"{db}.index")


def test_who_only_wrote_leaves_its_index(db: Path) -> None:
    write(db, 0, WORTH)
    assert index_of(db).exists()
    with opened(db) as memory, opened(db, cache_file=False) as plain:
        asked = "kiln 7"
        assert memory.recall(asked).to_dict() == plain.recall(asked).to_dict()


def test_who_wrote_little_does_not_wait_for_what_others_wrote(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(db, 0, 10 * WORTH, cache_file=False)

    def refused(*_: object, **__: object) -> None:
        pytest.fail("an index was made")

    monkeypatch.setattr(MemoryIndex, "after_all", refused)
    write(db, 10 * WORTH, 1)
    # Worth a file by itself, and a tenth of what would have to be read for it.
    write(db, 11 * WORTH, WORTH)
    assert not index_of(db).exists()


def test_beside_a_file_what_was_written_is_added_to_it(db: Path) -> None:
    write(db, 0, 10 * WORTH)
    before = index_of(db).read_bytes()
    write(db, 10 * WORTH, WORTH - 1)
    assert index_of(db).read_bytes() == before
    write(db, 11 * WORTH, WORTH)
    assert index_of(db).read_bytes() != before
    with opened(db) as memory:
        assert memory.recall("kiln 440").results[0].fact.pak_id == "k440"


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_forget_leaves_a_file_without_what_was_forgotten(db: Path, is_asked: bool) -> None:
    write(db, 0, 2 * WORTH)
    with opened(db) as memory:
        memory.remember("Saffron is in the kiln.", pak_id="secret")
        if is_asked:
            memory.recall("saffron")
        assert memory.forget("secret").wiped
        assert not index_of(db).exists()
    held = index_of(db).read_bytes()
    assert b"saffron" not in held.lower()
    assert b"secret" not in held
    assert b"k7" in held


def test_who_took_the_file_away_leaves_another(db: Path) -> None:
    write(db, 0, 2 * WORTH)
    with opened(db) as memory:
        memory.reembed(FakeEmbedder(model_id="other"))
        assert not index_of(db).exists()
    assert index_of(db).exists()
