"""What every store must do about versions and claims, as tests: a part of `StoreContract`.

The rules are those of `recollect.ports.versions` and `recollect.ports.memories`.
"""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from recollect.model import Place
from recollect.ports.store import Claim, KeptVersion, RowFilter, Store
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import VIEW, committing, standing, texts

__all__ = ["VersionContract"]

_LATER, _LAST = "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"


class VersionContract:
    """Tests of what is kept of a memory that changes."""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Open an empty store for the body of a `with`."""
        raise TypeError("a subclass of VersionContract says how to open a store")
        yield

    def test_a_memory_that_never_changed_has_no_versions(self) -> None:
        with self.opened() as store:
            for _ in range(2):
                with committing(store):
                    store.memories.write([new_memory("a", "text", updated_at=NOW)])
            assert store.versions.read(["a", "nobody"], VIEW) == {}

    def test_a_replacement_leaves_what_was_before_and_who_wrote_it(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", "first", tags=("x",), confidence=0.5)])
            before = texts(store, "a").memories["a"]
            with committing(store) as second:
                new = new_memory("a", "second", updated_at=_LATER)
                store.memories.write([new._replace(by="bob")])
            with committing(store) as third:
                store.memories.write([new_memory("a", "third", updated_at=_LAST)])
            one, two, three = store.versions.read(["a"], VIEW)["a"]
        assert (one.number, one.at, one.by, one.memory) == (1, NOW, "local", before)
        assert (two.number, two.at, two.by, two.revision) == (2, _LATER, "bob", second.revision)
        assert two.memory is not None
        assert (two.memory.content, two.memory.updated_at) == ("second", _LATER)
        assert three == KeptVersion(3, _LAST, "local", None, third.revision)

    def test_another_place_or_status_is_another_version(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a"), new_memory("b")])
            for uses in (0, 7):
                with committing(store):
                    stands = standing(store, "a")._replace(status="archived", reinforced=uses)
                    store.memories.set_standing([stands], by="bob", at=_LATER)
            found = store.versions.read(["a", "b"], VIEW)
            assert [(one.number, one.by) for one in found["a"]] == [(1, "local"), (2, "bob")]
            assert found.keys() == {"a"}

    def test_a_view_hides_a_version_where_it_was(self) -> None:
        theirs = Place(owner="bob")
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", "secret", place=theirs)])
            with committing(store):
                store.memories.write([new_memory("a", "plain", updated_at=_LATER)])
            (stands,) = store.versions.read(["a"], VIEW)["a"]
        assert (stands.number, stands.memory) == (2, None)

    def test_a_successor_is_named_told_and_found(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory(name) for name in "abc"])
            seen = store.head()
            with committing(store):
                store.memories.supersede({"a": "b", "nobody": "b"}, by="bob", at=_LATER)
            rows = [row for batch in store.memories.changes(seen) for row in batch.rows]
            assert [(row.memory.pak_id, row.memory.superseded_by) for row in rows] == [("a", "b")]
            assert texts(store, "a").memories["a"].superseded_by == "b"
            assert standing(store, "a").superseded_by == "b"
            for named, found in ((("b", "c"), {"a"}), (("c",), set()), ((), set())):
                wanted = RowFilter(superseded_by=named)
                assert store.memories.standing(wanted).keys() == found
            with committing(store):
                store.memories.supersede({"a": "c"}, by="bob", at=_LAST)
            _, two, _ = store.versions.read(["a"], VIEW)["a"]
            assert two.memory is not None
            assert (two.by, two.at, two.memory.superseded_by) == ("bob", _LATER, "b")
            with committing(store):
                store.memories.supersede({"a": None}, by="bob", at=_LAST)
            assert texts(store, "a").memories["a"].superseded_by is None

    def test_versions_go_with_their_memory_and_name_nothing_that_is_gone(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory(name) for name in "abc"])
            for successor in "bc":
                with committing(store):
                    store.memories.supersede({"a": successor}, by="bob", at=_LATER)
            with committing(store):
                store.memories.erase(["b"])
            _, two, three = store.versions.read(["a"], VIEW)["a"]
            assert two.memory is not None
            assert two.memory.superseded_by is None
            assert three.memory is None
            with committing(store):
                store.memories.erase(["a"])
            with committing(store):
                store.memories.write([new_memory("a")])
            assert store.versions.read(["a"], VIEW) == {}
            assert store.records.count()["version"] == 0

    def test_a_commit_that_fails_leaves_no_version(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", "kept")])
            try:
                with committing(store):
                    store.memories.write([new_memory("a", "lost")])
                    raise KeyError
            except KeyError:
                assert store.versions.read(["a"], VIEW) == {}

    def test_old_versions_are_let_go_and_the_one_that_stands_is_not(self) -> None:
        with self.opened() as store:
            for at, text in ((NOW, "first"), (_LATER, "second"), (_LAST, "third")):
                with committing(store):
                    store.memories.write([new_memory("a", text, updated_at=at)])
            with committing(store):
                assert store.versions.prune(_LAST) == 1
            assert [one.number for one in store.versions.read(["a"], VIEW)["a"]] == [2, 3]
            with committing(store):
                assert store.versions.prune("2027-01-01T00:00:00Z") == 1
                assert store.versions.prune("2027-01-01T00:00:00Z") == 0
            assert [one.by for one in store.versions.read(["a"], VIEW)["a"]] == ["local"]

    def test_earlier_versions_are_found_by_what_they_were_and_erased(self) -> None:
        with self.opened() as store:
            for at, entity in ((NOW, "Ann  Lee"), (_LATER, "Bob"), (_LAST, "Cid")):
                with committing(store):
                    new = new_memory("a", f"of {entity}", entity=entity, updated_at=at)
                    store.memories.write([new, new_memory("b", entity="Bob", value="ANN LEE")])

            def of(tenant: str, entity: str) -> dict[str, list[int]]:
                return store.versions.where(tenant, lambda was: was.entity == entity)

            assert of("local", "Ann  Lee") == {"a": [1]}
            assert of("local", "Bob") == {"a": [2]}
            assert of("local", "Cid") == {}
            assert of("acme", "Bob") == {}
            with committing(store):
                store.versions.erase({"a": [1, 3], "b": [1], "nobody": [1]})
            assert [one.number for one in store.versions.read(["a"], VIEW)["a"]] == [2, 3]

    def test_versions_that_are_put_are_read_and_told_as_records(self) -> None:
        old = replace(new_memory("a", "first").memory, superseded_by="b")
        kept = [KeptVersion(2, NOW, "bob", old), KeptVersion(5, _LATER, "ann", None)]
        with self.opened() as store:
            with committing(store) as commit:
                store.memories.write([new_memory("a", "second"), new_memory("b")])
                store.versions.put({"a": kept, "nobody": kept})
            found = store.versions.read(["a"], VIEW)["a"]
            told = [one.fields for one in store.records.page("version", after=None, most=9)]
            (second,) = store.records.page("version", after=(1, 2), most=9)
        assert found == [replace(one, revision=commit.revision) for one in kept]
        assert [(one["pak_id"], one["number"], one["by"]) for one in told] == [
            ("a", 2, "bob"),
            ("a", 5, "ann"),
        ]
        assert (told[0]["fields"]["content"], told[0]["superseded_by"]) == ("first", "b")
        assert (second.fields["fields"], second.fields["at"]) == (None, _LATER)

    def test_what_is_claimed_of_an_entity_is_found_by_keys_within_a_tenant(self) -> None:
        said: dict[str, Any] = {"entity": "Ann  Lee", "relation": "Lives in"}
        elsewhere = Place("acme", "ann")
        with self.opened() as store:
            with committing(store):
                written = store.memories.write(
                    [
                        new_memory("a", value="PARIS", **said),
                        new_memory("b", **said),
                        new_memory("c", value="Rome", entity="Ann Lee", relation="likes"),
                        new_memory("d", value="Rome", place=elsewhere, **said),
                        new_memory("e", value="Rome", **said),
                    ]
                )
            about = [("ann lee", "lives in"), ("bob", "lives in")]
            rows = [one.row_id for one in written]
            assert store.memories.claims("local", about) == [
                Claim(rows[0], "ann lee", "lives in", "paris"),
                Claim(rows[4], "ann lee", "lives in", "rome"),
            ]
            assert store.memories.claims("local", []) == []
