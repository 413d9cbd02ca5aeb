"""Similarity, and the parts it is made of."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model import Signals
from recollect.recall.recipe import MESSAGES, NOTES, RECIPE, TURNS, Table
from recollect.recall.similarity import Compared, Tables, mixed, nearby, parts

SHARE = st.floats(0.0, 1.0)
MAYBE = st.none() | SHARE
TABLES = Tables(NOTES, TURNS)
ADDED = ("speaker", "date", "time_words", "asks", "tells_time")


def column(value: float | None) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    return None if value is None else np.array([value])


@pytest.mark.parametrize("table", [NOTES, TURNS, MESSAGES])
def test_words_meaning_neighbours_and_thread_are_all_there_is(table: Table) -> None:
    shares = (table.words, table.meaning, table.near_words, table.near_meaning, table.thread)
    assert sum(shares) == pytest.approx(1.0)
    assert all(share >= 0 for share in shares)


def test_outside_of_a_thread_words_and_meaning_are_all() -> None:
    words, meaning, nan = np.array([0.2, 0.8]), np.array([0.7, 0.5]), np.full(2, np.nan)
    expected = (NOTES.words * words + NOTES.meaning * meaning).round(9).tolist()

    assert mixed(Compared(words, meaning), TABLES).tolist() == expected
    beside_threads = Compared(words, meaning, nan, nan, nan)
    assert mixed(beside_threads, TABLES).tolist() == expected
    assert mixed(Compared(words), TABLES).tolist() == words.tolist()


def test_what_is_said_by_whom_the_question_names_counts_more() -> None:
    half = np.full(2, 0.5)
    raised = mixed(Compared(half, half, speaker=np.array([1.0, 0.0])), TABLES)
    assert raised.tolist() == [0.5 + NOTES.speaker, 0.5]


def test_however_much_speaks_for_two_the_better_stays_ahead() -> None:
    words = np.linspace(0.0, 1.0, 50)
    one = np.ones(50)
    alike = mixed(Compared(words, one, speaker=one, date=one, time_words=one), TABLES)
    assert (np.diff(alike) > 0).all()
    assert alike.max() < 1.0


def test_word_for_word_is_nearly_all() -> None:
    alike = mixed(Compared(np.array([0.0, 0.4]), word_for_word=np.ones(2)), TABLES)
    assert alike.tolist() == [0.95, 0.97]


def test_the_longer_turns_are_the_more_they_stand_for_themselves() -> None:
    tables = [RECIPE.of_turns(terms) for terms in (0, 30, 65, 100, 1000)]
    assert tables[0] == tables[1] == TURNS
    assert tables[3] == tables[4] == MESSAGES
    assert TURNS.words < tables[2].words < MESSAGES.words
    assert replace(RECIPE, by_length=False).of_turns(1000) == TURNS


def test_a_recipe_for_another_embedder_changes_shares_and_nothing_else() -> None:
    for table in (RECIPE.notes.sharing(0.6), RECIPE.turns.sharing(0.6)):
        own = table.words + table.meaning + table.near_words + table.near_meaning
        assert table.meaning + table.near_meaning == pytest.approx(0.6 * own)


@given(
    SHARE,
    MAYBE,
    st.none() | st.tuples(SHARE, SHARE, SHARE),
    st.fixed_dictionaries(dict.fromkeys(ADDED, MAYBE)),
    st.sampled_from((None, 0.0, 1.0)),
)
def test_parts_add_up_to_a_similarity_between_0_and_1(
    words: float,
    meaning: float | None,
    around: tuple[float, float, float] | None,
    added: dict[str, float | None],
    word_for_word: float | None,
) -> None:
    near_words, near_meaning, thread = around or (None, None, None)
    compared = Compared(
        np.array([words]),
        column(meaning),
        column(near_words),
        None if meaning is None else column(near_meaning),
        column(thread),
        **{name: column(value) for name, value in added.items()},
        word_for_word=column(word_for_word),
    )
    similarity = mixed(compared, TABLES).item()
    together = nearby(compared, TURNS)
    known: dict[str, Any] = {
        **added,
        "lexical": words,
        "semantic": meaning,
        "nearby": None if together is None else together.item(),
        "thread": thread,
        "word_for_word": word_for_word,
    }
    signals = Signals(similarity, 1.0, 1.0, 0.0, 0.0, **known)

    assert 0.0 <= similarity <= 1.0
    assert sum(parts(signals, TABLES).values()) == pytest.approx(similarity, abs=1e-7)
    assert known.keys() <= {field.name for field in fields(Signals)}


def test_without_a_question_there_are_no_parts() -> None:
    assert parts(Signals(0.0, 1.0, 1.0, 0.0, 0.0), TABLES) == {}
