"""Similarity, and the parts it is made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model import Signals
from recollect.recall.similarity import MIX, match, mixed, parts

SHARE = st.floats(0.0, 1.0)
MAYBE = st.none() | SHARE


def test_the_shares_of_a_text_its_neighbours_and_its_thread_are_all_there_is() -> None:
    assert MIX.own + MIX.nearby + MIX.thread == pytest.approx(1.0)
    assert MIX.speaker + MIX.date + MIX.time_words < 1.0


def test_outside_of_a_thread_words_and_meaning_are_all() -> None:
    lexical, semantic = np.array([0.2, 1.0]), np.array([0.7, 1.0])
    own = match(lexical, semantic)
    nan = np.full(2, np.nan)

    assert mixed(own).tolist() == [0.4, 1.0]
    assert mixed(own, nearby=nan, thread=nan).tolist() == [0.4, 1.0]
    assert match(lexical, None).tolist() == [0.2, 1.0]


def test_a_named_speaker_closes_a_part_of_the_gap() -> None:
    raised = mixed(np.array([0.5, 0.5, 1.0]), speaker=np.array([1.0, 0.0, 1.0]))
    assert raised.tolist() == [0.5 + 0.5 * MIX.speaker, 0.5, 1.0]


@given(SHARE, MAYBE, st.none() | st.tuples(SHARE, SHARE), MAYBE, MAYBE, MAYBE)
def test_parts_add_up_to_a_similarity_between_0_and_1(
    lexical: float,
    semantic: float | None,
    around: tuple[float, float] | None,
    speaker: float | None,
    date: float | None,
    time_words: float | None,
) -> None:
    def column(value: float | None) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
        return None if value is None else np.array([value])

    nearby, thread = around or (None, None)
    own = match(np.array([lexical]), column(semantic))
    similarity = mixed(
        own,
        nearby=column(nearby),
        thread=column(thread),
        speaker=column(speaker),
        date=column(date),
        time_words=column(time_words),
    ).item()
    signals = Signals(
        similarity, 1.0, 1.0, 0.0, 0.0, lexical, semantic, nearby, thread, speaker, date, time_words
    )

    assert 0.0 <= similarity <= 1.0
    assert sum(parts(signals).values()) == pytest.approx(similarity, abs=1e-8)


def test_without_a_question_there_are_no_parts() -> None:
    assert parts(Signals(0.0, 1.0, 1.0, 0.0, 0.0)) == {}
