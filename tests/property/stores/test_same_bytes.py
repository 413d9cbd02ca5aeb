"""Two stores that went through the same history answer alike, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from tests.examples import examples
from tests.property.stores.histories import PRINCIPALS, Act, histories, outcome, questions

from recollect import Recollect
from recollect.testing import FakeClock, FakeEmbedder


@contextmanager
def opened(place: str) -> Iterator[tuple[list[Recollect], FakeClock]]:
    """Open a store and give a handle for each principal, and the clock they share."""
    clock = FakeClock()
    with Recollect.open(place, clock=clock, embedder=FakeEmbedder(16), receipts=True) as memory:
        yield [memory if one is None else memory.as_principal(one) for one in PRINCIPALS], clock


@settings(max_examples=examples(20))
@given(histories())
def test_a_store_in_memory_gives_the_bytes_of_a_file(history: list[Act]) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        ours, our_clock = stack.enter_context(opened("memory://"))
        theirs, their_clock = stack.enter_context(opened(str(folder / "agent.db")))
        for act in history:
            assert outcome(act, ours[act.who]) == outcome(act, theirs[act.who]), act
            for clock in (our_clock, their_clock):
                clock.advance(hours=0.1)
        for one, other in zip(ours, theirs, strict=True):
            for question in questions():
                assert outcome(question, one) == outcome(question, other)
