"""An interrupt at any line of any verb that writes: it happened or it did not, and life goes on.

Whatever recall answers afterwards is what a handle answers that was opened just now.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.faults.raising import Instant, Instants, distinct, files, first_times, told
from tests.faults.verbs import ASKED_BEFORE, DAMAGE, VERBS, Verb, seed, seeded

from recollect import Recollect
from recollect.model import RecallResponse
from recollect.stores.memory.session import Session as MemorySession
from recollect.stores.sqlite.session import Session
from recollect.testing import FakeClock, FakeEmbedder

soak = pytest.mark.soak
# What values are compared and filled by is made once in a process, whatever handle needs it first.
ALL = [file for file in files("") if file.name != "values.py"]
NUMBERS = count()
# So often a handle is opened although what it answers is known.
_LOOK_AGAIN = 10
# So many interrupts one handle has to bear before it is looked at from all sides.
_IN_A_ROW = 5
QUESTIONS = ("celery jobs, and who is ada", "never on friday")
# What is drawn at random, by table; the rest of every table is compared.
DRAWN = {
    "engine_state": {"store_id", "commit_id", "committing", "unwiped"},
    "commits": {"commit_id", "seal"},
    "access_keys": {"prefix", "digest"},
    "receipts": {"commit_id", "seal"},
    "audit_log": {"target"},
}
BESIDES = (
    "SELECT unwiped IS NULL FROM engine_state",
    "SELECT target FROM audit_log WHERE act != 'key.create' ORDER BY tenant, number",
)

Opened = Callable[[], AbstractContextManager[Recollect]]
State = tuple[tuple[Any, ...], ...]


def opened(path: Path, **choices: Any) -> Recollect:
    return Recollect.open(path, clock=FakeClock(), **choices)


@contextmanager
def copy_of(original: Path) -> Iterator[Recollect]:
    folder = original.with_name(f"copy-{next(NUMBERS)}")
    folder.mkdir()
    with opened(Path(shutil.copy(original, folder)), embedder=FakeEmbedder(8)) as memory:
        yield memory
    shutil.rmtree(folder)


@contextmanager
def asked_copy_of(original: Path) -> Iterator[Recollect]:
    """Give a handle that has an index already."""
    with copy_of(original) as memory:
        memory.recall("jobs")
        yield memory


def state_of(path: Path) -> State:
    """Return all rows of a file, but for what is drawn at random; nobody is locked out of it."""
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        return tuple(tuple(other.execute(sql)) for sql in everything())


@cache
def everything() -> tuple[str, ...]:
    """Return the statements that read every table of the engine and of the catalogue."""
    with closing(Recollect.open(":memory:", embedder="none")) as memory:
        conn = memory.paks.conn
        named = conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        # Full text is compared by `check`: its pages may be merged at any time.
        tables = [
            name for (name,) in named.fetchall() if not name.startswith(("paks_fts", "sqlit"))
        ]
        columns = {
            table: [row[1] for row in conn.execute(f"PRAGMA table_info({table})")]
            for table in tables
        }
    wanted = {
        table: [one for one in columns[table] if one not in DRAWN.get(table, ())]
        for table in tables
    }
    return (
        *(
            f"SELECT {', '.join(names)} FROM {table} ORDER BY {', '.join(names)}"
            for table, names in wanted.items()
        ),
        *BESIDES,
    )


def answers_of(memory: Recollect) -> list[RecallResponse]:
    return [memory.recall(question) for question in QUESTIONS]


@dataclass(frozen=True)
class Case:
    """A verb, the file that it is called on, and the states that it goes through."""

    verb: str
    call: Verb
    original: Path
    states: tuple[State, ...]
    problems: frozenset[str]


def case_of(verb: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Look at what a verb does undisturbed: the state before it, and after each commit."""
    call, original, plain = VERBS[verb], seeded(folder, verb), Session.commit
    with copy_of(original) as memory, monkeypatch.context() as patch:
        path, problems = memory.path, frozenset(memory.check())
        states = [state_of(path)]

        @contextmanager
        def noted(self: Session, *names: str) -> Iterator[object]:
            with plain(self, *names) as commit:
                yield commit
            states.append(state_of(path))

        patch.setattr(Session, "commit", noted)
        call(memory)
        states.append(state_of(path))
    assert bool(problems) == (verb in DAMAGE)
    return Case(verb, call, original, tuple(states), problems)


