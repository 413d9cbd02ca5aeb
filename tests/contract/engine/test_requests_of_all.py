"""Whichever verb takes a request id does a repeated request once, and answers as it did."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.verbs import LINES, fill, framed, lasting, pending

from recollect import AsyncRecollect, Recollect
from recollect.edge import wire
from recollect.errors import NotAllowed, RecollectError, RequestIdReused
from recollect.hours import iso
from recollect.model import LOCAL_PRINCIPAL
from recollect.open_store import OpenStore
from recollect.policy import Principal
from recollect.testing import FakeClock, FakeEmbedder

Verb = Callable[[Recollect, str], object]


FACTS: list[dict[str, Any]] = [
    {"content": "a peer tells of jobs"},
    {"content": 7, "secret-field": "x"},
    {"content": "a peer tells of deploys"},
    {"content": "a peer tells of jobs"},
]
VERBS: dict[str, Verb] = {
    "remember": lambda m, r: m.remember("Ada deploys on friday", pak_id="new", request_id=r),
    "remember_many": lambda m, r: m.remember_many(["one more job", "a deploy"], request_id=r),
    "link": lambda m, r: m.link("celery", "ada", request_id=r),
    "dispute": lambda m, r: m.dispute("celery", "friday", request_id=r),
    "resolve": lambda m, r: m.resolve("ada", "friday", request_id=r),
    "resolve nothing": lambda m, r: m.resolve("ada", "celery", request_id=r),
    "forget": lambda m, r: m.forget("celery", request_id=r),
    "forget some": lambda m, r: m.forget(["nobody", "celery", "ada"], request_id=r),
    "forget nothing": lambda m, r: m.forget("nobody", request_id=r),
    "forget an entity": lambda m, r: m.forget(entity="Ada", request_id=r),
    "archive": lambda m, r: m.archive("ada", request_id=r),
    "archive nothing": lambda m, r: m.archive("nobody", request_id=r),
    "unarchive": lambda m, r: m.unarchive("old", request_id=r),
    "ingest": lambda m, r: m.ingest(FACTS, source="peer", request_id=r),
    "ingest what waits": lambda m, r: m.ingest(
        [{"content": "held back by a peer"}, {"content": "more"}], source="stranger", request_id=r
    ),
    "ingest nothing good": lambda m, r: m.ingest([{"content": 7}], source="peer", request_id=r),
    "import_": lambda m, r: m.import_(LINES, request_id=r),
    "import_ nothing": lambda m, r: m.import_([], request_id=r),
    "gardens.create": lambda m, r: m.gardens.create("shared", name="Shared", request_id=r),
    "gardens.update": lambda m, r: m.gardens.update("herbs", tier=0.5, request_id=r),
    "gardens.add": lambda m, r: m.gardens.add("herbs", "bob", request_id=r),
    "gardens.remove": lambda m, r: m.gardens.remove("herbs", "ann", request_id=r),
    "gardens.delete": lambda m, r: m.gardens.delete("herbs", request_id=r),
    "keys.revoke": lambda m, r: m.keys.revoke(m.keys.list()[0].prefix, request_id=r),
    "keys.revoke none": lambda m, r: m.keys.revoke("0" * 12, request_id=r),
    "trust.set": lambda m, r: m.trust.set("peer", 0.9, request_id=r),
    "frames.register": lambda m, r: m.frames.register("own", extends="task", request_id=r),
    "frames.update": lambda m, r: m.frames.update(
        "kept", token_budget=77, cache={"ttl_seconds": 9}, request_id=r
    ),
    "frames.delete": lambda m, r: m.frames.delete("kept", request_id=r),
    "frames.invalidate": lambda m, r: m.frames.invalidate("kept", request_id=r),
    "catalogue.set_reason_codes": lambda m, r: m.catalogue.set_reason_codes(
        "ada", ["stable_context", {"reason_code": "mandatory", "weight": 0.5}], request_id=r
    ),
    "catalogue.set_risk_flags": lambda m, r: m.catalogue.set_risk_flags(
        "ada", [{"risk_flag": "manual_review_recommended", "severity": "warn"}], request_id=r
    ),
    "touch": lambda m, r: m.touch("lasting", request_id=r),
    "touch nothing": lambda m, r: m.touch("nobody", request_id=r),
    "tidy": lambda m, r: m.tidy(request_id=r),
    "retry_pending": lambda m, r: m.retry_pending(request_id=r),
}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["file", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Recollect]:
    place = tmp_path / "a.db" if request.param == "file" else "memory://"
    with Recollect.open(place, clock=clock, embedder=FakeEmbedder()) as opened:
        fill(opened)
        opened.keys.create(LOCAL_PRINCIPAL, name="a key")
        opened.gardens.add("herbs", "ann")
        framed(opened)
        lasting(opened)
        opened.remember("Ada likes tea", pak_id="tea", entity="Ada", relation="likes", value="tea")
        yield opened


def state(memory: Recollect) -> tuple[int, list[str], int]:
    return (
        memory.stats()["revision"],
        list(memory.export(everything=True)),
        len(memory.audit(limit=1000)),
    )


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_repeated_request_changes_nothing_and_is_answered_as_the_first(
    memory: Recollect, verb: Verb
) -> None:
    first = verb(memory, "r")
    before = state(memory)
    assert verb(memory, "r") == first
    assert state(memory) == before


def test_a_key_is_made_once_and_its_secret_told_once(memory: Recollect) -> None:
    ann = Principal(LOCAL_PRINCIPAL.tenant, "ann")
    first = memory.keys.create(ann, name="ci", request_id="r")
    before = state(memory), memory.keys.list()
    again = memory.keys.create(ann, name="ci", request_id="r")
    assert (again.secret, again.row) == (None, first.row)
    assert (state(memory), memory.keys.list()) == before
    assert first.secret is not None
    assert memory.keys.principal_for(first.secret).id == "ann"
    assert wire.issued(first).keys() == {"secret", "key"}
    assert "revoke this key" in wire.issued(again)["note"]
    with pytest.raises(RequestIdReused, match="another request"):
        memory.keys.create(ann, name="another", request_id="r")
    # One that was ended since is told as it is now.
    memory.keys.revoke(first.row.prefix)
    assert memory.keys.create(ann, name="ci", request_id="r").row.revoked_at is not None


def test_a_key_whose_request_comes_late_is_the_one_that_was_made(
    memory: Recollect, clock: FakeClock
) -> None:
    ann, soon = Principal(LOCAL_PRINCIPAL.tenant, "ann"), iso(clock.now() + 60)
    first = memory.keys.create(ann, expires_at=soon, request_id="r")
    clock.advance(hours=1)
    assert memory.keys.create(ann, expires_at=soon, request_id="r").row == first.row


def test_frames_that_changed_since_are_told_as_they_were(memory: Recollect) -> None:
    first = memory.frames.register("own", extends="task", token_budget=500, request_id="r")
    memory.frames.update("own", token_budget=600)
    assert memory.frames.register("own", extends="task", token_budget=500, request_id="r") == first
    memory.frames.delete("own", request_id="d")
    memory.frames.register("own", extends="task")
    memory.frames.delete("own", request_id="d")
    assert memory.frames.get("own").token_budget != 500


def test_a_touch_that_is_repeated_late_lets_nothing_hold_longer(
    memory: Recollect, clock: FakeClock
) -> None:
    assert memory.touch("lasting", request_id="r")
    until = memory.get("lasting")
    clock.advance(seconds=60)
    assert memory.touch("lasting", request_id="r")
    assert memory.get("lasting") == until
    memory.forget("lasting")
    with pytest.raises(RequestIdReused, match="forgotten since"):
        memory.touch("lasting", request_id="r")


def test_what_ended_since_waits_for_another_request(memory: Recollect, clock: FakeClock) -> None:
    first = memory.tidy(request_id="r")
    assert first.pak_ids == ("over",)
    clock.advance(hours=2)
    assert memory.tidy(dry_run=True, request_id="r").pak_ids == ("lasting",)
    assert memory.tidy(request_id="r") == first
    assert memory.tidy(request_id="another").pak_ids == ("lasting",)


def test_vectors_are_counted_by_the_request_that_began_to_make_them(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut off after its vectors are committed, before its answer is."""
    pending(memory)
    ask = OpenStore.fill_pending
    calls = iter([True, False])

    def cut_off(store: OpenStore, *args: Any, **more: Any) -> int:
        if not next(calls, True):
            raise KeyboardInterrupt
        return ask(store, *args, **more)

    monkeypatch.setattr(OpenStore, "fill_pending", cut_off)
    with pytest.raises(KeyboardInterrupt):
        memory.retry_pending(request_id="r")
    monkeypatch.undo()
    assert memory.stats()["pending"] == 0
    assert memory.retry_pending(request_id="r") == 1
    assert memory.retry_pending(request_id="r") == 1
    assert memory.retry_pending(request_id="another") == 0


