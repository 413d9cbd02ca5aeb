"""Threads, speakers and dates: they vanish where there are none, and hide what is hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.embed.quantise import quantise
from recollect.index import MemoryIndex
from recollect.index.selection import Selection
from recollect.model import Memory
from recollect.ports.store import Changes, Head, IndexRow
from recollect.recall import candidates
from recollect.recall.question import Question, ask
from recollect.recall.ranges import time_asked
from recollect.recall.recipe import NOTES
from recollect.recall.times import day_of
from recollect.testing import FakeEmbedder

DIMENSION = 8
EMBEDDER = FakeEmbedder(DIMENSION)
NOW = 1_686_700_000.0  # June 2023
WORDS = ("kiln", "glaze", "tea", "yesterday", "Ann", "bread", "?")
QUERIES = (
    "kiln",
    "What did Ann say about the kiln?",
    "When was the glaze ready?",
    "tea in May 2023",
    "Ann and Bob in May",
    "who are you",
    "kilnn and glzae",
    "kiln glaze",
)

memories = st.builds(
    Memory,
    pak_id=st.just(""),
    content=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    title=st.just(""),
    thread=st.sampled_from((None, "t1", "t1", "t2")),
    speaker=st.sampled_from((None, "Ann", "Bob")),
    occurred_at=st.sampled_from((None, "2023-05-08", "2023-06-02", "once")),
)
stores = st.lists(memories, max_size=12)
queries = st.sampled_from(QUERIES)


@pytest.fixture(params=[2000, 0], ids=["all compared", "only a pool"], autouse=True)
def _pooling(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_COMPARE_ALL", request.param)
        yield


def rows_of(store: list[Memory], *, threads: bool = True) -> list[IndexRow]:
    placed = [
        replace(one, pak_id=f"p{n:02d}", position=n if one.thread else None)
        if threads
        else Memory(pak_id=f"p{n:02d}", content=one.content, title="")
        for n, one in enumerate(store)
    ]
    vectors = EMBEDDER.embed_documents([one.content for one in placed]) if placed else []  # type: ignore[var-annotated]
    return [
        IndexRow(number, memory, quantise(vector))
        for number, (memory, vector) in enumerate(zip(placed, vectors, strict=True), 1)
    ]


def index_of(*batches: list[IndexRow]) -> MemoryIndex:
    index = MemoryIndex.empty(DIMENSION)
    for revision, rows in enumerate(batches, 1):
        index = index.after(Changes(Head(revision, None), rows, (), ()))
    return index


def asked(index: MemoryIndex, selection: Selection, query: str) -> Question:
    said = time_asked(query, day_of(NOW))
    return ask(query, embedder=EMBEDDER, index=index, selection=selection, asked=said)


def answer(index: MemoryIndex, selection: Selection, query: str) -> Mapping[str, Any]:
    """Return all that is found, column by column, by Pak id."""
    found = candidates.matching(
        index,
        asked(index, selection, query),
        selection=selection,
        reach=selection,
        seeds=50,
        always=np.empty(0, np.int64),
        only_similar=True,
    )
    names = index.pak_ids(found.slots)
    likeness = found.likeness
    columns = {
        name: json.dumps(column.tolist())
        for name in type(likeness).__slots__
        if name not in ("slots", "best") and (column := getattr(likeness, name)) is not None
    }
    best = [] if likeness.best is None else likeness.best  # type: ignore[var-annotated]
    return {
        "names": names,
        "columns": columns,
        "best": [None if slot < 0 else index.pak_ids(np.array([slot])) for slot in best],
    }


@given(stores, st.sets(st.integers(0, 11)), queries)
def test_what_is_hidden_changes_not_one_byte(
    store: list[Memory], hidden: set[int], query: str
) -> None:
    rows = rows_of(store)
    index = index_of(rows)
    mask = np.array([number not in hidden for number in range(len(rows))], dtype=np.bool_)
    twin = index_of([row for row, shown in zip(rows, mask, strict=True) if shown])

    seen = answer(index, index.select(view=mask), query)

    assert seen == answer(twin, twin.select(), query)


@given(stores, queries, st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(store: list[Memory], query: str, random: Any) -> None:
    rows = rows_of(store)
    shuffled = random.sample(rows, len(rows))
    at_once, one_by_one = index_of(rows), index_of(*([row] for row in shuffled))

    answers = [answer(index, index.select(), query) for index in (at_once, one_by_one)]

    assert answers[0] == answers[1]


@given(stores, queries)
def test_without_threads_speakers_and_dates_words_and_meaning_are_all(
    store: list[Memory], query: str
) -> None:
    index = index_of(rows_of(store, threads=False))
    found = answer(index, index.select(), query)["columns"]
    known = {"similarity", "lexical", "semantic", "time_words", "word_for_word"}
    assert found.keys() <= known
    assert ("semantic" in found) == bool(store)
    if store and found.keys() == {"similarity", "lexical", "semantic"}:
        lexical, semantic = (np.array(json.loads(found[name])) for name in ("lexical", "semantic"))
        mix = np.round(NOTES.meaning * semantic + NOTES.words * lexical, 9)
        assert json.loads(found["similarity"]) == [
            pytest.approx(value, abs=1e-8) if value <= 0.8 else ANY for value in mix.tolist()
        ]


@given(stores, memories, queries)
def test_a_note_beside_the_threads_is_compared_as_if_there_were_none(
    store: list[Memory], note: Memory, query: str
) -> None:
    alone = replace(note, thread=None, speaker=None, occurred_at=None)
    plain = [replace(one, thread=None) for one in store]
    with_threads = index_of(rows_of([alone, *store]))
    without = index_of(rows_of([alone, *plain]))

    values = [_of("p00", answer(index, index.select(), query)) for index in (with_threads, without)]

    assert values[0] == values[1]


def _of(pak_id: str, found: Mapping[str, Any]) -> float | None:
    if pak_id not in found["names"]:
        return None
    similarity: float = json.loads(found["columns"]["similarity"])[found["names"].index(pak_id)]
    return similarity
