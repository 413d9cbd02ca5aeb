"""Pages that SQLite itself cannot read cost what stood on them, and a new file holds the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.faults.damaged_stores import full_store, opened
from tests.faults.raising import Instants, distinct, files, told

from recollect.engine import salvage
from recollect.errors import StoreBusy, StoreDamaged, StoreReplaced
from recollect.model import Salvaged
from recollect.testing import FakeClock, FakeEmbedder

PAGE = 4096
soak = pytest.mark.soak


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a store that holds one of everything, and waits for nothing."""
    path = tmp_path_factory.mktemp("whole") / "whole.db"
    full_store(path)
    with opened(path) as memory:
        memory.retry_pending()
    return path.read_bytes()


@pytest.fixture(scope="module")
def texts(whole: bytes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is remembered in it, by id."""
    path = tmp_path_factory.mktemp("read") / "read.db"
    path.write_bytes(whole)
    return texts_of(path)


def texts_of(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as conn:
        return dict(conn.execute("SELECT pak_id, content FROM memories"))


def salvaged(path: Path) -> Salvaged:
    return salvage(path, embedder=FakeEmbedder(24), clock=FakeClock())


def page_of(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as conn:
        return int(
            conn.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[
                0
            ]
        )


def wreck(path: Path, page: int, *, whole_page: bool = True) -> None:
    """Make a page one that SQLite refuses: all of it, or what it says of itself."""
    data = bytearray(path.read_bytes())
    start = (page - 1) * PAGE
    data[start : start + (PAGE if whole_page else 8)] = b"\xa5" * (PAGE if whole_page else 8)
    path.write_bytes(data)


def leaves(path: Path, table: str) -> list[int]:
    """Return the pages below the root of a table, as its root lists them; the last comes last."""
    data, root = path.read_bytes(), page_of(path, table)
    page = data[(root - 1) * PAGE : root * PAGE]
    if page[0] != 5:
        return [root]
    count = int.from_bytes(page[3:5], "big")
    places = [int.from_bytes(page[12 + 2 * n : 14 + 2 * n], "big") for n in range(count)]
    return [
        *(int.from_bytes(page[at : at + 4], "big") for at in places),
        int.from_bytes(page[8:12], "big"),
    ]


def test_a_page_of_texts_costs_those_texts_and_no_other(
    whole: bytes, texts: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    for page in leaves(path, "memories"):
        path.write_bytes(whole)
        wreck(path, page)
        done = salvaged(path)
        with opened(path) as memory:
            assert memory.check() == ()
        kept = texts_of(path)
        assert kept.items() <= texts.items()
        assert set(done.lost) == set(texts) - set(kept)
        assert done.memories == len(kept)
        assert 0 < len(done.lost) < len(texts) // 2
        assert Path(done.aside).is_file()
        Path(done.aside).unlink()


def test_pages_of_what_stands_twice_cost_nothing(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    with opened(path) as memory:
        expected = list(memory.export(everything=True))
    for table in (
        "paks",
        "pak_reason_codes",
        "gardens",
        "garden_members",
        "source_trust",
        "memory_frames",
        "memory_disputes",
        "idx_paks_walk",
        "paks_fts_content",
        "paks_fts_data",
        "twin_memories",
    ):
        path.write_bytes(whole)
        for page in leaves(path, table)[:1]:
            wreck(path, page)
        done = salvaged(path)
        assert (done.lost, done.repaired.aside) == ((), ()), table
        with opened(path) as memory:
            assert memory.check() == ()
            assert list(memory.export(everything=True)) == expected, table


@pytest.mark.parametrize("table", ["memories", "paks", "sqlite_master"])
def test_a_page_above_others_costs_nothing_that_stands_below_it(
    whole: bytes, texts: dict[str, str], tmp_path: Path, table: str
) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    page = 1 if table == "sqlite_master" else page_of(path, table)
    kind = whole[(page - 1) * PAGE + (100 if page == 1 else 0)]
    assert kind == 5, "it has pages below it"
    wreck(path, page if page > 1 else int.from_bytes(whole[108:112], "big"))
    done = salvaged(path)
    assert texts_of(path) == texts
    assert (done.lost, done.repaired.aside) == ((), ())
    with opened(path) as memory:
        assert memory.check() == ()


def test_a_handle_that_was_open_refuses_and_does_not_go_on(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    wreck(path, page_of(path, "memory_likenesses"), whole_page=False)
    with opened(path) as before:
        done = salvaged(path)
        with pytest.raises(StoreReplaced):
            before.remember("into nothing", pak_id="nothing")
        with pytest.raises(StoreReplaced):
            before.recall("billing")
    with opened(path) as memory:
        assert memory.get("nothing") is None
        assert memory.remember("into the new file", pak_id="new").created
        assert memory.check() == ()
    assert Path(done.aside).read_bytes() != path.read_bytes()


def test_forget_says_that_the_old_file_may_still_hold_it(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    done = salvaged(path)
    with opened(path) as memory:
        forgotten = memory.forget("pak-08")
        assert not forgotten.wiped
        assert [one.name for one in forgotten.proof if not one.is_clean] == ["a.db.damaged"]
        Path(done.aside).unlink()
        assert memory.forget("pak-09").wiped


def test_while_somebody_writes_nothing_is_changed(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.stores.sqlite.salvage.BUSY_TIMEOUT_MS", 50)
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            salvaged(path)
    assert sorted(file.name for file in tmp_path.iterdir() if "-" not in file.name) == ["a.db"]


def test_links_that_were_lost_are_computed_again(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as conn:
        query = "SELECT row_id, other, closeness FROM memory_likenesses ORDER BY 1, 2"
        lists = conn.execute(query).fetchall()
    for table in ("memory_likenesses", "idx_memory_likenesses_other"):
        wreck(path, page_of(path, table), whole_page=False)
    done = salvaged(path)
    assert (done.lost, done.tables) == ((), ("memory_likenesses",))
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute(query).fetchall() == lists


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=soak)])
def test_whichever_page_is_wrecked_nothing_is_invented_and_little_is_lost(
    whole: bytes,
    texts: dict[str, str],
    tmp_path: Path,
    step: int,
    record_property: Callable[[str, object], None],
) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    pages, of_texts = range(2, len(whole) // PAGE + 1, step), leaves(path, "memories")
    record_property("tried", len(pages))
    for page in pages:
        path.write_bytes(whole)
        wreck(path, page, whole_page=page % 2 == 0)
        done = salvaged(path)
        with opened(path) as memory:
            assert memory.check() == (), page
        kept = texts_of(path)
        assert kept.items() <= texts.items(), page
        # Only the pages on which texts stand cost texts, and these are named.
        assert set(texts) - set(kept) == {*done.lost, *done.repaired.aside} & set(texts), page
        assert page in of_texts or set(kept) == set(texts), page
        Path(done.aside).unlink()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("most", [10, pytest.param(None, marks=soak)])
def test_an_interrupt_at_any_line_leaves_the_old_file_or_the_new_one(
    whole: bytes,
    texts: dict[str, str],
    tmp_path: Path,
    most: int | None,
    record_property: Callable[[str, object], None],
) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    wreck(path, leaves(path, "memories")[0])
    wrecked = path.read_bytes()
    instants = Instants(files("stores/sqlite/salvage.py"), opcodes=False)
    tried = distinct(instants.of(lambda: salvaged(path)), most=most)
    kept = texts_of(path)
    assert kept.items() < texts.items()
    record_property("tried", len(tried))
    for number, at in enumerate(tried):
        path = tmp_path / f"{number}.db"
        path.write_bytes(wrecked)
        with told(f"after an interrupt at {at}"):
            with suppress(KeyboardInterrupt):
                instants.raising(lambda path=path: salvaged(path), at, KeyboardInterrupt())  # type: ignore[misc]
            assert path.read_bytes() == wrecked or texts_of(path) == kept
            salvaged(path)
            assert texts_of(path) == kept
            with opened(path) as memory:
                assert memory.check() == ()
            left = {one.name for one in tmp_path.glob(f"{number}.db*")}
            assert left <= {f"{number}.db{end}" for end in ("", ".damaged", ".damaged1")}


def test_a_memory_that_damage_gave_the_name_of_another_gets_its_own_back(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    full_store(path)
    texts = texts_of(path)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole, own = path.read_bytes(), b"pak-08" + texts["pak-08"].encode()
    assert whole.count(own) == 1
    path.write_bytes(whole.replace(own, b"pak-07" + texts["pak-08"].encode()))
    with opened(path) as memory:
        assert any("pak-07" in problem for problem in memory.check())
        with pytest.raises(StoreDamaged, match="salvage"):
            memory.repair()
    assert salvaged(path).lost == ()
    assert texts_of(path) == texts
    with opened(path) as memory:
        assert memory.check() == ()