@pytest.mark.parametrize("judge", ["promote", "reject"])
def test_a_judgement_is_made_once(memory: Recollect, judge: str) -> None:
    waiting = memory.quarantine.list()[0].pak_id
    getattr(memory.quarantine, judge)(waiting, request_id="r")
    before = state(memory)
    assert getattr(memory.quarantine, judge)(waiting, request_id="r") is None
    assert state(memory) == before
    with pytest.raises(RecollectError, match="in quarantine"):
        getattr(memory.quarantine, judge)(waiting, request_id="another")
    with pytest.raises(RequestIdReused, match="another request"):
        getattr(memory.quarantine, judge)("another", request_id="r")


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_an_id_that_stands_for_another_request_is_refused(memory: Recollect, verb: Verb) -> None:
    memory.remember("something else", request_id="r")
    before = state(memory)
    with pytest.raises(RequestIdReused, match="another request"):
        verb(memory, "r")
    assert state(memory) == before


def test_a_late_repeat_undoes_nothing_that_was_done_since(memory: Recollect) -> None:
    assert memory.archive("ada", request_id="a")
    assert memory.unarchive("ada")
    assert memory.archive("ada", request_id="a")
    assert memory.resolve("ada", "friday", request_id="s")
    memory.dispute("ada", "friday")
    assert memory.resolve("ada", "friday", request_id="s")
    gone = memory.forget("celery", request_id="f")
    memory.remember("Celery is back", pak_id="celery")
    assert memory.forget("celery", request_id="f") == gone
    assert memory.forget("nobody", request_id="n").pak_ids == ()
    memory.remember("somebody after all", pak_id="nobody")
    assert memory.forget("nobody", request_id="n").pak_ids == ()
    found = memory.get("ada"), memory.get("celery"), memory.get("nobody")
    assert [one and one.status for one in found] == ["active"] * 3
    assert len(memory.disputes()) == 1


