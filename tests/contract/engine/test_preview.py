"""A preview is the text of a frame, looked at beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.model import Principal, RecallRequest

MEANING_ALONE = {
    "similarity": 1.0,
    "confidence": 0.0,
    "recency": 0.0,
    "centrality": 0.0,
    "reinforcement": 0.0,
}


@pytest.fixture
def memory(tmp_path: Path) -> Recollect:
    opened = Recollect.open(tmp_path / "a.db")
    for number in range(6):
        opened.remember(f"The kiln is booked on day {number} of the month.", pak_id=f"k{number}")
    opened.remember("Glazes are mixed by Ann.", pak_id="glaze", confidence=0.2)
    return opened


def test_it_is_the_text_that_the_frame_would_send(memory: Recollect) -> None:
    shown = memory.preview("attention", "kiln day")
    sent = memory.frame("attention", "kiln day")
    assert shown.text == sent.text
    assert [one.pak_id for one in shown.blocks] == [one.pak_id for one in sent.blocks]


def test_nothing_is_counted_and_nothing_is_written(memory: Recollect) -> None:
    head = memory.head()
    memory.preview("attention", "kiln day", recipe={"token_budget": 80})
    assert memory.head() == head
    assert memory.get("k0").reinforced == 0


def test_a_recipe_changes_the_text_and_is_kept_nowhere(memory: Recollect) -> None:
    before = memory.preview("attention", "kiln day")
    short = memory.preview("attention", "kiln day", recipe={"token_budget": 60})
    assert short.token_budget == 60
    assert len(short.blocks) < len(before.blocks)
    assert any(one.stage == "budget" for one in short.dropped)
    assert memory.preview("attention", "kiln day").text == before.text
    assert [one.name for one in memory.frames.list() if one.source == "user"] == []


def test_weights_of_a_recipe_decide_the_order(memory: Recollect) -> None:
    alone = memory.preview("attention", "glazes", recipe={"weights": MEANING_ALONE})
    assert alone.blocks[0].pak_id == "glaze"
    assert alone.blocks[0].score == pytest.approx(alone.blocks[0].signals.similarity)


def test_what_had_ended_by_then_is_out_as_of_that_time(memory: Recollect) -> None:
    memory.remember("The kiln is closed.", pak_id="closed", valid_until="2030-01-01T00:00:00Z")
    now = {one.pak_id for one in memory.preview("attention", "kiln closed", top_k=9).blocks}
    later = memory.preview("attention", "kiln closed", top_k=9, now="2031-01-01T00:00:00Z")
    assert "closed" in now
    assert "closed" not in {one.pak_id for one in later.blocks}
    asked = RecallRequest(query="kiln closed", now="2031-01-01T00:00:00Z")
    explained = memory.explain("closed", asked, frame="attention")
    assert not explained.returned


def test_it_shows_no_more_than_the_one_who_asks_may_read(memory: Recollect) -> None:
    ben = memory.as_principal(Principal("local", "ben", (), ("read",)))
    assert ben.preview("attention", "kiln day").blocks == ()


def test_a_recipe_that_is_none_is_refused(memory: Recollect) -> None:
    for recipe in ({"nonsense": 1}, {"weights": {"similarity": 1}}, "text", {"token_budget": 0}):
        with pytest.raises(InvalidInput):
            memory.preview("attention", "kiln", recipe=recipe)  # type: ignore[arg-type]
