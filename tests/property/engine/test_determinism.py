"""The same rows, question and clock give the same bytes, however the rows came to be there."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.house.snippets import ROOT
from tests.property.engine import rows
from tests.property.engine.asking import frames, opened, recalls

from recollect import Recollect
from recollect.model import canonical_json
from recollect.recall.pack import count_tokens

WRITTEN = "2025-12-31T00:00:00Z"

few = settings(max_examples=examples(20), deadline=None)


def fill(
    memory: Recollect,
    items: Sequence[dict[str, Any]],
    links: Sequence[tuple[int, int]] = (),
    disputes: Sequence[tuple[int, int]] = (),
    *,
    order: random.Random | None = None,
) -> None:
    """Write the rows, in another order if there is one to draw it from."""
    ids = [str(item["pak_id"]) for item in items]
    linked = [(ids[a % len(ids)], ids[b % len(ids)]) for a, b in links if ids]
    disputed = [(ids[a % len(ids)], ids[b % len(ids)]) for a, b in disputes if ids]
    if order is None:
        memory.remember_many(items, now=WRITTEN)
    else:
        order.shuffle(linked)
        order.shuffle(disputed)
        for item in order.sample(items, len(items)):
            memory.remember(**item, now=WRITTEN)
    for one, other in linked:
        if one != other and memory.get(one) and memory.get(other):
            memory.link(one, other, weight=0.5)
    for one, other in disputed:
        if one != other and memory.get(one) and memory.get(other):
            memory.dispute(one, other)


@few
@given(rows.items(25), rows.pairs(8), rows.pairs(4), st.randoms(use_true_random=False))
def test_any_order_of_writing_gives_the_same_answers(
    items: list[dict[str, Any]],
    links: list[tuple[int, int]],
    disputes: list[tuple[int, int]],
    order: random.Random,
) -> None:
    with opened(":memory:") as one, opened(":memory:") as other:
        fill(one, items, links, disputes)
        fill(other, items, links, disputes, order=order)
        assert recalls(one) == recalls(other)
        assert frames(one) == frames(other)
        assert recalls(one) == recalls(other)


@few
@given(rows.items(20), rows.pairs(6))
def test_reindexing_and_opening_again_change_no_answer(
    items: list[dict[str, Any]], links: list[tuple[int, int]]
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        with opened(path) as memory:
            fill(memory, items, links)
            before = recalls(memory)
            assert recalls(memory) == before
            memory.reindex()
            assert recalls(memory) == before
        with opened(path) as memory:
            assert recalls(memory) == before


def test_fresh_processes_give_the_same_bytes(tmp_path: Path) -> None:
    draw = random.Random(7)
    items = [
        {
            "content": " ".join(draw.choices(rows.WORDS, k=draw.randint(1, 8))),
            "pak_id": f"p{number:03d}",
            "tags": draw.sample(["self/value", "self/goal", "work/a"], k=draw.randint(0, 2)),
            "project": draw.choice([None, "shop"]),
            "confidence": draw.random(),
        }
        for number in range(300)
    ]
    links = [(draw.randrange(300), draw.randrange(300)) for _ in range(80)]
    printed = []
    for run, (seed, threads) in enumerate([("1", "1"), ("2", "2")]):
        path = tmp_path / f"{run}.db"
        with opened(path) as memory:
            fill(memory, items, links, order=random.Random(run))
        environment = {"PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads}
        printed.append(
            subprocess.run(
                [sys.executable, "-m", "tests.property.engine.asking", str(path)],
                cwd=ROOT,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
        )
    with opened(tmp_path / "here.db") as memory:
        fill(memory, items, links)
        here = [
            hashlib.sha256("\n".join(answers).encode()).hexdigest()
            for answers in (recalls(memory), frames(memory), recalls(memory))
        ]
    assert printed == [here, here]


@few
@given(
    rows.items(20),
    st.sampled_from(["self", "attention", "task", "evidence"]),
    st.sampled_from([None, "redis queue"]),
    st.integers(1, 60),
    st.integers(1, 8),
)
def test_only_guarantees_exceed_a_budget_and_then_the_answer_says_so(
    items: list[dict[str, Any]], frame: str, query: str | None, budget: int, top_k: int
) -> None:
    with opened(":memory:") as memory:
        fill(memory, items)
        result = memory.frame(frame, query, top_k=top_k, token_budget=budget)
        assert result.tokens_used == count_tokens(result.text)
        assert result.over_budget == (result.tokens_used > budget)
        firm = [block for block in result.blocks if block.guaranteed]
        if result.over_budget:
            assert len(firm) == len(result.blocks)
        assert len(result.blocks) <= max(top_k, len(firm))
        answer = memory.recall(query, frame=frame, top_k=top_k, token_budget=budget)
        if answer.tokens_used > budget:
            promised = set(memory.frames.get(frame).guarantees)
            assert all(promised & set(one.fact.tags) for one in answer.results)


@few
@given(rows.items(15), st.integers(1, 600), st.integers(1, 8), st.sampled_from([None, "queue"]))
def test_a_hit_is_the_miss_that_filled_it(
    items: list[dict[str, Any]], budget: int, top_k: int, query: str | None
) -> None:
    with opened(":memory:") as memory:
        fill(memory, items)
        miss = memory.frame("self", query, top_k=top_k, token_budget=budget)
        used = [one.reinforced for one in memory.list().items]
        hit = memory.frame("self", query, top_k=top_k, token_budget=budget)
        assert (miss.cached, hit.cached) == (False, True)
        assert canonical_json(replace(hit, cached=False)) == canonical_json(miss)
        assert [one.reinforced for one in memory.list().items] == used