def test_an_answer_about_an_entity_names_every_id_again(memory: Recollect) -> None:
    first = memory.forget(entity="Ada", request_id="f")
    assert first.pak_ids
    assert memory.forget(entity="Ada", request_id="f") == first


@pytest.mark.parametrize("verb", ["archive", "forget"])
def test_whether_another_has_such_a_memory_is_not_told_by_a_repeat(
    memory: Recollect, verb: str
) -> None:
    ann, bob = (
        memory.as_principal(Principal("acme", name, permissions=("read", "write")))
        for name in ("ann", "bob")
    )
    bob.remember("what bob keeps", pak_id="his")
    answers = []
    for target in ("his", "nowhere"):
        first = getattr(ann, verb)(target, request_id=target)
        bob.forget("his")
        again = getattr(ann, verb)(target, request_id=target)
        answers += [bool(first), bool(again)]
    assert answers == [False] * 4


def test_what_is_not_allowed_is_not_answered_from_before(memory: Recollect) -> None:
    ann = Principal("acme", "ann")
    memory.as_principal(ann).remember("a note", pak_id="note")
    reader = memory.as_principal(Principal("acme", "ann", permissions=("read",)))
    for verb in ("resolve", "forget", "archive", "unarchive", "ingest", "import_"):
        arguments: dict[str, Any] = {"request_id": verb}
        given: list[Any] = ["note"]
        if verb == "resolve":
            memory.as_principal(ann).remember("two", pak_id="two")
            given = ["note", "two"]
        elif verb == "ingest":
            given, arguments["source"] = [[{"content": "x"}]], "peer"
        elif verb == "import_":
            given = [LINES]
        getattr(memory.as_principal(ann), verb)(*given, **arguments)
        with pytest.raises(NotAllowed):
            getattr(reader, verb)(*given, **arguments)


