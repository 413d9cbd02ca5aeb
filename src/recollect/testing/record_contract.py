"""What every store must do about records, as tests: a part of `StoreContract`.

The rules are those of `recollect.ports.records`.
"""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from recollect.errors import InvalidInput
from recollect.model import FrameDefinition, Garden, Place, Weights
from recollect.model.pak import PakRow
from recollect.ports.store import RECORD_KINDS, Edge, FrameRow, Likeness, Store
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import committing

__all__ = ["RecordContract"]

_BEFORE = "2025-01-01T00:00:00Z"


class RecordContract:
    """Tests of how all of a store is read."""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Open an empty store for the body of a `with`."""
        raise TypeError("a subclass of RecordContract says how to open a store")
        yield

    def test_a_store_that_holds_nothing_has_no_records(self) -> None:
        with self.opened() as store:
            assert store.records.count() == dict.fromkeys(RECORD_KINDS, 0)
            for kind in RECORD_KINDS:
                assert list(store.records.page(kind, after=None, most=9)) == []
            assert store.records.tenants() == {}

    def test_memories_are_told_whole_in_the_order_in_which_they_were_stored(self) -> None:
        place = Place("acme", "ann", "team", "red", "ops")
        with self.opened() as store:
            with committing(store):
                new = [
                    new_memory("b", "first", position=3, tags=("x",), place=place, pending=True),
                    new_memory("a", "second", status="quarantined", source="mail"),
                ]
                store.memories.write(new)
            (first,) = store.records.page("memory", after=None, most=1)
            (second,) = store.records.page("memory", after=first.key, most=9)
            assert list(store.records.page("memory", after=second.key, most=9)) == []
            assert store.records.count()["memory"] == 2
            assert list(store.records.tenants().items()) == [("acme", 1), ("local", 1)]
        said = first.fields
        assert (said["pak_id"], said["content"], said["position"]) == ("b", "first", 3)
        assert (said["tags"], said["pending"], said["created_at"]) == (["x"], True, NOW)
        assert (said["source_type"], said["content_hash"]) == ("user", new[0].pak.content_hash)
        assert said["place"]["garden"] == "ops"
        assert (second.fields["status"], second.fields["source_type"]) == ("quarantined", "mail")
        assert "decay" not in said
        assert "risks" not in said

    def test_an_entry_of_the_catalogue_from_elsewhere_is_kept_as_it_was(self) -> None:
        new = new_memory("a", "text")
        pak = PakRow(
            *("a", "memory", None, None, "web", "user_approved", "T", "S", "hash"),
            *(_BEFORE, NOW, None),
        )
        with self.opened() as store:
            with committing(store):
                store.memories.write([new._replace(pak=pak)])
            (one,) = store.records.page("memory", after=None, most=9)
        told = (one.fields["created_at"], one.fields["updated_at"], one.fields["title"])
        assert told == (_BEFORE, NOW, "T")
        assert (one.fields["source_type"], one.fields["content_hash"]) == ("web", "hash")

    def test_pairs_are_told_by_id_and_settled_disputes_too(self) -> None:
        with self.opened() as store:
            with committing(store):
                rows = store.memories.write([new_memory(name) for name in "abc"])
                low, middle, high = (one.row_id for one in rows)
                store.edges.put([Edge(low, high, 0.5, True), Edge(low, middle, 0.0, False)])
                store.edges.change_lists([Likeness(high, low, 0.25)], ())
                store.edges.dispute(("b", "c"), note="why", now=_BEFORE)
                store.edges.resolve(("b", "c"))
            (link,) = store.records.page("link", after=None, most=9)
            (likeness,) = store.records.page("likeness", after=None, most=9)
            (dispute,) = store.records.page("dispute", after=None, most=9)
        assert link.fields == {"pak_id": "a", "other": "c", "weight": 0.5, "automatic": True}
        assert likeness.fields == {"pak_id": "c", "other": "a", "closeness": 0.25}
        assert dispute.fields == {
            "pak_id": "b",
            "other": "c",
            "note": "why",
            "is_open": False,
            "created_at": _BEFORE,
        }

    def test_facts_of_every_tenant_are_told(self) -> None:
        frame = FrameDefinition("mine", Weights(0.4, 0.4, 0.1, 0.05, 0.05))
        with self.opened() as store:
            with committing(store):
                for tenant in ("b", "a"):
                    store.access.put_garden(Garden(tenant, "ops", "Ops", "company", None, 0.5, NOW))
                    store.access.set_role(tenant, "ops", "ann", "writer")
                    store.access.set_trust(tenant, "mail", 0.25)
                    store.state.put_frame(tenant, "mine", FrameRow(frame, "attention"))
            told = {
                kind: list(store.records.page(kind, after=None, most=9))
                for kind in ("garden", "member", "trust", "frame")
            }
        for records in told.values():
            assert [one.fields["tenant"] for one in records] == ["a", "b"]
        assert told["garden"][0].fields["tier"] == 0.5
        assert told["member"][0].fields["garden"] == "ops"
        assert told["trust"][0].fields["trust"] == 0.25
        assert told["frame"][0].fields["extends"] == "attention"

    def test_a_backup_is_a_new_file_of_the_newest_revision_or_refused(self) -> None:
        with self.opened() as store, TemporaryDirectory() as folder:
            with committing(store):
                store.memories.write([new_memory("a", "first")])
            file = Path(folder) / "copy.db"
            try:
                told = store.backup(file)
            except InvalidInput:
                assert not file.exists()
            else:
                assert (told.memories, told.revision) == (1, store.head().revision)
                assert (told.path, told.size) == (str(file), file.stat().st_size)
            assert len(list(Path(folder).iterdir())) == file.exists()
