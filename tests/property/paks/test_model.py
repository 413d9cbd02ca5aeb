"""The catalogue against a dict: whatever is written, and however, both must agree."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)
from tests.contract.paks.samples import NOON, catalogue_rows, fulltext_rows, pak
from tests.examples import examples

from recollect.paks import PakListFilters, ReasonCodeEntry, RecallStore, UnknownPak

ids = st.sampled_from(["a", "b", "c", "d", "é"])
projects = st.sampled_from([None, "shop", "office"])


@dataclass
class Entry:
    word: str
    project: str | None
    hash: str
    codes: set[str] = field(default_factory=set)


class Catalogue(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.store = RecallStore.open(":memory:")
        self.paks: dict[str, Entry] = {}
        self.before: dict[str, Entry] | None = None
        self.words = (f"word{number}" for number in count())

    def teardown(self) -> None:
        self.store.close()

    def model_upsert(self, pak_id: str, entry: Entry) -> None:
        if pak_id in self.paks:
            entry.codes = self.paks[pak_id].codes
        self.paks[pak_id] = entry

    @rule(pak_id=ids, project=projects, content_hash=st.sampled_from("xy"))
    def upsert(self, pak_id: str, project: str | None, content_hash: str) -> None:
        old = self.paks.get(pak_id)
        word = next(self.words)
        result = self.store.upsert_pak(
            **pak(pak_id, title=word, project=project, content_hash=content_hash), now=NOON
        )

        assert result.inserted is (old is None)
        assert result.body_changed is (old is not None and old.hash != content_hash)
        self.model_upsert(pak_id, Entry(word, project, content_hash))

    @rule(pak_ids=st.lists(ids, max_size=4), project=projects)
    def upsert_many(self, pak_ids: list[str], project: str | None) -> None:
        batch = [(pak_id, next(self.words)) for pak_id in pak_ids]
        self.store.upsert_paks(
            (
                pak(pak_id, title="the", summary=word, project=project, content_hash="x")
                for pak_id, word in batch
            ),
            now=NOON,
        )
        for pak_id, word in batch:
            self.model_upsert(pak_id, Entry(word, project, "x"))

    @rule(pak_ids=st.lists(ids, max_size=3))
    def upsert_many_in_vain(self, pak_ids: list[str]) -> None:
        batch = [pak(pak_id, title=next(self.words)) for pak_id in pak_ids]
        with suppress(UnknownPak):
            self.store.upsert_paks([*batch, pak("z", superseded_by="nobody")])
            raise AssertionError("a batch with an unknown successor went through")

    @rule(pak_id=ids, project=projects)
    def change_a_column_that_is_not_searched(self, pak_id: str, project: str | None) -> None:
        self.store.conn.execute("UPDATE paks SET project = ? WHERE pak_id = ?", (project, pak_id))
        if pak_id in self.paks:
            self.paks[pak_id].project = project

    @rule(pak_id=ids)
    def delete(self, pak_id: str) -> None:
        assert self.store.delete_pak(pak_id) is (pak_id in self.paks)
        self.paks.pop(pak_id, None)

    @rule(project=projects)
    def delete_a_project_by_raw_sql(self, project: str | None) -> None:
        self.store.conn.execute("DELETE FROM paks WHERE project IS ?", (project,))
        self.paks = {k: entry for k, entry in self.paks.items() if entry.project != project}

    @rule(pak_id=ids, verb=st.sampled_from(["INSERT OR REPLACE", "INSERT OR IGNORE"]))
    def put_by_raw_sql(self, pak_id: str, verb: str) -> None:
        word = next(self.words)
        self.store.conn.execute(
            f"{verb} INTO paks VALUES (?, 't', NULL, NULL, 's', 'a', ?, '', 'x', ?, ?, NULL)",
            (pak_id, word, NOON, NOON),
        )
        if verb == "INSERT OR REPLACE" or pak_id not in self.paks:
            self.paks[pak_id] = Entry(word, None, "x")

    @rule(old=ids, new=ids, verb=st.sampled_from(["UPDATE", "UPDATE OR REPLACE"]))
    def rename(self, old: str, new: str, verb: str) -> None:
        moves = old in self.paks and old != new
        collides = moves and new in self.paks and verb == "UPDATE"
        allowed = not collides and not (moves and self.paks[old].codes)
        try:
            self.store.conn.execute(f"{verb} paks SET pak_id = ? WHERE pak_id = ?", (new, old))
        except sqlite3.IntegrityError:
            assert not allowed
            return
        assert allowed
        if old in self.paks:
            self.paks[new] = self.paks.pop(old)

    @rule(pak_id=ids, code=st.sampled_from("mn"))
    def add_a_code(self, pak_id: str, code: str) -> None:
        try:
            self.store.add_pak_reason_code(pak_id, ReasonCodeEntry(code, 0.5))
        except UnknownPak:
            assert pak_id not in self.paks
        else:
            self.paks[pak_id].codes.add(code)

    @rule(pak_id=ids, codes=st.sets(st.sampled_from("mno")))
    def set_codes(self, pak_id: str, codes: set[str]) -> None:
        try:
            self.store.set_pak_reason_codes(pak_id, [ReasonCodeEntry(code) for code in codes])
        except UnknownPak:
            assert pak_id not in self.paks
        else:
            assert pak_id in self.paks or not codes
            if pak_id in self.paks:
                self.paks[pak_id].codes = set(codes)

    @precondition(lambda self: self.before is None)
    @rule()
    def begin(self) -> None:
        self.store.conn.execute("BEGIN")
        self.before = deepcopy(self.paks)

    @precondition(lambda self: self.before is not None)
    @rule()
    def commit(self) -> None:
        self.store.conn.execute("COMMIT")
        self.before = None

    @precondition(lambda self: self.before is not None)
    @rule()
    def roll_back(self) -> None:
        self.store.conn.execute("ROLLBACK")
        self.paks, self.before = self.before or {}, None

    @rule(pak_id=ids)
    def fail_within_a_transaction(self, pak_id: str) -> None:
        with suppress(KeyError), self.store.transaction():
            self.store.upsert_pak(**pak(pak_id, title=next(self.words)))
            self.store.delete_pak("a")
            raise KeyError

    @rule()
    def repair(self) -> None:
        assert self.store.repair() == (0, 0)

    @invariant()
    def every_pak_is_got_and_listed(self) -> None:
        rows = {row.pak_id: row for row in self.store.iter_paks(PakListFilters(limit=2))}
        assert list(rows) == sorted(self.paks, reverse=True)
        assert self.store.get_paks(["a", "b", "c", "d", "é"]) == dict(sorted(rows.items()))
        for pak_id, entry in self.paks.items():
            row = self.store.get_pak(pak_id)
            assert (row.project, row.content_hash) == (entry.project, entry.hash)
            assert {code for code, _ in self.store.get_pak_reason_codes(pak_id)} == entry.codes

    @invariant()
    def counts_agree(self) -> None:
        assert self.store.count_paks() == len(self.paks)
        for project in ("shop", "office"):
            expected = sum(entry.project == project for entry in self.paks.values())
            assert self.store.count_paks(PakListFilters(project=project)) == expected

    @invariant()
    def every_pak_is_found_by_its_word_and_by_no_other(self) -> None:
        for pak_id, entry in self.paks.items():
            assert [hit.pak.pak_id for hit in self.store.search(entry.word)] == [pak_id]
        assert fulltext_rows(self.store.conn) == catalogue_rows(self.store.conn)

    @invariant()
    def the_check_is_clean(self) -> None:
        assert self.store.check() == (True, len(self.paks), ())


Catalogue.TestCase.settings = settings(
    deadline=None,
    max_examples=examples(60),
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no reason to fail
)
TestCatalogue = Catalogue.TestCase
