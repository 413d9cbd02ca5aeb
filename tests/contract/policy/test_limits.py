"""Every text that enters has a limit: at it, it passes; one character more, it is refused, at every
door in the same words, and nothing of it is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import pytest
from tests.contract.policy.conftest import People
from tests.house.test_sentences import tables

from recollect import Recollect, limits
from recollect.errors import InvalidInput, RecollectError
from recollect.hooks import AskUser
from recollect.hooks.sdk import ask_user, deny, modify
from recollect.limits import CHARACTERS, COUNTS, NAME_CHARACTERS, most_characters
from recollect.model import PERMISSIONS, FrameFilters, Memory, Principal, RecallRequest, Scope
from recollect.paks import (
    PakAnchorEntry,
    PakRelationEntry,
    ReasonCodeEntry,
    RiskFlagEntry,
)
from recollect.recall.select import SelectQuery

REMEMBERED = (
    "content",
    "pak_id",
    "title",
    "summary",
    "category",
    "project",
    "topic",
    "pak_type",
    "source",
    "authority",
    "entity",
    "relation",
    "value",
    "thread",
    "speaker",
    "occurred_at",
)
FROM_PEERS = [one for one in REMEMBERED if one not in ("pak_id", "pak_type", "source", "authority")]
BY_HOOKS = (
    "content",
    "title",
    "summary",
    "category",
    "namespace",
    "topic",
    "entity",
    "relation",
    "value",
)
COLUMNS = ("pak_id", "pak_type", "project", "topic", "source_type", "authority", "title", "summary")
TIME = "2026-05-11T12:00:00."


def of_length(field: str, more: int = 0) -> str:
    return "x" * (most_characters(field) + more)


def refused(call: Callable[[], object], field: str) -> None:
    """See a call refused with the limit, the field and a hint."""
    with pytest.raises(InvalidInput) as caught:
        call()
    most = most_characters(field)
    told = f"{field} has {most + 1:,} characters; the most is {most:,}."
    assert told in caught.value.message
    assert caught.value.hint


def line_of(**fields: Any) -> str:
    return json.dumps({"kind": "memory", "content": "a text", **fields})


def remember(memory: Recollect, given: dict[str, Any]) -> object:
    return memory.remember(**{"content": "a text", **given})


def remember_many(memory: Recollect, given: dict[str, Any]) -> object:
    return memory.remember_many([{"content": "a text", **given}])


def import_(memory: Recollect, given: dict[str, Any]) -> object:
    return memory.import_([line_of(**given)])


@pytest.mark.parametrize("door", [remember, remember_many, import_])
@pytest.mark.parametrize("field", REMEMBERED)
def test_a_field_of_a_memory_has_a_limit_at_each_door(
    people: People, door: Callable[[Recollect, dict[str, Any]], object], field: str
) -> None:
    refused(lambda: door(people.ann, {field: of_length(field, 1)}), field)
    assert people.ann.list().items == ()
    door(people.ann, {field: of_length(field)})
    (kept,) = people.ann.list().items
    assert getattr(kept, field) == of_length(field)


def test_each_text_of_a_memory_is_tried_here() -> None:
    texts = {name for name, hint in Memory.__annotations__.items() if hint in ("str", "str | None")}
    ours = {"created_at", "updated_at", "status", "valid_from", "valid_until", "superseded_by"}
    assert texts - ours == set(REMEMBERED)


@pytest.mark.parametrize("field", FROM_PEERS)
def test_a_field_of_a_fact_from_outside_has_a_limit(people: People, field: str) -> None:
    facts = [{"content": "a text", field: of_length(field, 1)}, {"content": "another"}]
    first, second = people.ann.ingest(facts, source="peer").items
    most = most_characters(field)
    assert first.error == f"{field} has {most + 1:,} characters; the most is {most:,}."
    assert first.hint
    assert (first.state, second.state) == ("refused", "accepted")
    (item,) = people.ann.ingest(
        [{"content": "a text", field: of_length(field)}], source="peer"
    ).items
    assert item.state == "accepted"


@pytest.mark.parametrize("field", BY_HOOKS)
@pytest.mark.usefixtures("patient_hooks")
def test_a_field_that_a_hook_replies_with_has_a_limit(people: People, field: str) -> None:
    known = {"namespace": "project"}.get(field, field)
    for more, action in ((1, "bad_reply"), (0, "modify")):
        delta = {field: of_length(known, more)}
        people.opener.hooks.register("pre_remember", lambda _, d=delta: modify(**d), name="long")
        report = people.ann.remember("a text")
        people.opener.hooks.unregister("long")
        assert [run["action"] for run in report.meta["hooks"]] == [action]
        memory = people.ann.get(report.pak_id)
        assert memory is not None
        assert (getattr(memory, known) == of_length(known)) == (action == "modify")


@pytest.mark.usefixtures("patient_hooks")
def test_the_reason_of_a_hook_is_cut(people: People) -> None:
    people.opener.hooks.register("pre_remember", lambda _: deny("x" * 10**6), name="no")
    with pytest.raises(RecollectError) as caught:
        people.ann.remember("a text")
    assert str(caught.value).count("x" * 100) == 20


@pytest.mark.usefixtures("patient_hooks")
def test_the_question_of_a_hook_is_cut(people: People) -> None:
    asked: list[str] = []

    def answer(question: AskUser) -> str:
        asked.append(question.prompt)
        return "y"

    people.opener.hooks.on_ask(answer)
    people.opener.hooks.register("pre_remember", lambda _: ask_user("x" * 10**6), name="ask")
    people.ann.remember("a text")
    assert asked == ["x" * 2_000]


def test_tags_have_a_limit_each_and_together(people: People) -> None:
    most, count = most_characters("tag"), COUNTS["tags of a memory"]
    refused(lambda: people.ann.remember("a", tags=["x" * (most + 1)]), "tag")
    with pytest.raises(InvalidInput, match=r"257 tags are too many; the most is 256\."):
        people.ann.remember("a", tags=[f"t{at}" for at in range(count + 1)])
    people.ann.remember("a", tags=["x" * most, *(f"t{at}" for at in range(count - 1))])


@pytest.mark.parametrize(
    "field", ["query", "entity", "relation", "source", "garden", "project", "thread", "speaker"]
)
def test_a_field_of_a_request_has_a_limit(people: People, field: str) -> None:
    asked = RecallRequest.from_dict({field: of_length(field, 1)})
    refused(lambda: people.ann.respond(asked), field)
    refused(lambda: people.ann.explain("a", asked), field)


def test_the_patterns_of_a_request_have_a_limit_each_and_together(people: People) -> None:
    refused(lambda: people.ann.recall("q", tags=["x" * (most_characters("tag") + 1)]), "tag")
    with pytest.raises(InvalidInput, match=r"257 tags are too many"):
        people.ann.recall("q", tags=["x%"] * 257)


ASKED: list[tuple[str, Callable[[People, str], object]]] = [
    ("query", lambda who, text: who.ann.frame("attention", text)),
    ("text", lambda who, text: who.ann.select(SelectQuery(text))),
    ("project", lambda who, text: who.ann.select(SelectQuery(project=text))),
    ("pak_type", lambda who, text: who.ann.select(SelectQuery(pak_type=text))),
    ("reason_code", lambda who, text: who.ann.select(SelectQuery(weights={text: 1.0}))),
    ("project", lambda who, text: who.ann.list(project=text)),
    ("cursor", lambda who, text: who.ann.list(cursor=text)),
    *(
        (field, lambda who, text, f=field, a=ask: a(who, **{f: text}))
        for field in ("thread", "speaker", "entity", "project", "source")
        for ask in (
            lambda who, **asked: who.ann.list(**asked),
            lambda who, **asked: who.ann.frame("attention", "q", **asked),
        )
    ),
    ("filter", lambda who, text: who.ann.list(filter={"thread": text})),
    ("filter", lambda who, text: list(who.ann.export(filter={"thread": {"in": [text]}}))),
    *(
        (field, lambda who, text, f=field: who.ann.forget(**{f: text}))
        for field in ("thread", "project", "tag", "owner", "source")
    ),
    ("pak_id", lambda who, text: who.ann.explain(text)),
    ("pak_id", lambda who, text: who.ann.archive(text)),
    ("pak_id", lambda who, text: who.ann.unarchive(text)),
    ("note", lambda who, text: who.ann.dispute("a", "b", note=text)),
    ("entity", lambda who, text: who.ann.forget(entity=text)),
    ("source", lambda who, text: who.ann.ingest([], source=text)),
    ("source", lambda who, text: who.root.trust.set(text, 0.5)),
    ("payload", lambda who, text: who.ann.ingest(text, source="peer")),
    ("request_id", lambda who, text: who.ann.remember("a", request_id=text)),
    ("request_id", lambda who, text: who.ann.remember_many(["a"], request_id=text)),
    ("request_id", lambda who, text: who.ann.link("a", "b", request_id=text)),
    ("request_id", lambda who, text: who.ann.dispute("a", "b", request_id=text)),
    ("name", lambda who, text: who.root.gardens.create("g", name=text)),
    ("principal", lambda who, text: who.root.gardens.remove("g", text)),
    ("name", lambda who, text: who.root.keys.create(Principal("acme", "x"), name=text)),
    ("garden", lambda who, text: who.ann.remember("a", garden=text)),
    ("team", lambda who, text: who.ann.remember("a", scope="team", team=text)),
    ("scope", lambda who, text: who.ann.remember("a", scope=cast("Scope", text))),
    (
        "tag_patterns",
        lambda who, text: who.root.frames.register(
            "f", extends="attention", filters=FrameFilters(tag_patterns=(text,))
        ),
    ),
    ("guarantees", lambda who, text: who.root.frames.update("own", guarantees=(text,))),
]


@pytest.mark.parametrize("number", range(len(ASKED)))
def test_what_a_verb_is_asked_has_a_limit(people: People, number: int) -> None:
    field, ask = ASKED[number]
    people.root.gardens.create("held")
    people.root.frames.register("own", extends="attention")
    acts = people.root.audit()
    refused(lambda: ask(people, of_length(field, 1)), field)
    assert people.root.audit() == acts


@pytest.mark.parametrize("word", ["principal", "slug", "frame"])
def test_short_names_have_limits_of_their_own(people: People, word: str) -> None:
    calls: dict[str, Callable[[], object]] = {
        "principal": lambda: people.root.gardens.add("g", "x" * 201),
        "slug": lambda: people.root.gardens.create("x" * 64),
        "frame": lambda: people.root.frames.register("x" * 64, extends="attention"),
    }
    with pytest.raises(InvalidInput) as caught:
        calls[word]()
    assert len(str(caught.value)) < 400


def test_names_of_who_and_where_have_as_many_characters_as_the_page_says(people: People) -> None:
    longest = Principal("t" * 200, "p" * 200, ("m" * 200,), PERMISSIONS)
    memory = people.opener.as_principal(longest)
    memory.gardens.create("g" * 63)
    memory.frames.register("f" * 63, extends="attention")
    memory.remember("a text", scope="team", team="m" * 200)
    for tenant, who, team in (("t" * 201, "p", "m"), ("t", "p" * 201, "m"), ("t", "p", "m" * 201)):
        with pytest.raises(InvalidInput):
            Principal(tenant, who, (team,))


def test_a_long_name_is_not_said_again(people: People) -> None:
    for call in (
        lambda text: people.ann.frame(text),
        lambda text: people.root.frames.register(text, extends="attention"),
        lambda text: people.ann.link(text, "b"),
        lambda text: people.ann.dispute(text, "b"),
        lambda text: people.mod.quarantine.promote(text),
        lambda text: people.root.gardens.members(text),
        lambda text: people.root.keys.principal_for(text),
    ):
        with pytest.raises(RecollectError) as caught:
            call("x" * 10**6)
        assert len(str(caught.value)) < 1_000


def test_numbers_of_things_have_limits(people: People) -> None:
    many: Iterable[Any] = ({"content": f"{at}"} for at in range(10**12))
    with pytest.raises(InvalidInput, match=r"10,001 facts are too many; the most is 10,000"):
        people.ann.ingest(many, source="peer")
    with pytest.raises(InvalidInput, match=r"10,001 ids are too many; the most is 10,000"):
        people.ann.forget([f"{at}" for at in range(10_001)])
    with pytest.raises(InvalidInput, match=r"1,001 weights are too many"):
        people.ann.select(SelectQuery(weights={f"{at}": 1.0 for at in range(1_001)}))
    with pytest.raises(InvalidInput, match="1,000"):
        people.ann.recall("q", top_k=1_001)


def test_a_time_has_a_limit(people: People) -> None:
    late = TIME + "0" * NAME_CHARACTERS + "Z"
    for call in (
        lambda: people.ann.remember("a", valid_until=late),
        lambda: people.ann.import_([line_of(valid_until=late)]),
        lambda: people.opener.paks.upsert_pak(
            pak_id="p",
            pak_type="t",
            source_type="s",
            authority="a",
            title="t",
            content_hash="h",
            now=late,
        ),
    ):
        with pytest.raises(InvalidInput, match=r"characters; the most is 1,000\."):
            call()


@pytest.mark.parametrize("field", COLUMNS)
def test_a_column_of_the_catalogue_has_a_limit(people: People, field: str) -> None:
    row = {
        "pak_id": "p",
        "pak_type": "t",
        "source_type": "s",
        "authority": "a",
        "title": "t",
        "content_hash": "h",
    }
    paks = people.opener.paks
    refused(lambda: paks.upsert_pak(**{**row, field: of_length(field, 1)}), field)
    assert list(paks.list_paks().items) == []
    paks.upsert_pak(**{**row, field: of_length(field)})


ATTACHED: dict[str, Callable[[Any, str], object]] = {
    "reason_code": lambda paks, text: paks.set_pak_reason_codes("p", [ReasonCodeEntry(text)]),
    "risk_flag": lambda paks, text: paks.set_pak_risk_flags("p", [RiskFlagEntry(text, "warn")]),
    "anchor_id": lambda paks, text: paks.set_pak_anchors("p", [PakAnchorEntry(text, "/a", "k")]),
    "source_path": lambda paks, text: paks.set_pak_anchors("p", [PakAnchorEntry("a", text, "k")]),
    "relation_type": lambda paks, text: paks.set_pak_relations("p", [PakRelationEntry("q", text)]),
}


@pytest.mark.parametrize("field", ATTACHED)
def test_what_is_attached_to_a_pak_has_a_limit(people: People, field: str) -> None:
    for name in ("p", "q"):
        people.opener.remember(f"text of {name}", pak_id=name)
    attach = ATTACHED[field]
    refused(lambda: attach(people.opener.paks, of_length(field, 1)), field)
    attach(people.opener.paks, of_length(field))


def test_patterns_and_categories_of_a_frame_have_a_limit_together(people: People) -> None:
    for number, field in enumerate(("tag_patterns", "categories")):
        for count in (257, 256):
            filters = {field: [f"t{at}" for at in range(count)]}
            if count == 257:
                with pytest.raises(InvalidInput, match=r"257 .* are too many; the most is 256"):
                    people.root.frames.register("f", extends="attention", filters=filters)
            else:
                people.root.frames.register(f"f{number}", extends="attention", filters=filters)


def test_the_note_of_an_imported_dispute_has_a_limit(people: People) -> None:
    lines = [line_of(pak_id="a"), line_of(pak_id="b", content="another")]
    dispute = {"kind": "dispute", "pak_id": "a", "other": "b", "note": of_length("note", 1)}
    refused(lambda: people.ann.import_([*lines, json.dumps(dispute)]), "note")
    assert people.ann.list().items == ()


def test_what_an_older_store_holds_stays_readable_and_goes_out_and_in(
    open_memory: Callable[..., Recollect],
) -> None:
    long = "x" * 50_000
    memory = open_memory("old.db")
    memory.remember("a text of old", pak_id="old")
    memory.remember("another text", pak_id="other")
    memory.dispute("old", "other")
    lines = list(memory.export(everything=True))
    memory.close()
    older = [_aged(line, long) for line in lines]
    restored = open_memory("restored.db")
    restored.import_(older)
    kept = restored.get("old")
    assert kept is not None
    assert (kept.speaker, kept.summary) == (long, long)
    assert "old" in {one.pak_id for one in restored.list().items}
    assert any(long in line for line in restored.export())
    again = open_memory("again.db")
    again.import_(list(restored.export(everything=True)))
    assert again.get("old") == kept
    assert again.disputes()[0].note == long


def _aged(line: str, long: str) -> str:
    fields = json.loads(line)
    if fields["kind"] == "memory" and fields["pak_id"] == "old":
        fields.update(speaker=long, summary=long, thread=long)
    if fields["kind"] == "dispute":
        fields.update(note=long)
    return json.dumps(fields, ensure_ascii=False, sort_keys=True)


def rows_under(header: str) -> dict[str, str]:
    """Return the first two cells of each row of a table of the page."""
    (rows,) = [rows for first, *rows in tables("docs/security.md") if first.startswith(header)]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {first: second for first, second, *_ in cells}


def printed(limits_of: Mapping[str, int]) -> dict[str, str]:
    return {name: f"{most:,}" for name, most in limits_of.items()}


def test_the_page_prints_the_table() -> None:
    characters = {f"`{field}`": most for field, most in CHARACTERS.items()}
    characters["any other name, id, code or time"] = NAME_CHARACTERS
    assert rows_under("| characters of |") == printed(characters)
    assert rows_under("| how many |") == printed(COUNTS)
    assert rows_under("| of | count |") == printed(
        {
            "distinct words of a question": limits.WORDS_ASKED,
            "times that a question names": limits.TIMES_NAMED,
            "speakers that a question names": limits.PEOPLE_NAMED,
            "results that look alike and say something else": limits.ALIKE_COMPARED,
            "candidates that are looked at for who says the same": limits.LOOKED_AT,
            "candidates that `diversity` spreads by meaning": limits.NOVELTY_COMPARED,
        }
    )
