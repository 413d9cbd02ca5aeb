"""A path or URL becomes a store, or an error that says what could be written instead."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from recollect.errors import InvalidInput
from recollect.stores.memory import MemoryStore
from recollect.stores.sqlite import SqliteStore
from recollect.wiring import wire_store


@pytest.mark.parametrize(
    ("place", "file"),
    [
        ("{folder}/agent.db", "agent.db"),
        ("sqlite:///{folder}/agent.db", "agent.db"),
        ("SQLite:///{folder}/agent.db", "agent.db"),
        ("sqlite:///{folder}/a%20b%3F.db", "a b?.db"),
    ],
)
def test_a_path_or_a_url_opens_a_file(tmp_path: Path, place: str, file: str) -> None:
    with closing(wire_store(place.format(folder=tmp_path), store_id="here")) as store:
        assert isinstance(store, SqliteStore)
        assert store.path == tmp_path / file
    assert (tmp_path / file).is_file()


def test_three_slashes_are_a_file_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wire_store("sqlite:///agent.db", store_id="here").close()
    assert (tmp_path / "agent.db").is_file()


def test_two_stores_in_memory_know_nothing_of_each_other() -> None:
    one, other = (wire_store("memory://", store_id=name) for name in ("one", "other"))
    assert isinstance(one, MemoryStore)
    with one.commit("first", at="2026-01-01T00:00:00Z"):
        one.state.fire("here")
    assert other.state.events() == {}
    assert [store.state.read().store_id for store in (one, other)] == ["one", "other"]


def test_a_database_in_memory_is_still_sqlite() -> None:
    with closing(wire_store(":memory:", store_id="here")) as store:
        assert isinstance(store, SqliteStore)


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("memory://shared", "memory:// alone"),
        ("sqlite://", "sqlite:///agent.db"),
        ("sqlite:///", "sqlite:///agent.db"),
        ("sqlite://agent.db", "sqlite:///agent.db"),
        ("sqlite:///agent.db?mode=ro", "%3F"),
        ("postgresql://me:secret@host/db", "agent.db"),
        ("redis://host", "memory://"),
    ],
)
def test_a_url_that_opens_nothing_says_what_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        wire_store(place, store_id="here")
    assert hint in caught.value.hint
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