class Fresh:
    """What handles say that were opened just now; of the same state always the same."""

    def __init__(self, problems: frozenset[str]) -> None:
        self._problems = problems
        self._known: dict[State, list[RecallResponse]] = {}
        self._asked = 0

    def agrees(self, memory: Recollect, state: State) -> None:
        """Compare a handle with a new one; for a known state one is opened now and then only."""
        self._asked += 1
        is_time = state not in self._known or self._asked % _LOOK_AGAIN == 0
        if is_time:
            with opened(memory.path, embedder=own_embedder(memory.path)) as fresh:
                self._known[state] = answers_of(fresh)
                assert self._problems.issuperset(fresh.check())
        assert answers_of(memory) == self._known[state]
        if is_time:
            assert self._problems.issuperset(memory.check())


def own_embedder(path: Path) -> FakeEmbedder:
    with closing(sqlite3.connect(path)) as other:
        (model,) = other.execute("SELECT model_id FROM engine_state").fetchone()
    return FakeEmbedder(4, model_id="another") if model == "another" else FakeEmbedder(8)


def life_goes_on(memory: Recollect, states: tuple[State, ...], fresh: Fresh) -> None:
    path = memory.path
    state = state_of(path)
    assert state in states
    fresh.agrees(memory, state)
    assert memory.remember("It went on after that", pak_id="later").created
    after = state_of(path)
    assert any("later" in row for table in after for row in table)
    fresh.agrees(memory, after)


