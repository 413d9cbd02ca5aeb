"""`syntax="fts5"` finds what SQLite's own MATCH finds, and refuses what it refuses."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recollect.errors import InvalidInput
from recollect.paks import RecallStore
from recollect.paks.catalogue import PakCatalogue
from recollect.paks.expression import MAX_NESTING
from recollect.paks.words import MAX_CHARACTERS, MAX_WORDS
from recollect.recall.select import SelectQuery, select
from recollect.stores.memory.catalogue import MemoryCatalogue

EXPRESSIONS = 500
BROKEN = 500
CATALOGUES = 20
PAKS = 40
WORDS = ("red", "redis", "reduce", "queue", "café", "Cafe", "x", "y", "foo.py", "naïve", "not")
SIGNS = "()\"{}:,+*-^ .;\\'"
NOW = "2026-05-11T12:00:00Z"


def phrase(dice: random.Random) -> str:
    """Return a word or several, bare, quoted or concatenated, perhaps as a prefix."""
    kind = dice.random()
    if kind < 0.5:
        text = dice.choice([word for word in WORDS if "." not in word])
    elif kind < 0.85:
        text = '"' + " ".join(dice.choices(WORDS, k=dice.randrange(1, 4))) + '"'
    elif kind < 0.9:
        text = dice.choice(['""', '"."', '"a ""b"" red"'])
    else:
        return f"{phrase(dice)} + {phrase(dice)}"
    return text + dice.choice(["", "", "", "*", " *"])


def nearset(dice: random.Random) -> str:
    kind = dice.random()
    if kind < 0.7:
        return phrase(dice)
    if kind < 0.8:
        return f"^{phrase(dice)}"
    inside = " ".join(phrase(dice) for _ in range(dice.randrange(1, 4)))
    return f"NEAR({inside}{dice.choice(['', ', 0', ', 1', ',3', ', 99999999999'])})"


def fields(dice: random.Random) -> str:
    name = ["title", "summary", '"Title"', "pak_id"]
    named = dice.choice([dice.choice(name), "{" + " ".join(dice.choices(name, k=2)) + "}"])
    return dice.choice(["", "- "]) + named + dice.choice([":", " : "])


def expression(dice: random.Random, depth: int = 3) -> str:
    kind = dice.random()
    if depth == 0 or kind < 0.35:
        parts = [
            (fields(dice) if dice.random() < 0.25 else "") + nearset(dice)
            for _ in range(dice.choice([1, 1, 1, 2, 3]))
        ]
        return " ".join(parts)
    if kind < 0.8:
        operator = dice.choice([" AND ", " OR ", " NOT "])
        return operator.join(expression(dice, depth - 1) for _ in range(dice.randrange(2, 4)))
    inside = f"({expression(dice, depth - 1)})"
    return fields(dice) + inside if dice.random() < 0.4 else inside


def broken(dice: random.Random) -> str:
    """Return an expression with a few characters too many, too few or in other places."""
    text = list(expression(dice))
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(text) + 1)
        if dice.random() < 0.5:
            text.insert(at, dice.choice([*SIGNS, " AND ", " NEAR", "nope:"]))
        elif text:
            del text[min(at, len(text) - 1)]
    return "".join(text)


def fill(store: PakCatalogue, dice: random.Random) -> None:
    def text() -> str:
        return " ".join(dice.choices(WORDS, k=dice.randrange(1, 9)))

    store.upsert_paks(
        {
            "pak_id": f"p{number}",
            "pak_type": "note",
            "source_type": "doc",
            "authority": "human",
            "title": text(),
            "summary": dice.choice([text(), ""]),
            "content_hash": str(number),
            "now": NOW,
        }
        for number in range(PAKS)
    )


@pytest.fixture(scope="module")
def catalogues() -> Iterator[list[tuple[RecallStore, MemoryCatalogue]]]:
    pairs = []
    for seed in range(CATALOGUES):
        pair = (RecallStore.open(":memory:"), MemoryCatalogue())
        for store in pair:
            fill(store, random.Random(seed))
        pairs.append(pair)
    yield pairs
    for store, _ in pairs:
        store.close()


def asked(store: PakCatalogue, text: str) -> set[str] | None:
    """Return what a selection finds, None if it refuses."""
    query = SelectQuery(text, syntax="fts5", limit=PAKS, now=NOW)
    try:
        return {score.pak_id for score in select(store, query).scores}
    except InvalidInput as error:
        assert error.hint
        assert "character" in str(error)
        return None


def matched(store: RecallStore, text: str) -> set[str] | None:
    """Return what SQLite finds, None if it refuses."""
    try:
        found = store.conn.execute("SELECT pak_id FROM paks_fts WHERE paks_fts MATCH ?", (text,))
        return {name for (name,) in found}
    except sqlite3.OperationalError:
        return None


@pytest.mark.parametrize(
    ("make", "count"), [(expression, EXPRESSIONS), (broken, BROKEN)], ids=["well formed", "broken"]
)
def test_it_finds_and_refuses_what_match_does(
    catalogues: list[tuple[RecallStore, MemoryCatalogue]],
    make: Callable[[random.Random], str],
    count: int,
) -> None:
    dice, refused, found = random.Random(5), 0, 0
    for number in range(count):
        text = make(dice)
        # SQLite's own special queries, and no text at all, which is no question here.
        if text.lstrip().startswith("*") or not text.strip():
            continue
        store, plain = catalogues[number % CATALOGUES]
        expected = matched(store, text)
        assert asked(store, text) == expected, text
        assert asked(plain, text) == expected, text
        refused += expected is None
        found += bool(expected)
    # What is well formed is never refused; of both kinds enough show what they are for.
    assert (found > count / 3 and not refused) if make is expression else refused > count / 3


def test_what_may_not_be_read_changes_not_one_byte(
    catalogues: list[tuple[RecallStore, MemoryCatalogue]],
) -> None:
    dice = random.Random(7)
    for store, plain in catalogues[:3]:
        readable = {f"p{number}" for number in range(PAKS) if dice.random() < 0.6}
        without = MemoryCatalogue()
        fields = [row._asdict() for row in plain.iter_paks() if row.pak_id in readable]
        without.upsert_paks(
            {name: value for name, value in row.items() if not name.endswith("ed_at")}
            | {"now": row["updated_at"]}
            for row in fields
        )
        for _ in range(20):
            query = SelectQuery(expression(dice), syntax="fts5", limit=PAKS, now=NOW)
            expected = select(without, query).to_dict()
            assert select(store, query, readable=readable).to_dict() == expected
            assert select(plain, query, readable=readable).to_dict() == expected


@pytest.fixture
def store() -> Iterator[RecallStore]:
    with RecallStore.open(":memory:") as opened:
        fields = {"pak_type": "note", "source_type": "doc", "authority": "human", "now": NOW}
        for pak_id, title in {"a": "redis queue", "b": "redis", "c": "reduce", "d": "kiln"}.items():
            opened.upsert_pak(pak_id=pak_id, title=title, content_hash=pak_id, **fields)
        yield opened


def picked(store: RecallStore, text: str, **query: Any) -> list[str]:
    wanted = SelectQuery(text, syntax="fts5", now=NOW, **query)
    return [score.pak_id for score in select(store, wanted).scores]


def test_plain_words_stay_the_default(store: RecallStore) -> None:
    plain = select(store, SelectQuery("redis NOT queue", now=NOW))
    assert [score.pak_id for score in plain.scores] == ["a", "b"]
    assert picked(store, "redis NOT queue") == ["b"]


def test_what_matches_is_scored_by_the_terms_that_speak_for_it(store: RecallStore) -> None:
    result = select(store, SelectQuery("red* NOT kiln", syntax="fts5", now=NOW))
    assert {score.pak_id for score in result.scores} == {"a", "b", "c"}
    for score in result.scores:
        assert "matches 'red*'" in score.why
        assert score.parts["fts"] > 0
    (best,) = select(store, SelectQuery("redis AND queue", syntax="fts5", now=NOW)).scores
    assert best.parts["fts"] == 1.0
    assert "matches 'queue', 'redis'" in best.why


def test_filters_bring_in_what_the_expression_does_not(store: RecallStore) -> None:
    result = select(store, SelectQuery("queue", syntax="fts5", pak_type="note", now=NOW))
    assert len(result.scores) == 4
    assert [score.pak_id for score in result.scores if score.parts["fts"]] == ["a"]


def test_no_text_is_no_question_and_the_newest_are_taken(store: RecallStore) -> None:
    assert picked(store, "  ", limit=2) == ["d", "c"]


@pytest.mark.parametrize(
    ("text", "at", "what"),
    [
        ("redis AND", 10, "missing at the end"),
        ('"redis', 1, "never closed"),
        ("redis (queue)", 1, "before a parenthesis"),
        ("(redis) queue", 9, "cannot stand here"),
        ("red.is", 4, "no part of the language"),
        ("body : redis", 1, "no field 'body'"),
        ("NEAR(redis queue, soon)", 19, "no number of words"),
        ("(" * (MAX_NESTING + 1) + "x" + ")" * (MAX_NESTING + 1), MAX_NESTING + 1, "are open"),
        ("x " * (MAX_WORDS + 1), 2 * MAX_WORDS + 1, "more than 200 words"),
    ],
)
def test_a_malformed_one_is_refused_with_its_place(
    store: RecallStore, text: str, at: int, what: str
) -> None:
    with pytest.raises(InvalidInput, match=what) as caught:
        picked(store, text)
    assert f"from character {at} on" in str(caught.value)
    assert caught.value.hint


def test_the_deepest_nesting_and_the_longest_text_are_read(store: RecallStore) -> None:
    assert picked(store, "(" * MAX_NESTING + "redis" + ")" * MAX_NESTING) == ["b", "a"]
    assert picked(store, " NOT ".join(["redis", *["kiln"] * (MAX_WORDS - 1)])) == ["b", "a"]
    with pytest.raises(InvalidInput, match="at most"):
        picked(store, "x" * (MAX_CHARACTERS + 1))
    for endless in ("(", "NOT ", "-", "{", "^", "a:", "a+", "NEAR("):
        with pytest.raises(InvalidInput):
            picked(store, endless * (MAX_CHARACTERS // len(endless)))


def test_another_syntax_is_refused(store: RecallStore) -> None:
    with pytest.raises(InvalidInput, match="syntax must be plain or fts5"):
        select(store, SelectQuery("redis", syntax="sql", now=NOW))  # type: ignore[arg-type]
