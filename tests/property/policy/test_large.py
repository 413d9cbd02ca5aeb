"""So many Paks that the best are chosen before they are compared: still nobody hidden counts."""

from __future__ import annotations

import random

import pytest
from tests.property.policy.worlds import ANN, World, world

WORDS = [f"word{number}" for number in range(300)]


def fill(here: World, *, visible: int, hidden: int) -> None:
    """Write what ann may read among much that she may not, some of it better."""
    draw = random.Random(4)
    items = [
        {
            "content": " ".join(["redis queue", *draw.choices(WORDS, k=draw.randint(2, 12))]),
            "pak_id": f"p{number:05d}",
            "confidence": draw.random(),
            "thread": draw.choice([None, None, "standup", "support"]),
            "tags": draw.choice([[], ["self/value"]]),
            "scope": "company" if number < visible else "local",
        }
        for number in range(visible + hidden)
    ]
    draw.shuffle(items)
    here.root.remember_many(items)
    for _ in range(200):
        one, other = draw.sample(items, 2)
        here.act("root", "link", one["pak_id"], other["pak_id"])
    for _ in range(40):
        here.act("root", "frame", "attention", "redis queue " + draw.choice(WORDS), top_k=20)


@pytest.mark.parametrize(("visible", "hidden"), [(2100, 900), (60, 2000)])
def test_choosing_before_comparing_tells_nothing(visible: int, hidden: int) -> None:
    with world(links=False, receipts=False) as here:
        fill(here, visible=visible, hidden=hidden)
        assert len(here.hidden_from(ANN)) == hidden
        here.compare(ANN, ids=[*here.ids()[:5], *here.ids()[-5:]])
