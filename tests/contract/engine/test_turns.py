"""Nobody waits for another's embedder or hook: the store's lock is held for the store alone.

An embedder that waits for an event stands for a slow server. It gives up after a while, so that a
lock that is held too long fails a test and does not stop it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import Recollect
from recollect.ports.embedder import QueryTokens
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

GIVE_UP_S = 30.0
LINE = '{"kind": "memory", "content": "brought along slowly"}'


class Slow(FakeEmbedder):
    """Waits once, at the first text that says so, until it is let go."""

    def __init__(self, model_id: str = "fake") -> None:
        super().__init__(8, model_id=model_id)
        self.reached = threading.Event()
        self.go = threading.Event()
        self.gave_up = False

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.wait_for(texts)
        return super().embed_documents(texts)

    def wait_for(self, texts: Sequence[str]) -> None:
        if any("slowly" in text for text in texts) and not self.reached.is_set() and not self.fail:
            self.reached.set()
            self.gave_up = not self.go.wait(GIVE_UP_S)


class SlowByWords(Slow):
    """The same, of the kind that lets the words of a question be weighed."""

    def tokenise_query(self, text: str) -> QueryTokens:
        self.wait_for([text])
        words = tuple(text.lower().split())
        return QueryTokens(words, np.stack([self._vector(word) for word in words]))

    def combine(
        self, tokens: QueryTokens, weights: Sequence[float] | NDArray[np.float64]
    ) -> NDArray[np.float32]:
        total: NDArray[np.float32] = (np.asarray(weights) @ tokens.vectors).astype(np.float32)
        return total


def waits(memory: Recollect, slow: Slow) -> None:
    """Leave one memory without a vector, so that it waits for one."""
    slow.fail = True
    memory.remember("it was slowly forgotten")
    slow.fail = False


Verb = Callable[[Recollect, Slow], Any]
VERBS: dict[str, Verb] = {
    "remember": lambda memory, _: memory.remember("a slowly written note"),
    "remember_many": lambda memory, _: memory.remember_many(["one", "two slowly"]),
    "ingest": lambda memory, _: memory.ingest([{"content": "slowly told"}], source="peer"),
    "import_": lambda memory, _: memory.import_([LINE]),
    "retry_pending": lambda memory, slow: (waits(memory, slow), memory.retry_pending()),
    "recall": lambda memory, _: memory.recall("plan slowly"),
    "frame": lambda memory, _: memory.frame("attention", "plan slowly"),
    "cached frame": lambda memory, _: memory.frame("self", "plan slowly"),
    "explain recall": lambda memory, _: memory.explain("plan", "plan slowly"),
    "explain frame": lambda memory, _: memory.explain("plan", "plan slowly", frame="task"),
}


@pytest.fixture(params=[Slow, SlowByWords])
def slow(request: pytest.FixtureRequest) -> Iterator[Slow]:
    embedder = request.param()
    yield embedder
    embedder.go.set()


@pytest.fixture
def memory(tmp_path: Path, slow: Slow) -> Iterator[Recollect]:
    with Recollect.open(tmp_path / "agent.db", embedder=slow, clock=FakeClock()) as opened:
        opened.remember("the plan", pak_id="plan")
        yield opened


def in_a_thread(act: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    came: list[Any] = []
    thread = threading.Thread(target=lambda: came.append(act()))
    thread.start()
    return thread, came


def others_go_on(memory: Recollect) -> None:
    assert memory.get("plan") is not None
    assert [one.fact.pak_id for one in memory.recall(top_k=1000).results].count("plan") == 1
    assert "plan" in [one.fact.pak_id for one in memory.recall("plan").results]
    assert memory.remember("a quick note").state == "ready"
    assert memory.select(SelectQuery("plan")).scores
    memory.link("plan", memory.remember("another quick note").pak_id)


@pytest.mark.parametrize("verb", VERBS)
def test_while_one_waits_for_the_embedder_others_go_on(
    memory: Recollect, slow: Slow, verb: str
) -> None:
    thread, came = in_a_thread(lambda: VERBS[verb](memory, slow))
    assert slow.reached.wait(GIVE_UP_S)
    others_go_on(memory)
    assert came == []
    slow.go.set()
    thread.join()
    assert not slow.gave_up
    assert len(came) == 1


def test_while_one_re_embeds_others_go_on(memory: Recollect, slow: Slow) -> None:
    slow.reached.set()  # the old model has waited before
    memory.remember("a slowly written note")
    other = Slow("other")
    thread, came = in_a_thread(lambda: memory.reembed(other))
    assert other.reached.wait(GIVE_UP_S)
    others_go_on(memory)
    late = memory.remember("written while the new model was at work").pak_id
    assert came == []
    other.go.set()
    thread.join()
    assert not other.gave_up
    assert came == [5], "what was written meanwhile has a vector of the new model too"
    assert memory.stats()["model_id"] == "other"
    assert memory.stats()["pending"] == 0
    assert [
        one.fact.pak_id for one in memory.recall("the new model was at work", top_k=1).results
    ] == [late]


def test_a_note_embedded_before_a_switch_is_embedded_again(memory: Recollect, slow: Slow) -> None:
    thread, came = in_a_thread(lambda: memory.remember("a slowly written note", pak_id="late"))
    assert slow.reached.wait(GIVE_UP_S)
    other = FakeEmbedder(8, model_id="other")
    memory.reembed(other)
    slow.go.set()
    thread.join()
    assert [report.state for report in came] == ["ready"]
    assert other.calls == 2


def test_a_question_embedded_before_a_switch_is_embedded_again(
    memory: Recollect, slow: Slow
) -> None:
    thread, came = in_a_thread(lambda: memory.recall("plan slowly"))
    assert slow.reached.wait(GIVE_UP_S)
    other = FakeEmbedder(8, model_id="other")
    memory.reembed(other)
    slow.go.set()
    thread.join()
    assert [one.degraded for one in came] == [()]
    assert other.calls == 2


class Watching(FakeEmbedder):
    """Lets another thread read whenever it is asked for vectors."""

    def __init__(self) -> None:
        super().__init__(8)
        self.look: Callable[[], Any] | None = None
        self.looked: list[Any] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.look is not None:
            thread, came = in_a_thread(self.look)
            thread.join(GIVE_UP_S)
            self.looked.append(len(came) == 1)
        return super().embed_documents(texts)


@pytest.mark.parametrize("verb", ["remember_many", "ingest", "import_"])
def test_many_hold_the_lock_a_slice_at_a_time(tmp_path: Path, verb: str) -> None:
    watching = Watching()
    with Recollect.open(tmp_path / "agent.db", embedder=watching, clock=FakeClock()) as memory:
        watching.look = lambda: memory.get("plan")
        texts = [f"note {number}" for number in range(1100)]
        if verb == "remember_many":
            memory.remember_many(texts)
        elif verb == "ingest":
            memory.ingest([{"content": text} for text in texts], source="peer")
        else:
            memory.import_(f'{{"kind": "memory", "content": "{text}"}}' for text in texts)
        assert watching.looked == [True, True, True]


def test_an_import_calls_its_hooks_while_others_go_on(tmp_path: Path) -> None:
    heard: list[tuple[str, bool]] = []
    lines = [
        '{"kind": "memory", "content": "one", "pak_id": "one"}',
        '{"kind": "memory", "content": "two", "pak_id": "two"}',
        '{"kind": "link", "pak_id": "one", "other": "two", "weight": 0.5}',
    ]
    with Recollect.open(
        tmp_path / "agent.db", embedder=FakeEmbedder(8), clock=FakeClock()
    ) as memory:

        def listening(event: str) -> Callable[[Any], None]:
            def hear(_: Any) -> None:
                thread, came = in_a_thread(lambda: memory.get("one"))
                thread.join(GIVE_UP_S)
                heard.append((event, len(came) == 1))

            return hear

        for event in ("pre_remember", "pre_link"):
            memory.hooks.register(event, listening(event), name=event)
        memory.import_(lines)
    assert heard == [("pre_remember", True), ("pre_remember", True), ("pre_link", True)]