def test_an_import_that_was_cut_off_goes_on_where_it_was(memory: Recollect) -> None:
    lines = [
        json.dumps({"kind": "memory", "pak_id": f"i{n}", "content": f"imported note {n}"})
        for n in range(700)
    ]
    lines.append(json.dumps({"kind": "link", "pak_id": "i0", "other": "i1", "weight": 0.5}))

    def stop(done: int, _: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.import_(lines, progress=stop, request_id="r")
    before = memory.stats()["revision"]
    reports = memory.import_(lines, request_id="r")
    assert all(report.created for report in reports)
    assert memory.stats()["revision"] == before + 2
    assert memory.import_(lines, request_id="r") == reports
    assert memory.stats()["revision"] == before + 2


def test_an_ingest_that_was_cut_off_goes_on_where_it_was(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts: list[Any] = [{"content": f"a peer's fact {n}"} for n in range(700)] + [{"content": 7}]
    whole = memory._open_store.commit_vectors
    calls = iter([True, False])

    def failing(embedder: Any, **how: Any) -> Any:
        if not next(calls):
            raise KeyboardInterrupt
        return whole(embedder, **how)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(memory._open_store, "commit_vectors", failing)
        memory.ingest(facts, source="peer", request_id="r")
    before = memory.stats()["revision"]
    done = memory.ingest(facts, source="peer", request_id="r")
    assert [one.state for one in done.items] == ["accepted"] * 700 + ["refused"]
    assert memory.stats()["revision"] == before + 1
    assert memory.ingest(facts, source="peer", request_id="r") == done


def test_a_whole_store_is_taken_in_once(memory: Recollect, tmp_path: Path) -> None:
    lines = list(memory.export(everything=True))
    with Recollect.open(tmp_path / "new.db", embedder=FakeEmbedder()) as other:
        first = other.import_(lines, request_id="r")
        assert other.import_(lines, request_id="r") == first
        assert other.stats()["revision"] == 1
        with pytest.raises(RequestIdReused, match="another request"):
            other.import_(LINES, request_id="r")


def test_what_was_ingested_and_forgotten_is_not_written_again(memory: Recollect) -> None:
    done = memory.ingest(FACTS, source="peer", request_id="r")
    memory.forget(str(done.items[0].pak_id))
    with pytest.raises(RequestIdReused, match="forgotten"):
        memory.ingest(FACTS, source="peer", request_id="r")


def test_neither_an_id_nor_a_refusal_stands_in_the_file_after_a_forget(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db", embedder=FakeEmbedder()) as memory:
        for name in ("secret-id-1", "secret-id-2"):
            memory.remember(f"{name} likes tea", pak_id=name, entity="Ann", request_id=name)
        memory.ingest([{"content": "x", "secret-field": 1}], source="peer", request_id="i")
        memory.archive("secret-id-1", request_id="a")
        gone = memory.forget(entity="Ann", request_id="f")
        assert gone.wiped
        assert len(gone.pak_ids) == 2
        held = [
            (path.name, word)
            for path in tmp_path.iterdir()
            for word in (b"secret-id", b"secret-field", b"likes tea")
            if word in path.read_bytes()
        ]
        assert held == []
        assert memory.forget(entity="Ann", request_id="f") == gone


def test_two_copies_that_get_the_same_request_part_all_the_same(tmp_path: Path) -> None:
    """Equal heads are equal data: a commit's id is not made from its request."""
    with Recollect.open(tmp_path / "a.db", embedder=FakeEmbedder(), clock=FakeClock()) as memory:
        memory.remember("before both")
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
    heads, knows = [], []
    for name, text in (("a.db", "the kettle is red"), ("b.db", "the kettle is blue")):
        with Recollect.open(tmp_path / name, embedder=FakeEmbedder(), clock=FakeClock()) as memory:
            memory.remember(text, request_id="r")
            store = memory._open_store.store
            heads.append(store.head())
            knows.append([store.state.knows(head) for head in heads])
    assert heads[0].revision == heads[1].revision
    assert heads[0] != heads[1]
    assert knows == [[True], [False, True]]


async def _twice(path: Path) -> list[object]:
    async with await AsyncRecollect.open(path, embedder=FakeEmbedder()) as memory:
        await memory.remember("a note", pak_id="note")
        answers: list[object] = [await memory.archive("note", request_id="a") for _ in range(2)]
        answers += [(await memory.forget("note", request_id="f")).pak_ids for _ in range(2)]
        return answers


def test_whoever_awaits_may_repeat_too(tmp_path: Path) -> None:
    assert asyncio.run(_twice(tmp_path / "a.db")) == [True, True, ("note",), ("note",)]
