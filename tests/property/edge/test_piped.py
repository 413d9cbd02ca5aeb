"""What a pipe gets without Rich is what Rich would have written, to the byte."""

from __future__ import annotations

import io
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from recollect.edge.cli.views import piped
from recollect.edge.cli.views import recall as view
from recollect.model import Dropped, Memory, RecallResponse, RecallResult, Signals

MEMORY = Memory(
    pak_id="pak_1",
    content="Tea.",
    title="Tea",
    category="fact",
    created_at="2026-03-01T00:00:00Z",
    updated_at="2026-03-01T00:00:00Z",
)
SIGNALS = Signals(0.5, 1.0, 1.0, 0.0, 0.0)
# Short words and long ones, spaces in rows, wide signs, tabs: much that is drawn in its own way.
words = st.lists(
    st.one_of(
        st.text("abc ,.", min_size=1, max_size=12),
        st.text("äöüßéñΩЖ…\t\n\u3042\u0301\u200b😀", min_size=1, max_size=3),
        st.sampled_from(["a" * 70, "b" * 130, "tea", "  "]),
    ),
    max_size=40,
).map(" ".join)
plain_words = st.lists(
    st.text("abcdeéЖ…'(.;", min_size=1, max_size=14), min_size=1, max_size=60
).map(" ".join)
texts = st.one_of(words, plain_words, plain_words)


@st.composite
def results(draw: st.DrawFn) -> RecallResult:
    memory = replace(
        MEMORY,
        content=draw(texts) or "tea",
        project=draw(st.none() | st.just("payments")),
        speaker=draw(st.none() | st.sampled_from(["Ann", "\u3042"])),
        tags=tuple(draw(st.lists(st.text("abc/é", min_size=1, max_size=20), max_size=6))),
    )
    return RecallResult(
        fact=memory,
        score=draw(st.floats(-0.2, 1.2)),
        why=tuple(draw(st.lists(plain_words, max_size=3))),
        signals=SIGNALS,
        risk=draw(st.sampled_from([(), ("ignore_instructions",)])),
        expanded=draw(st.booleans()),
        guaranteed=draw(st.booleans()),
        match=draw(st.sampled_from(["weak", "fair", None])),
    )


@st.composite
def answers(draw: st.DrawFn) -> RecallResponse:
    dropped = st.builds(
        Dropped, st.text("abc_", min_size=1, max_size=40), st.just("top_k"), plain_words
    )
    return RecallResponse(
        results=tuple(draw(st.lists(results(), min_size=1, max_size=11))),
        instructions=(),
        generated_at="2026-03-01T00:00:00Z",
        query={},
        tokens_used=1,
        truncated=False,
        degraded=(),
        dropped=tuple(draw(st.lists(dropped, max_size=4))),
    )


def by_rich(answer: RecallResponse, columns: int) -> str:
    drawn = io.StringIO()
    console = Console(
        file=drawn,
        width=columns,
        force_terminal=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )
    if view.is_all_weak(answer):
        console.print(view.CLOSEST)
    console.print(view.results(answer))
    for note in view.notes(answer.degraded, answer.dropped, answer.meta):
        console.print(note)
    return drawn.getvalue()


PLAIN = RecallResponse(
    results=(RecallResult(MEMORY, 0.5, ("matches 'tea'",), SIGNALS),),
    instructions=(),
    generated_at="2026-03-01T00:00:00Z",
    query={},
    tokens_used=1,
    truncated=False,
    degraded=(),
    dropped=(Dropped("pak_2", "top_k", "not among the top 1"),),
)


@given(answers(), st.integers(40, 140))
@example(PLAIN, 80)
def test_what_is_written_plainly_is_what_rich_would_draw(
    answer: RecallResponse, columns: int
) -> None:
    text = piped.recalled(answer, columns)
    if text is not None:
        assert text == by_rich(answer, columns)


@given(st.lists(plain_words, min_size=1, max_size=11), st.integers(60, 140))
def test_an_answer_of_plain_words_does_not_wait_for_rich(texts: list[str], columns: int) -> None:
    result = PLAIN.results[0]
    told = tuple(replace(result, fact=replace(MEMORY, content=text)) for text in texts)
    assert piped.recalled(replace(PLAIN, results=told), columns) is not None


def test_what_has_more_to_say_is_left_to_rich() -> None:
    for more in (
        replace(PLAIN, results=()),
        replace(PLAIN, degraded=("vector",)),
        replace(PLAIN, instructions=PLAIN.results),
        replace(PLAIN, results=(replace(PLAIN.results[0], why=("\u3042",)),)),
    ):
        assert piped.recalled(more, 80) is None
