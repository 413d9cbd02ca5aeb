"""What others do in secret moves no counter, queue, cache or position of mine; and the check finds
each channel that is opened on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.property.policy.asking import answer, answers
from tests.property.policy.channels import CHANNELS
from tests.property.policy.worlds import ANN, BOB, DAN, ROOT, World


@contextmanager
def lived(*, busy: bool) -> Iterator[World]:
    """Live through a day; in a busy one others do much that ann cannot read."""
    with TemporaryDirectory() as folder:
        here = World(Path(folder), links=False, receipts=False)
        try:
            _day(here, busy=busy)
            yield here
        finally:
            here.close()


def _day(here: World, *, busy: bool) -> None:
    hidden = range(40 if busy else 0)
    for number in hidden:
        here.act("dan", "remember", f"standup of globex {number}", thread="standup")
        here.act("dan", "trust.set", f"source {number}", 0.5)
    here.act("ann", "remember", "the queue moved", pak_id="moved", thread="standup")
    for number, text in enumerate(("redis began", "redis broke", "a queue of glass")):
        here.act("ann", "remember", text, pak_id=f"turn{number}", thread="trip")
    here.act("ann", "remember", "the queue moved", pak_id="moved", thread="trip")
    for pak_id, text in (("shared", "redis queue"), ("loser", "redis release")):
        here.act("bob", "remember", text, pak_id=pak_id, scope="company", confidence=0.4)
    here.act("bob", "remember", "redis released", pak_id="plan, final", scope="company")
    here.act("bob", "link", "shared", "plan, final", weight=0.5)
    here.act("bob", "dispute", "loser", "plan, final")
    for number in hidden[:5]:
        here.act("bob", "remember", f"redis queue redis queue {number}")
    if busy:
        here.act("bob", "remember", "no release", pak_id="plan")
        here.act("bob", "dispute", "loser", "plan")
    here.clock.advance(hours=1)
    here.act("bob", "frame", "attention", "redis queue", top_k=2)
    here.act("dan", "frame", "attention", "redis queue", top_k=2)
    here.act("ann", "frame", "self", "redis")
    for number in range(140 if busy else 0):
        here.act("dan", "frame", "self", f"question {number}")
    here.embedder.fail = True
    for number in hidden:
        here.act("dan", "remember", f"waiting {number}")
    here.act("ann", "remember", "redis waits", pak_id="waits")
    here.embedder.fail = False
    here.act("ann", "remember", "redis is back", pak_id="back")


def _told(here: World) -> dict[str, str]:
    memory, names = here.of(ANN), [name for name in here.ids() if name in _SEEN]
    told = {"cached": answer(lambda: memory.frame("self", "redis"))}
    told["retried"] = answer(memory.retry_pending)
    told.update(answers(memory, [*names, "nobody"]))
    told["explained"] = answer(lambda: memory.explain("loser", "redis release"))
    told["audit"] = answer(here.of(ROOT).audit)
    return told


_SEEN = ("back", "loser", "moved", "plan, final", "shared", "turn0", "turn1", "turn2", "waits")


def _differences() -> list[str]:
    with lived(busy=True) as full, lived(busy=False) as bare:
        assert set(full.hidden_from(ANN)) > set(bare.hidden_from(ANN))
        one, other = _told(full), _told(bare)
    assert one.keys() == other.keys()
    return [label for label in one if one[label] != other[label]]


def test_what_others_do_in_secret_moves_nothing_of_mine() -> None:
    assert _differences() == []


@pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)
def test_the_check_finds_a_channel_that_is_open(
    channel: Callable[[], AbstractContextManager[None]],
) -> None:
    with channel():
        assert _differences() != []


def test_those_who_act_in_secret_are_others() -> None:
    assert len({(one.tenant, one.id) for one in (ANN, BOB, DAN, ROOT)}) == 4
