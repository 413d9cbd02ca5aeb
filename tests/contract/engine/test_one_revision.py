"""An answer is of exactly one revision, however others write while it is being made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.model import canonical_json
from recollect.policy.view import View
from recollect.ports.store import RowFilter, Texts
from recollect.testing import FakeClock, FakeEmbedder


@pytest.fixture
def handles(tmp_path: Path) -> Iterator[tuple[Recollect, Recollect]]:
    """Two handles on one file, as two processes would have them."""
    with ExitStack() as stack:
        ours, theirs = (
            stack.enter_context(
                Recollect.open(tmp_path / "a.db", clock=FakeClock(), embedder=FakeEmbedder(16))
            )
            for _ in range(2)
        )
        ours.remember("The kiln is booked until May.", pak_id="kiln")
        ours.remember("The kiln is hot in the morning.", pak_id="hot")
        yield ours, theirs


def before_texts(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[int], object]
) -> list[int]:
    """Let something happen each time before texts are fetched; return a list of those times."""
    room = memory._open_store.store.memories
    real, times = room.read, count()
    seen: list[int] = []

    def read(where: RowFilter, view: View) -> Texts:
        seen.append(next(times))
        meanwhile(seen[-1])
        return real(where, view)

    monkeypatch.setattr(room, "read", read)
    return seen


def test_who_wrote_between_index_and_texts_is_in_all_of_the_answer_or_in_none(
    handles: tuple[Recollect, Recollect], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = handles

    def meanwhile(time: int) -> None:
        if time == 0:
            theirs.forget("kiln")
            theirs.remember("The roses are watered at dawn.", pak_id="hot")

    before_texts(ours, monkeypatch, meanwhile)
    found = ours.recall("is the kiln booked?")

    assert canonical_json(found) == canonical_json(theirs.recall("is the kiln booked?"))


def test_an_answer_without_results_is_of_one_revision_too(
    handles: tuple[Recollect, Recollect], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = handles

    def meanwhile(time: int) -> None:
        if time == 0:
            theirs.remember("Ann waters the roses.", pak_id="roses", project="garden")

    before_texts(ours, monkeypatch, meanwhile)
    found = ours.recall("roses", project="garden")

    assert [one.fact.pak_id for one in found.results] == ["roses"]


@pytest.mark.parametrize("ask", ["recall", "frame", "explain"])
def test_a_store_that_never_stands_still_is_answered_from(
    handles: tuple[Recollect, Recollect], monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    ours, theirs = handles
    seen = before_texts(
        ours, monkeypatch, lambda time: theirs.remember(f"Kiln {time} is new.", pak_id=f"n{time}")
    )
    asked: dict[str, Callable[[], object]] = {
        "recall": lambda: ours.recall("kiln", top_k=20),
        "frame": lambda: ours.frame("attention", "kiln"),
        "explain": lambda: ours.explain("kiln", "kiln"),
    }
    answer = asked[ask]()

    assert answer is not None
    assert len(seen) < 10


def test_a_store_that_stands_still_is_read_once(
    handles: tuple[Recollect, Recollect], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, _ = handles
    seen = before_texts(ours, monkeypatch, lambda _: None)

    ours.recall("kiln")

    assert len(seen) == 1
