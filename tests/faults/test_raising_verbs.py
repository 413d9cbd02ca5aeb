"""An interrupt at any line of any verb that writes: it happened or it did not, and life goes on.

Whatever recall answers afterwards is what a handle answers that was opened just now.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.faults.raising import Instants, Place, distinct, files, named
from tests.faults.verbs import VERBS, Verb, fill

from recollect import Recollect
from recollect.stores.memory.session import Session as MemorySession
from recollect.stores.sqlite.session import Session
from recollect.testing import FakeClock, FakeEmbedder

ALL = files("")
NUMBERS = count()
# So often a handle is opened although what it answers is known.
_LOOK_AGAIN = 10
QUESTIONS = ("celery jobs", "who is ada", "deploy on friday")
# What is the same whenever and under whatever names it was written.
STATE = (
    "SELECT pak_id, content, status, reinforced, garden FROM memories ORDER BY pak_id",
    "SELECT pak_id, title FROM paks ORDER BY pak_id",
    "SELECT low, high, weight, automatic FROM memory_edges WHERE weight > 0 ORDER BY low, high",
    "SELECT low, high, note, is_open FROM memory_disputes ORDER BY low, high",
    "SELECT row_id, principal, reinforced FROM memory_uses ORDER BY row_id, principal",
    "SELECT low, high, principal, uses FROM link_uses ORDER BY low, high, principal",
    "SELECT tenant, slug, name, tier FROM gardens ORDER BY slug",
    "SELECT slug, principal, role FROM garden_members ORDER BY slug, principal",
    "SELECT name, revoked_at FROM access_keys ORDER BY name",
    "SELECT source, trust FROM source_trust ORDER BY source",
    "SELECT name FROM memory_frames ORDER BY name",
    "SELECT act, target, detail FROM audit_log WHERE act != 'key.create' ORDER BY number",
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


def state_of(path: Path) -> list[list[tuple[object, ...]]]:
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


class Fresh:
    """What handles answer that were opened just now; of the same state always the same."""

    def __init__(self) -> None:
        self._known: dict[str, list[object]] = {}
        self._asked = 0

    def answers_of(self, path: Path) -> list[object]:
        """Return the answers of a new handle; now and then one is opened for a known state too."""
        self._asked += 1
        state = repr((state_of(path), revision_of(path)))
        if state not in self._known or self._asked % _LOOK_AGAIN == 0:
            with opened(path, embedder=own_embedder(path)) as fresh:
                self._known[state] = answers_of(fresh)
                assert fresh.check() == ()
        return self._known[state]


def revision_of(path: Path) -> int:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        return int(other.execute("SELECT revision FROM engine_state").fetchone()[0])


def life_goes_on(memory: Recollect, states: list[object], fresh: Fresh) -> None:
    path = memory.path
    assert state_of(path) in states
    assert answers_of(memory) == fresh.answers_of(path)
    assert memory.remember("It went on after that", pak_id="later").created
    assert any(row[0] == "later" for row in state_of(path)[0])
    assert answers_of(memory) == fresh.answers_of(path)
    assert memory.check() == ()


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
    chosen, fresh = first_times(seen, most), Fresh()
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
                    life_goes_on(memory, states, fresh)
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
    record_property: Callable[[str, object], None],
) -> None:
    call = VERBS[verb]
    states = states_of(seed, call, monkeypatch)
    instants = Instants(PUBLISHING, opcodes=True)
    with copy_of(seed) as memory:
        memory.recall("jobs")
        seen = instants.of(lambda: call(memory))
    chosen, fresh = distinct(seen, most=most), Fresh()
    record_property("tried", len(chosen))
    for at in chosen:
        with copy_of(seed) as memory:
            memory.recall("jobs")
            # Some verbs answer all the same: a frame whose use could not be counted says so.
            with suppress(error):
                instants.raising(lambda memory=memory: call(memory), at, error())  # type: ignore[misc]
            try:
                life_goes_on(memory, states, fresh)
            except BaseException as found:
                found.add_note(f"after {error.__name__} in {verb} at {named(seen[at])}")
                raise


def in_memory() -> Recollect:
    memory = Recollect.open("memory://", clock=FakeClock(), embedder=FakeEmbedder(8))
    fill(memory)
    return memory


def exported(memory: Recollect) -> list[str]:
    """Return all that a store holds, but for what is drawn at random."""
    lines = (json.loads(line) for line in memory.export(everything=True))
    held = [json.dumps(line, sort_keys=True) for line in lines if line["kind"] != "store"]
    acts = [(one.act, one.target, one.detail) for one in memory.audit(limit=100)]
    named = [one.name for one in memory.keys.list()]
    return [*held, repr(named), repr([one for one in acts if one[0] != "key.create"])]


def states_in_memory(verb: Verb, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    plain = MemorySession.commit
    memory = in_memory()
    states = [exported(memory)]
    with monkeypatch.context() as patch:

        @contextmanager
        def noted(self: MemorySession, *names: str) -> Iterator[object]:
            with plain(self, *names) as commit:
                yield commit
            states.append(exported(memory))

        patch.setattr(MemorySession, "commit", noted)
        verb(memory)
    return [*states, exported(memory)]


def goes_on_in_memory(memory: Recollect, states: list[list[str]]) -> None:
    assert exported(memory) in states
    answered: list[object] = []

    def elsewhere() -> None:
        answered.append(memory.remember("It went on after that", pak_id="later").created)

    thread = threading.Thread(target=elsewhere, daemon=True)
    thread.start()
    thread.join(10)
    assert answered == [True], "nobody is locked out"
    assert memory.get("later") is not None
    assert "later" in [one.fact.pak_id for one in memory.recall("it went on after that").results]
    assert memory.check() == ()
    assert memory.forget("later")
    assert exported_texts(memory) in [texts_in(state) for state in states]


def exported_texts(memory: Recollect) -> list[str]:
    return texts_in(exported(memory))


def texts_in(state: list[str]) -> list[str]:
    return sorted(line for line in state if '"kind": "memory"' in line)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "close"])
@pytest.mark.parametrize("most", [8, pytest.param(None, marks=pytest.mark.soak)])
def test_an_interrupt_at_any_line_leaves_a_store_in_memory_that_works(
    verb: str,
    most: int | None,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    call, instants = VERBS[verb], Instants(ALL, opcodes=False)
    states = states_in_memory(call, monkeypatch)
    memory = in_memory()
    seen = instants.of(lambda: call(memory))
    chosen = first_times(seen, most)
    record_property("tried", len(chosen))
    for at in chosen:
        memory = in_memory()
        with pytest.raises(KeyboardInterrupt):
            instants.raising(lambda memory=memory: call(memory), at, KeyboardInterrupt())  # type: ignore[misc]
        try:
            goes_on_in_memory(memory, states)
        except BaseException as found:
            found.add_note(f"after an interrupt of {verb} at {named(seen[at])}")
            raise


def first_times(seen: list[Place], most: int | None) -> list[int]:
    """Return at which instants to raise: once at each line."""
    first = sorted({place: number for number, place in reversed(list(enumerate(seen)))}.values())
    if most is None or len(first) <= most:
        return first
    return [first[number * len(first) // most] for number in range(most)]
