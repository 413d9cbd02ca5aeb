"""Many at once are stored a few hundred at a time, and others have their turn in between."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import Recollect
from recollect.index.changes import apply_changes
from recollect.index.contents import Contents
from recollect.index.courtesy import Pause
from recollect.policy import Principal
from recollect.ports.store import Changes
from recollect.testing import FakeClock, FakeEmbedder

COUNT = 1_100
SLICE = 512
GIVE_UP_S = 60.0

Verb = Callable[[Recollect], object]
VERBS: dict[str, Verb] = {
    "remember_many": lambda memory: memory.remember_many(f"note {at}" for at in range(COUNT)),
    "ingest": lambda memory: memory.ingest(
        [{"content": f"fact {at}"} for at in range(COUNT)], source="peer"
    ),
    "import_": lambda memory: memory.import_(
        json.dumps({"kind": "memory", "content": f"line {at}"}) for at in range(COUNT)
    ),
}


class Watched(FakeEmbedder):
    """Tells how many texts come at once, and lets somebody else act before it answers."""

    def __init__(self) -> None:
        super().__init__(8)
        self.batches: list[int] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(texts) > 1:
            self.batches.append(len(texts))
            self.meanwhile()
        return super().embed_documents(texts)


@pytest.fixture
def embedder() -> Watched:
    return Watched()


@pytest.fixture
def memory(tmp_path: Path, embedder: Watched) -> Iterator[Recollect]:
    path = tmp_path / "a.db"
    with Recollect.open(path, embedder=embedder, clock=FakeClock(), links=False) as opened:
        yield opened


@pytest.mark.parametrize("verb", VERBS)
def test_others_write_and_read_between_slices(
    memory: Recollect, embedder: Watched, verb: str
) -> None:
    dan = memory.as_principal(Principal("globex", "dan"))
    seen: list[tuple[int, int]] = []

    def act() -> None:
        dan.remember(f"mine {len(seen)}")
        seen.append((len(dan.list().items), memory.stats()["memories"]))

    def have_a_turn() -> None:
        other = threading.Thread(target=act)
        other.start()
        other.join(GIVE_UP_S)

    embedder.meanwhile = have_a_turn
    VERBS[verb](memory.as_principal(Principal("acme", "ann")))
    assert embedder.batches == [SLICE, SLICE, COUNT - 2 * SLICE]
    assert seen == [(1, 1), (2, SLICE + 2), (3, 2 * SLICE + 3)]


@pytest.mark.parametrize(("verb", "act"), [("ingest", "ingest"), ("import_", "import")])
def test_each_slice_is_an_act_of_its_own(memory: Recollect, verb: str, act: str) -> None:
    VERBS[verb](memory)
    told = [one.detail.split(" of ")[0] for one in memory.audit() if one.act == act]
    assert told == [str(COUNT - 2 * SLICE), str(SLICE), str(SLICE)]


def test_what_joins_imported_memories_comes_in_slices_too(memory: Recollect) -> None:
    ids = [f"p{at}" for at in range(600)]
    lines = [{"kind": "memory", "pak_id": one, "content": f"text of {one}"} for one in ids]
    links = [{"kind": "link", "pak_id": one, "other": other} for one, other in pairwise(ids)]
    memory.import_(json.dumps(one) for one in (*lines, *links))
    told = [one.detail for one in reversed(memory.audit()) if one.act == "import"]
    assert told == [
        "512 of 600 memories",
        "88 of 600 memories",
        "512 of 599 links and disputes",
        "87 of 599 links and disputes",
    ]


def test_others_write_and_read_while_the_index_is_built_anew(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("the kiln is hot")
    before = memory.recall("kiln").results
    seen: list[list[str]] = []

    def act() -> None:
        memory.remember("the kiln is cold")
        seen.append(sorted(one.fact.content for one in memory.recall("kiln").results))

    def take_over(changes: Changes, contents: Contents, pause: Pause) -> None:
        if changes.rows and not seen:
            seen.append([])
            other = threading.Thread(target=act)
            other.start()
            other.join(GIVE_UP_S)
        apply_changes(changes, contents, pause)

    monkeypatch.setattr("recollect.index.index.apply_changes", take_over)
    memory.reindex()
    both = ["the kiln is cold", "the kiln is hot"]
    assert seen == [[], both]
    assert sorted(one.fact.content for one in memory.recall("kiln").results) == both
    assert memory.recall("hot").results[0].fact == before[0].fact
    assert [one.act for one in memory.audit()] == ["reindex"]
