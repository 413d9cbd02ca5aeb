"""Which words of a text are marked: those that the index takes for words of the question."""

from __future__ import annotations

import pytest

from recollect.edge.inspector.marks import places, shared
from recollect.edge.inspector.texts import coded


def marked(text: str, question: str | None) -> list[str]:
    return [text[start:end] for start, end in places(text, question)]


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        (
            "Which kilns are hot?",
            "The kiln is hot; the kilning is not.",
            ["kiln", "hot", "kilning"],
        ),
        ("kiln", "skills and kilometres", []),
        ("card", "a cardinal discards cards", ["cards"]),
        ("user name", "call get_user_name first", ["user", "name"]),
        ("What is it?", "It is what it is.", []),
        ("café", "the cafe and the CAFÉ", ["cafe", "CAFÉ"]),
        ("Wie lange brennt die blaue Glasur?", "Blaue Glasuren brennen.", ["Blaue", "Glasuren"]),
        ("青い釉薬", "青い釉薬は二十日までに届かない。", ["青い釉薬"]),
        ("глазурь", "Синие глазури", ["глазури"]),
        ("'); DROP", "drop <b>it</b>", ["drop"]),
        ("", "anything", []),
        (None, "anything", []),
    ],
)
def test_a_word_is_marked_where_the_index_takes_it_for_one_of_the_question(
    question: str | None, text: str, found: list[str]
) -> None:
    assert [word for word in marked(text, question) if word in found] == found
    assert not set(marked(text, question)) - {*found, "brennen"}


def test_marks_stand_in_order_and_apart() -> None:
    text = "青い青い釉薬 kiln_kiln kiln's kiln" * 20
    ends = [edge for place in places(text, "青い釉薬 kiln") for edge in place]
    assert ends == sorted(ends)
    assert len(ends) > 40


def test_what_question_and_text_share_is_told_as_it_was_asked() -> None:
    text = "A failed card payment is tried again."
    assert shared(text, "Cards again, and what PAYMENTS?") == ["Cards", "again", "PAYMENTS"]
    assert shared(text, None) == []


def test_a_command_in_a_hint_is_code_and_nothing_else_of_it_is_markup() -> None:
    assert str(coded("run `recollect keys` <now>")) == (
        "run <code>recollect keys</code> &lt;now&gt;"
    )
    assert str(coded("`<b>`")) == "<code>&lt;b&gt;</code>"
    assert str(coded("a ` alone")) == "a ` alone"
