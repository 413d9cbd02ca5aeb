"""What was held for one tenant stays right whatever another does, and is kept if it may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.policy import PERMISSIONS, Principal
from recollect.testing import FakeClock

ANN = Principal("acme", "ann", permissions=PERMISSIONS)
EVE = Principal("globex", "eve", permissions=PERMISSIONS)
QUESTIONS = ("who mends the pump?", "the pump of hall 3", "what did Bob say on Monday?")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with Recollect.open(tmp_path / "a.db", clock=FakeClock(), cache_file=False) as opened:
        for who, firm in ((ANN, "Acme"), (EVE, "Globex")):
            handle = opened.as_principal(who)
            handle.remember_many(
                {
                    "content": f"{firm}: the pump of hall {number} is mended by Bob, {number}.",
                    "pak_id": f"{who.tenant}-{number}",
                    "tags": ["pump"] if number % 2 else [],
                    "thread": "floor" if number < 4 else None,
                    "speaker": "Bob" if number < 4 else None,
                }
                for number in range(30)
            )
        yield opened


def answers(memory: Recollect) -> list[object]:
    ann = memory.as_principal(ANN)
    asked = [ann.recall(text).results for text in QUESTIONS]
    tagged = ann.recall("pump", tags=["pump"]).results
    return [*asked, tagged, ann.list().items]


def fresh(memory: Recollect) -> list[object]:
    """Return what somebody says who has just opened the file, and holds nothing yet."""
    with Recollect.open(memory.path, clock=FakeClock(), cache_file=False) as opened:
        return answers(opened)


CHANGES: dict[str, Callable[[Recollect], object]] = {
    "eve writes": lambda one: one.remember("The pump of hall 3 is Eve's."),
    "eve writes with a date to come": lambda one: one.remember(
        "The pump rests.", valid_from="2027-01-01", occurred_at="2024-05-06", speaker="Zoe"
    ),
    "eve forgets": lambda one: one.forget("globex-3"),
    "eve changes": lambda one: one.update("globex-4", content="Another pump of hall 4."),
    "eve supersedes": lambda one: one.supersede("globex-5", "globex-6"),
    "eve links": lambda one: one.link("globex-1", "globex-7", weight=0.9),
    "eve tells everybody": lambda one: one.remember(
        "The pump of hall 3 is on fire.", scope="public", pak_id="fire"
    ),
    "ann writes": lambda one: one.remember("The pump of hall 3 is mended by Ann."),
    "ann forgets": lambda one: one.forget("acme-3"),
    "ann changes": lambda one: one.update("acme-4", content="No pump in hall 4."),
    "ann supersedes": lambda one: one.supersede("acme-5", "acme-6"),
    "ann archives": lambda one: one.archive("acme-7"),
    "eve writes many": lambda one: one.remember_many(
        f"Pump {number} of Globex." for number in range(600)
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_after_any_change_the_answer_is_that_of_who_holds_nothing(
    memory: Recollect, change: str
) -> None:
    before = answers(memory)
    CHANGES[change](memory.as_principal(EVE if change.startswith("eve") else ANN))
    now = answers(memory)
    assert now == fresh(memory)
    if change in ("eve writes", "eve forgets", "eve changes", "eve supersedes", "eve links"):
        assert now == before


def test_all_changes_one_after_the_other(memory: Recollect) -> None:
    for name, change in CHANGES.items():
        change(memory.as_principal(EVE if name.startswith("eve") else ANN))
        assert answers(memory) == fresh(memory)


def test_a_neighbour_s_write_leaves_a_selection_as_it_is(memory: Recollect) -> None:
    follower = memory._open_store.follower
    ann, eve = memory.as_principal(ANN), memory.as_principal(EVE)

    def held() -> set[int]:
        known = follower.current().index._selections._known
        return {id(one.slots) for one in known.values()}

    ann.recall(QUESTIONS[0])
    before = held()
    eve.remember("Something of Eve's.")
    assert before & held()
    ann.remember("Something of Ann's.")
    assert not before & held()
