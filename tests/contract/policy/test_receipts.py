"""Who may read a receipt, what it tells of what is hidden, and what `forget` leaves of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policy.bytes_on_disk import found_in
from tests.contract.policy.conftest import People, people_of

from recollect import Recollect
from recollect.errors import NotAllowed
from recollect.model import Receipt
from recollect.policy import Principal
from recollect.testing import FakeClock

Open = Callable[..., Recollect]


@pytest.fixture
def people(open_memory: Open) -> People:
    return people_of(open_memory(receipts=True))


def test_a_receipt_is_told_to_who_asked_and_to_admins_of_the_tenant(people: People) -> None:
    people.ann.remember("the kiln is lit", pak_id="kiln", scope="company")
    name = people.ann.recall("kiln").recall_id
    told = people.ann.why(name)
    assert (told.tenant, told.principal, told.request["query"]) == ("acme", "ann", "kiln")
    by_admin = people.root.why(name)
    assert (by_admin.principal, by_admin.request, by_admin.items) == (
        "ann",
        told.request,
        told.items,
    )
    assert by_admin.same_today is None
    for other in (people.bob, people.mod, people.dan, people.opener):
        assert other.why(name) is None
        assert other.why(name, principal="ann") is None
        assert other.receipts().items == ()
    assert [one.recall_id for one in people.root.receipts().items] == [name]


def test_an_answer_that_several_got_has_a_receipt_for_each(people: People) -> None:
    people.ann.remember("the kiln is lit", pak_id="kiln", scope="company")
    names = {who.recall("kiln").recall_id for who in (people.ann, people.bob, people.root)}
    (name,) = names
    assert people.ann.why(name).principal == "ann"
    assert people.bob.why(name).principal == "bob"
    assert people.root.why(name).principal == "root"
    assert people.root.why(name, principal="bob").principal == "bob"
    assert people.bob.why(name, principal="ann") is None
    pages, cursor = [], None
    for _ in range(3):
        page = people.root.receipts(limit=1, cursor=cursor)
        pages += [one.principal for one in page.items]
        cursor = page.next_cursor
    assert (sorted(pages), cursor) == (["ann", "bob", "root"], None)


def test_an_admin_is_told_how_many_there_are_that_it_may_not_read(people: People) -> None:
    people.ann.remember("the kiln is lit", pak_id="kiln", scope="company")
    people.ann.remember("a private kiln", pak_id="mine")
    name = people.ann.recall("kiln").recall_id
    assert len(people.ann.why(name).items) == 2
    told = people.root.why(name)
    assert ([one.pak_id for one in told.items], told.missing) == (["kiln"], 1)
    assert (told.request, told.digest) == (None, None)
    assert "mine" not in repr(told)


def test_the_head_of_the_store_is_told_to_whoever_opened_it(people: People) -> None:
    people.opener.remember("a kiln", pak_id="kiln")
    told = people.opener.why(people.opener.recall("kiln").recall_id)
    assert (told.revision, bool(told.commit_id)) == (1, True)
    told = people.root.why(people.root.recall("kiln").recall_id)
    assert (told.revision, told.commit_id) == (None, None)


def test_it_takes_the_right_to_read(people: People) -> None:
    blind = people.opener.as_principal(Principal("acme", "ann", permissions=("write",)))
    for ask in (blind.receipts, lambda: blind.why("recall_1")):
        with pytest.raises(NotAllowed):
            ask()


def test_who_may_only_read_gets_receipts_too(people: People) -> None:
    reader = people.opener.as_principal(Principal("acme", "eve", permissions=("read",)))
    assert reader.why(reader.recall("kiln").recall_id) is not None


def shown(told: Receipt) -> str:
    return json.dumps(told.to_dict(), sort_keys=True)


def test_what_is_hidden_now_cannot_be_told_from_what_was_forgotten(open_memory: Open) -> None:
    answers = []
    for name in ("stays", "goes"):
        people = people_of(open_memory(f"{name}.db", receipts=True))
        people.root.gardens.create("ops", scope="company")
        for who in ("ann", "bob"):
            people.root.gardens.add("ops", who, "writer")
        people.ann.remember("a kiln in the garden", pak_id="one", garden="ops")
        people.ann.remember("a kiln of the company", pak_id="two", scope="company")
        asked = people.bob.recall("kiln").recall_id
        assert len(people.bob.why(asked).items) == 2
        people.root.gardens.remove("ops", "bob")
        if name == "goes":
            people.ann.forget("one")
        page = people.bob.receipts().items
        answers.append([shown(people.bob.why(asked)), *map(shown, page)])
        assert people.bob.why(asked).missing == 1
    assert answers[0] == answers[1]


def test_a_forgotten_memory_takes_the_question_its_id_and_the_digest_along(
    people: People, tmp_path: Path
) -> None:
    people.ann.remember("the zqkiln is lit", pak_id="zqid", scope="company")
    people.ann.remember("a note on kilns", pak_id="other", scope="company")
    asked = people.ann.recall("zqkiln note", top_k=5).recall_id
    people.bob.recall("is the zqkiln lit?", filter={"title": {"exists": True}})
    framed = people.bob.frame("attention", "zqkiln").recall_id
    digests = [people.ann.why(asked).digest, people.bob.why(framed).digest]
    assert people.bob.recall("note").recall_id
    assert {word for _, word in found_in(tmp_path, ["zqkiln", *digests])} == {"zqkiln", *digests}
    assert people.ann.forget("zqid").wiped
    assert found_in(tmp_path, ["zqkiln", "zqid", *digests]) == []
    told = people.ann.why(asked)
    assert ([one.pak_id for one in told.items], told.missing) == (["other"], 1)
    assert (told.request, told.digest, told.same_today) == (None, None, None)
    assert told.at


@pytest.mark.parametrize("way", ["catalogue", "sql", "tidy"])
def test_whichever_way_a_memory_goes_its_receipts_let_go_of_it(
    people: People, clock: FakeClock, way: str
) -> None:
    people.opener.remember("the zqkiln is lit", pak_id="zqid", ttl=3600)
    name = people.opener.recall("zqkiln").recall_id
    if way == "catalogue":
        people.opener.paks.delete_pak("zqid")
    elif way == "sql":
        with closing(sqlite3.connect(people.opener.path)) as file, file:
            file.execute("DELETE FROM paks WHERE pak_id = 'zqid'")
    else:
        clock.advance(hours=2)
        people.opener.tidy()
    told = people.opener.why(name)
    assert (told.items, told.missing, told.request) == ((), 1, None)


def test_to_forget_an_owner_forgets_what_it_asked(people: People, tmp_path: Path) -> None:
    people.ann.remember("of ann", pak_id="a")
    people.bob.remember("of bob", pak_id="b", scope="company")
    people.ann.recall("qjxsecret")
    name = people.bob.recall("qjxother").recall_id
    would = people.ann.forget(owner="ann", dry_run=True)
    assert (would.pak_ids, would.receipts) == (("a",), 1)
    done = people.ann.forget(owner="ann")
    assert (done.pak_ids, done.receipts, done.wiped) == (("a",), 1, True)
    assert found_in(tmp_path, ["qjxsecret"]) == []
    assert people.ann.receipts().items == ()
    assert people.bob.why(name) is not None
    detail = people.root.audit()[0].detail
    assert detail == "1 memories, 1 receipts"


def test_no_text_of_a_memory_is_in_a_receipt(people: People) -> None:
    people.opener.remember("the qjxkiln is lit", pak_id="kiln", title="qjxtitle", tags=["qjxtag"])
    for answer in (people.opener.recall("lit"), people.opener.frame("attention", "lit")):
        assert "qjxkiln" in repr(answer)
    with closing(sqlite3.connect(people.opener.path)) as file:
        for table in ("receipts", "receipt_items"):
            rows = file.execute(f"SELECT * FROM {table}").fetchall()
            assert len(rows) == 2
            assert "qjx" not in repr(rows)


def test_a_question_is_in_the_file_until_its_receipt_goes(people: People, tmp_path: Path) -> None:
    people.ann.remember("the qjxkiln is lit", pak_id="kiln")
    people.bob.remember("a note", pak_id="note", scope="company")
    people.bob.recall("what of the qjxkiln?")
    assert people.ann.forget("kiln").wiped
    assert {word for _, word in found_in(tmp_path, ["qjxkiln"])} == {"qjxkiln"}
    people.bob.forget(owner="bob")
    assert found_in(tmp_path, ["qjxkiln"]) == []


def test_an_owner_who_only_asked_is_forgotten_too(people: People) -> None:
    people.bob.recall("qjxsecret")
    assert people.root.forget(owner="bob").receipts == 1
    again = people.root.forget(owner="bob")
    assert (again.receipts, bool(again)) == (0, False)


def test_nobody_forgets_what_others_asked_but_an_admin(people: People) -> None:
    people.bob.recall("kiln")
    dan = replace(people.dan.principal, id="bob")
    for who in (people.ann, people.dan, people.opener.as_principal(dan)):
        assert who.forget(owner="bob", dry_run=True).receipts == 0
        assert who.forget(owner="bob").receipts == 0
    assert len(people.bob.receipts().items) == 1


@pytest.mark.parametrize(
    "less", [{"project": "shop"}, {"scope": "company"}, {"since": "2020-01-01"}, {"tag": "x"}]
)
def test_who_forgets_less_than_all_of_an_owner_leaves_its_receipts(
    people: People, less: dict[str, Any]
) -> None:
    people.bob.recall("kiln")
    assert people.bob.forget(owner="bob", **less).receipts == 0
    assert len(people.bob.receipts().items) == 1


def test_a_forget_that_is_sent_again_is_answered_with_the_receipts_it_took(people: People) -> None:
    people.bob.recall("kiln")
    first, second = (people.bob.forget(owner="bob", request_id="r") for _ in range(2))
    assert first.receipts == second.receipts == 1


def test_a_key_that_was_revoked_reads_no_receipt(people: People) -> None:
    made = people.root.keys.create(Principal("acme", "ann"), name="a key")
    ann = people.opener.as_principal(people.opener.keys.principal_for(made.secret))
    name = ann.recall("kiln").recall_id
    people.root.keys.revoke(made.row.prefix)
    for ask in (ann.receipts, lambda: ann.why(name)):
        with pytest.raises(NotAllowed):
            ask()
