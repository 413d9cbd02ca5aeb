from __future__ import annotations

import pytest

from recollect import Recollect
from recollect.index import german
from recollect.index.analyse import words
from recollect.index.german import german_stem, is_english, is_german
from recollect.model import Principal

GERMAN = "Die Pakete werden mit einem Werkzeug installiert, das ich nicht kenne."


@pytest.mark.parametrize(
    "text", [GERMAN, "Ich mag Kaffee", "Wie viele Sprachen gibt es?", "größer ist der Wagen nicht"]
)
def test_german_is_told_by_its_small_words(text: str) -> None:
    assert is_german(words(text))
    assert not is_english(words(text))


@pytest.mark.parametrize(
    "text",
    [
        "The war on the man: die hard, was it?",
        "Von Neumann wrote it under the MIT license",
        "What does 'der Wagen' mean?",
        "Le chat des voisins est sur la table",
        "El gato duerme en la casa",
        "De kat van de buren zit op het dak",
        "payment gateway",
        "",
    ],
)
def test_other_languages_are_not_taken_for_german(text: str) -> None:
    assert not is_german(words(text))


def test_a_stem_is_given_where_german_rules_cut_otherwise() -> None:
    assert german_stem("sprachen") == "sprach"
    assert german_stem("sprache") is None
    assert german_stem("linux") is None
    assert german_stem("4711") is None


def test_a_german_text_is_found_by_another_ending_of_its_word() -> None:
    with Recollect.open("memory://", embedder="none") as memory:
        wanted = memory.remember("Die Verträge sind im Schrank, und der Schlüssel ist bei mir.")
        memory.remember("Das Fahrrad ist nicht im Keller, sondern im Hof.")
        answer = memory.recall("Wo ist der Vertrag?")

    assert answer.results[0].fact.pak_id == wanted.pak_id
    assert answer.results[0].signals.lexical > 0
    assert any("vertrag" in reason for reason in answer.results[0].why)


def test_words_that_hold_a_german_question_together_match_nothing() -> None:
    with Recollect.open("memory://", embedder="none") as memory:
        memory.remember("Wie ist das? Ich kann es nicht sagen, und wo es ist, auch nicht.")
        wanted = memory.remember("Die Werkstatt ist für Räder und Ketten da.")
        answer = memory.recall("Wie kann ich ein Rad reparieren?")

    assert answer.results[0].fact.pak_id == wanted.pak_id


def test_a_text_in_german_that_nobody_may_read_changes_no_answer() -> None:
    def answers(*, beside: bool) -> list[tuple[str, float, tuple[str, ...]]]:
        with Recollect.open("memory://") as memory:
            memory.remember("Sprachen lernen", pak_id="short")
            memory.remember("The war in the old town was long", pak_id="war")
            if beside:
                other = memory.as_principal(Principal(id="somebody"))
                other.remember("Die Sprache ist nicht die Grenze, und wir lernen sie.")
            found = memory.recall("Welche Sprache lerne ich in der war town?").results
            return [(one.fact.pak_id, one.score, tuple(one.why)) for one in found]

    assert answers(beside=True) == answers(beside=False)


def test_small_words_are_held_as_texts_are_folded() -> None:
    for held in (german.HOLDS_GERMAN, german.HOLDS_ENGLISH, german.GERMAN_COMMON):
        assert set(words(" ".join(held))) == held
    assert set(words("für können über wofür würde")) <= german.GERMAN_COMMON
