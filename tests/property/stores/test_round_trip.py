"""An export of a whole store, taken in and exported again, is the same bytes."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from tests.examples import examples
from tests.property.stores.histories import PRINCIPALS, Act, histories, outcome, questions
from tests.property.stores.test_same_bytes import opened

from recollect import Recollect
from recollect.errors import RecollectError


@settings(max_examples=examples(20))
@given(histories())
def test_what_a_whole_store_exports_comes_back_as_the_same_bytes(history: list[Act]) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        (here, *others), clock = stack.enter_context(opened(str(folder / "here.db")))
        for act in history:
            with suppress(RecollectError):
                act([here, *others][act.who])
            clock.advance(hours=0.1)
        lines = list(here.export(everything=True))
        (in_memory, *_), twin_clock = stack.enter_context(opened("memory://"))
        twin_clock.advance(seconds=clock.now() - twin_clock.now())
        in_memory.import_(lines)
        assert list(in_memory.export(everything=True)) == lines
        (there, *_), there_clock = stack.enter_context(opened(str(folder / "there.db")))
        there_clock.advance(seconds=clock.now() - there_clock.now())
        there.import_(in_memory.export(everything=True))
        assert list(there.export(everything=True)) == lines
        assert there.check() == in_memory.check() == here.check()
        _same_answers(here, there)


def _same_answers(here: Recollect, there: Recollect) -> None:
    """Whoever asks is answered alike, but for what no export holds."""
    for principal in PRINCIPALS:
        one, other = (m if principal is None else m.as_principal(principal) for m in (here, there))
        for number, question in enumerate(questions()):
            answers = [outcome(question, memory) for memory in (one, other)]
            if not any('"revision"' in said or '"act"' in said for said in answers):
                assert answers[0] == answers[1], number
