"""The one rule of echoes: what repeats memories word for word is one; a word more is new."""

from __future__ import annotations

import pytest

from recollect.edge.echo import known, repeated

TEA = "The tea is kept in the blue tin."
KILN = "The kiln is fired on Thursdays. Never on Fridays!"
GIVEN = known([("tea", TEA), ("kiln", KILN), ("limit", "x < 5")])


@pytest.mark.parametrize(
    "text",
    [
        TEA,
        TEA.upper(),
        f"> **{TEA}**",
        f"{TEA} {KILN}",
        f"{KILN}\n\n{TEA}",
        f"1. {TEA}\n2. {KILN}",
        f"- {TEA}\n- {KILN}\n- {TEA}",
        f"[kiln] 0.58 fair; source notes, trust user_approved\n> {KILN}",
    ],
)
def test_what_says_nothing_but_what_was_given_out_is_an_echo(text: str) -> None:
    assert {pak_id for pak_id, _ in repeated(GIVEN, text)} <= {"tea", "kiln"}
    assert repeated(GIVEN, text)


@pytest.mark.parametrize(
    "text",
    [
        f"Not so: {TEA}",
        f"{TEA} Not any more.",
        f"{TEA}\nBen says so.",
        "x > 5",
        "The tea is kept in the blue tin, says Ann.",
        "\n".join([f"- {TEA}"] * 70 + ["- It was moved."]),
        "",
    ],
)
def test_what_says_a_word_more_or_another_sign_is_new(text: str) -> None:
    assert repeated(GIVEN, text) == ()
