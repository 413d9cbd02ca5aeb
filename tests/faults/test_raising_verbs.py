"""An interrupt at any line of any verb that writes: it happened or it did not, and life goes on.

Whatever recall answers afterwards is what a handle answers that was opened just now.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.faults.raising import Instants, Place, distinct, files, named
from tests.faults.verbs import VERBS, Verb, fill

from recollect import Recollect
from recollect.stores.sqlite.session import Session
from recollect.testing import FakeClock, FakeEmbedder

ALL = files("")
NUMBERS = count()
QUESTIONS = ("celery jobs", "who is ada", "deploy on friday")
# What is the same whenever and under whatever names it was written.
STATE = (
    "SELECT pak_id, content, status, reinforced, garden FROM memories ORDER BY pak_id",
    "SELECT pak_id, title FROM paks ORDER BY pak_id",
    "SELECT low, high, weight, automatic FROM memory_edges WHERE weight > 0 ORDER BY low, high",
    "SELECT low, high, note, is_open FROM memory_disputes ORDER BY low, high",
    "SELECT tenant, slug, name, tier FROM gardens ORDER BY slug",
    "SELECT slug, principal, role FROM garden_members ORDER BY slug, principal",
    "SELECT name, revoked_at FROM access_keys ORDER BY name",
    "SELECT source, trust FROM source_trust ORDER BY source",
    "SELECT name FROM memory_frames ORDER BY name",
    "SELECT act, target, detail FROM audit_log WHERE act != 'keys.create' ORDER BY number",
    "SELECT model_id FROM engine_state",
)


def opened(path: Path, **choices: Any) -> Recollect:
    return Recollect.open(path, clock=FakeClock(), **choices)


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seed") / "memory.db"
    with opened(path, embedder=FakeEmbedder(8)) as memory:
        fill(memory)
    return path


@contextmanager
def copy_of(seed: Path) -> Iterator[Recollect]:
    folder = seed.with_name(f"copy-{next(NUMBERS)}")
    folder.mkdir()
    with opened(Path(shutil.copy(seed, folder)), embedder=FakeEmbedder(8)) as memory:
        yield memory
    shutil.rmtree(folder)


def state_of(path: Path) -> list[object]:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        # Nobody is locked out.
        other.execute("BEGIN IMMEDIATE")
        return [other.execute(sql).fetchall() for sql in STATE]


def answers_of(memory: Recollect) -> list[object]:
    return [memory.recall(question).to_dict() for question in QUESTIONS]


def own_embedder(path: Path) -> FakeEmbedder:
    model = state_of(path)[-1]
    return FakeEmbedder(8) if model == [("fake",)] else FakeEmbedder(4, model_id="another")


def states_of(seed: Path, verb: Verb, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return the states that a verb goes through: one before it, and one after each commit."""
    plain = Session.commit
    with copy_of(seed) as memory, monkeypatch.context() as patch:
        path = memory.path
        states = [state_of(path)]

        @contextmanager
        def noted(self: Session, *names: str) -> Iterator[object]:
            with plain(self, *names) as commit:
                yield commit
            states.append(state_of(path))

        patch.setattr(Session, "commit", noted)
        verb(memory)
        return [*states, state_of(path)]


def life_goes_on(memory: Recollect, states: list[object]) -> None:
    path = memory.path
    assert state_of(path) in states
    memory.recall("jobs")
    with opened(path, embedder=own_embedder(path)) as fresh:
        assert answers_of(memory) == answers_of(fresh)
        assert memory.remember("It went on after that", pak_id="later").created
        assert fresh.get("later") is not None
        assert answers_of(memory) == answers_of(fresh)
        assert fresh.check() == ()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("most", [8, pytest.param(None, marks=pytest.mark.soak)])
def test_an_interrupt_at_any_line_leaves_a_handle_that_works(
    seed: Path,
    verb: str,
    most: int | None,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    call = VERBS[verb]
    states = states_of(seed, call, monkeypatch)
    instants = Instants(ALL, opcodes=False)
    with copy_of(seed) as memory:
        seen = instants.of(lambda: call(memory))
    chosen = first_times(seen, most)
    record_property("tried", len(chosen))
    for at in chosen:
        with copy_of(seed) as memory:
            with pytest.raises(KeyboardInterrupt):
                instants.raising(lambda memory=memory: call(memory), at, KeyboardInterrupt())  # type: ignore[misc]
            try:
                if verb == "close":
                    memory.close()
                    assert state_of(memory.path) in states
                else:
                    life_goes_on(memory, states)
            except BaseException as found:
                found.add_note(f"after an interrupt of {verb} at {named(seen[at])}")
                raise


PUBLISHING = files("index/follow.py", "paks/database.py", "stores/sqlite/session.py")
ERRORS = [KeyboardInterrupt, TimeoutError, asyncio.CancelledError, SystemExit, MemoryError]


@pytest.mark.parametrize("verb", ["remember", "forget", "frame"])
@pytest.mark.parametrize(
    ("error", "most"),
    [
        (KeyboardInterrupt, 30),
        (MemoryError, 10),
        *(pytest.param(error, None, marks=pytest.mark.soak) for error in ERRORS),
    ],
)
def test_an_exception_at_any_opcode_as_the_index_is_published_leaves_a_handle_that_works(
    seed: Path,
    verb: str,
    error: type[BaseException],
    most: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = VERBS[verb]
    states = states_of(seed, call, monkeypatch)
    instants = Instants(PUBLISHING, opcodes=True)
    with copy_of(seed) as memory:
        memory.recall("jobs")
        seen = instants.of(lambda: call(memory))
    for at in distinct(seen, most=most):
        with copy_of(seed) as memory:
            memory.recall("jobs")
            # Some verbs answer all the same: a frame whose use could not be counted says so.
            with suppress(error):
                instants.raising(lambda memory=memory: call(memory), at, error())  # type: ignore[misc]
            try:
                life_goes_on(memory, states)
            except BaseException as found:
                found.add_note(f"after {error.__name__} in {verb} at {named(seen[at])}")
                raise


def first_times(seen: list[Place], most: int | None) -> list[int]:
    """Return at which instants to raise: once at each line."""
    first = sorted({place: number for number, place in reversed(list(enumerate(seen)))}.values())
    if most is None or len(first) <= most:
        return first
    return [first[number * len(first) // most] for number in range(most)]
