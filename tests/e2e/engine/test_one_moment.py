"""An answer that is given while others write is the answer of one revision.

A history is written by another process while threads there and here ask. Afterwards it is written
again, alone, and each answer must be, byte for byte, one that was right at a revision between the
moment at which it was asked for and the moment at which it came.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.e2e.conftest import Start
from tests.e2e.engine.scripts.write_and_read import QUESTIONS, ask, opened, step

from recollect.model import canonical_json

Seen = list[tuple[int, int, int, str]]


def right_answers(path: Path, seed: int, steps: int) -> dict[int, list[str]]:
    """Write the history alone; return the answers at each of its revisions."""
    history, answers = random.Random(seed), dict[int, list[str]]()
    with opened(str(path)) as memory:
        for number in range(-1, steps):
            if number >= 0:
                step(memory, history, number)
            assert memory.stats()["revision"] == number + 1
            answers[number + 1] = [
                canonical_json(memory.recall(question, frame="attention")) for question in QUESTIONS
            ]
    return answers


def check(path: Path, start: Start, *, seed: int, steps: int) -> int:
    """Ask while another process writes; return how many answers came in the midst of it."""
    opened(str(path)).close()
    seen: Seen = []
    done = Event()
    with opened(str(path)) as memory:
        readers = [Thread(target=ask, args=(memory, seen, done)) for _ in range(2)]
        for reader in readers:
            reader.start()
        out, complaint = start("write_and_read.py", path, seed, steps).communicate()
        done.set()
        for reader in readers:
            reader.join()
        assert memory.check() == ()
    assert out, complaint
    seen += [tuple(one) for one in json.loads(out)]
    right = right_answers(path.with_name("alone.db"), seed, steps)
    for question, before, after, answer in seen:
        possible = [right[revision][question] for revision in range(before, after + 1)]
        assert answer in possible, (QUESTIONS[question], before, after)
    return sum(0 < before < steps for _, before, _, _ in seen)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_answer_amid_writes_is_the_answer_of_one_revision(
    seed: int, tmp_path: Path, start: Start
) -> None:
    assert check(tmp_path / "a.db", start, seed=seed, steps=60) > 0


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_answers_amid_long_histories_are_answers_of_one_revision(
    seed: int, tmp_path: Path, start: Start
) -> None:
    assert check(tmp_path / "a.db", start, seed=seed, steps=400) > 0
