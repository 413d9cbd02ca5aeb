"""Long work beside answers: who writes much lets whoever is being answered come first."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.gate import Gate
from recollect.testing import FakeEmbedder


@pytest.mark.parametrize(("name", "gives_way"), [("a.db", True), (":memory:", False)])
def test_who_stores_many_gives_way_at_each_where_answers_need_not_wait_for_it(
    name: str, gives_way: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Gate] = []
    monkeypatch.setattr(Gate, "give_way", lambda gate: given.append(gate))
    path = str(tmp_path / name) if gives_way else name
    with Recollect.open(path, embedder=FakeEmbedder()) as memory:
        memory.remember_many([f"note {number}" for number in range(40)])
    assert len(given) >= 40 if gives_way else not given