class Waiting:
    """The instants of a verb at which nothing was raised yet.

    A handle bears several of them in a row, each further on than the one before: so whatever an
    exception left behind, the next call gets past that place. Where a handle comes by only once,
    the first time that it is used, it bears that alone.
    """

    def __init__(
        self, verb: Verb, instants: Instants, chosen: list[Instant], often: Iterable[Instant]
    ) -> None:
        self._verb, self._instants = verb, instants
        self._left, self._often = deque(chosen), set(often)
        self._borne = 0
        self.count = len(chosen)

    @classmethod
    def at_each_line(cls, verb: Verb, opened: Opened, most: int | None) -> Waiting:
        """Wait once at each line that a new handle comes by."""
        instants = Instants(ALL, opcodes=False)
        with opened() as memory:
            seen = instants.of(lambda: verb(memory))
        with opened() as memory:
            memory.recall("jobs")
            again = instants.of(lambda: verb(memory))
        return cls(verb, instants, first_times(seen, most=most), again)

    @classmethod
    def at_each_opcode(
        cls, verb: Verb, opened: Opened, watched: list[Path], most: int | None
    ) -> Waiting:
        """Wait at each opcode of some files, the first, second and last time it is come by."""
        instants = Instants(watched, opcodes=True)
        with opened() as memory:
            seen = instants.of(lambda: verb(memory))
        return cls(verb, instants, distinct(seen, most=most), seen)

    def __bool__(self) -> bool:
        return bool(self._left)

    def bears(self, memory: Recollect, error: BaseException, *, is_new: bool) -> bool:
        """Raise at the next instant of the verb; return whether the handle may bear one more.

        An interrupt gets through to the caller.
        """
        at = self._left.popleft()
        self._borne = 1 if is_new else self._borne + 1
        is_through, kind = False, type(error)
        with told(f"at {at}"):
            try:
                is_there = self._instants.raising(lambda: self._verb(memory), at, error)
            except kind:
                is_there = is_through = True
            assert is_there or not is_new
            assert is_through or not is_there or kind is not KeyboardInterrupt
        if not is_there:
            # It did not come by there this time: a handle that is new does.
            self._often.discard(at)
            self._left.appendleft(at)
            return False
        is_often = bool(self._left) and self._left[0] in self._often
        return is_often and self._borne < _IN_A_ROW


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("most", [8, pytest.param(None, marks=soak)])
def test_an_interrupt_at_any_line_leaves_a_handle_that_works(
    tmp_path: Path,
    verb: str,
    most: int | None,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    case = case_of(verb, tmp_path, monkeypatch)
    opened = partial(asked_copy_of if verb in ASKED_BEFORE else copy_of, case.original)
    waiting = Waiting.at_each_line(case.call, opened, most)
    record_property("tried", waiting.count)
    bear_all(waiting, case, opened, KeyboardInterrupt)


def bear_all(waiting: Waiting, case: Case, opened: Opened, error: type[BaseException]) -> None:
    """Raise at each instant that waits, and look at what became of it."""
    fresh = Fresh(case.problems)
    while waiting:
        with opened() as memory, told(f"after {error.__name__} in {case.verb}"):
            is_new = True
            while waiting.bears(memory, error(), is_new=is_new) and case.verb != "close":
                if state_of(memory.path) != case.states[0]:
                    break
                fresh.agrees(memory, case.states[0])
                is_new = False
            if case.verb == "close":
                memory.close()
                assert state_of(memory.path) in case.states
            else:
                life_goes_on(memory, case.states, fresh)


PUBLISHING = files(
    "index/follow.py",
    "index/index.py",
    "open_store.py",
    "paks/database.py",
    "stores/sqlite/session.py",
)
PUBLISHERS = ["remember", "forget", "frame", "remember and recall"]
ERRORS = [KeyboardInterrupt, TimeoutError, asyncio.CancelledError, SystemExit, MemoryError]


@pytest.mark.parametrize("verb", PUBLISHERS)
@pytest.mark.parametrize(
    ("error", "most"),
    [
        (KeyboardInterrupt, 30),
        (MemoryError, 10),
        *(pytest.param(error, None, marks=soak) for error in ERRORS),
    ],
)
def test_an_exception_at_any_opcode_as_the_index_is_published_leaves_a_handle_that_works(
    tmp_path: Path,
    verb: str,
    error: type[BaseException],
    most: int | None,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    case = case_of(verb, tmp_path, monkeypatch)
    opened = partial(asked_copy_of, case.original)
    waiting = Waiting.at_each_opcode(case.call, opened, PUBLISHING, most)
    record_property("tried", waiting.count)
    bear_all(waiting, case, opened, error)


@contextmanager
def in_memory(verb: str) -> Iterator[Recollect]:
    memory = Recollect.open("memory://", clock=FakeClock(), embedder=FakeEmbedder(8))
    seed(verb, memory)
    yield memory


@contextmanager
def asked_in_memory(verb: str) -> Iterator[Recollect]:
    """Give a handle that has an index already."""
    with in_memory(verb) as memory:
        memory.recall("jobs")
        yield memory


def exported(memory: Recollect) -> list[str]:
    """Return all that a store holds, but for what is drawn at random."""
    lines = (json.loads(line) for line in memory.export(everything=True))
    held = [json.dumps(line, sort_keys=True) for line in lines if line["kind"] != "store"]
    acts = [(one.act, one.target, one.detail) for one in memory.audit(limit=100)]
    named = [(one.name, one.revoked_at) for one in memory.keys.list()]
    answered = [(one.recall_id, one.items) for one in memory.receipts().items]
    return [
        *held,
        repr(named),
        repr(answered),
        repr([one for one in acts if not one[0].startswith("key.")]),
    ]


def states_in_memory(verb: str, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    plain = MemorySession.commit
    with in_memory(verb) as memory, monkeypatch.context() as patch:
        states = [exported(memory)]

        @contextmanager
        def noted(self: MemorySession, *names: str) -> Iterator[object]:
            with plain(self, *names) as commit:
                yield commit
            states.append(exported(memory))

        patch.setattr(MemorySession, "commit", noted)
        VERBS[verb](memory)
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
@pytest.mark.parametrize("most", [8, pytest.param(None, marks=soak)])
def test_an_interrupt_at_any_line_leaves_a_store_in_memory_that_works(
    verb: str,
    most: int | None,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    states = states_in_memory(verb, monkeypatch)
    opened = partial(asked_in_memory if verb in ASKED_BEFORE else in_memory, verb)
    waiting = Waiting.at_each_line(VERBS[verb], opened, most)
    record_property("tried", waiting.count)
    bear_all_in_memory(waiting, opened, states, KeyboardInterrupt)


def bear_all_in_memory(
    waiting: Waiting, opened: Opened, states: list[list[str]], error: type[BaseException]
) -> None:
    """Raise at each instant that waits, and look at what became of it."""
    while waiting:
        is_new = True
        with opened() as memory, told(f"after {error.__name__}"):
            while waiting.bears(memory, error(), is_new=is_new) and exported(memory) == states[0]:
                is_new = False
            goes_on_in_memory(memory, states)


IN_MEMORY = files(
    "index/follow.py",
    "index/index.py",
    "open_store.py",
    "stores/memory/session.py",
    "stores/memory/tables.py",
    "stores/memory/undo.py",
)


@pytest.mark.parametrize("verb", PUBLISHERS)
@pytest.mark.parametrize(
    ("error", "most"),
    [(KeyboardInterrupt, 30), *(pytest.param(error, None, marks=soak) for error in ERRORS)],
)
def test_an_exception_at_any_opcode_of_a_store_in_memory_leaves_one_that_works(
    verb: str,
    error: type[BaseException],
    most: int | None,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    states = states_in_memory(verb, monkeypatch)
    opened = partial(asked_in_memory, verb)
    waiting = Waiting.at_each_opcode(VERBS[verb], opened, IN_MEMORY, most)
    record_property("tried", waiting.count)
    bear_all_in_memory(waiting, opened, states, error)
