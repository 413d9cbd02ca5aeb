from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index import analyse
from recollect.index.analyse import stem_words, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("!?  --", []),
        ("Running runs ran", ["run", "run", "ran"]),
        ("Caroline's Caroline\u2019s CAROLINE", ["carolin"] * 3),
        ("don't DON\u2019T dont", ["dont"] * 3),
        ("the dogs' 'quoted'", ["the", "dog", "quot"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("naïve café Ångström", ["naiv", "cafe", "angstrom"]),
        ("Straße ﬁne \u212aelvin", ["strass", "fine", "kelvin"]),
        ("2024-05-01 v2", ["2024", "05", "01", "v2"]),
        ("東京 tower", ["東", "東京", "京", "tower"]),
        ("です", ["て", "てす", "す"]),
        ("น้ำดี", ["น้", "น้ำ", "้ำ", "้ำด", "ำด", "ำดี", "ดี"]),
        ("ກິນ\u200bເຂົ້າ", terms("ກິນເຂົ້າ")),
        ("Синий ёжик, синие ежики", ["син", "ежик", "син", "ежик"]),
        ("a\ud800b", ["a", "b"]),
        ("a\0b", ["a", "b"]),
    ],
)
def test_text_becomes_folded_and_stemmed_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_word_without_end_is_cut_and_not_remembered() -> None:
    word = "a" * 5_000_000

    assert terms(word) == ["a" * 64]
    assert word not in analyse._stems


def test_remembered_stems_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyse, "_MOST_STEMS", 10)
    monkeypatch.setattr(analyse, "_stems", analyse._Stems())

    found = terms(" ".join(f"word{n}s" for n in range(100)))

    assert found == [f"word{n}" for n in range(100)]
    assert len(analyse._stems) <= 10


@settings(deadline=None)
@given(st.text())
def test_case_and_surrounding_signs_make_no_difference(text: str) -> None:
    assert terms(f"({text})!") == terms(text)
    if text.isascii():
        assert terms(text.upper()) == terms(text)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=127)) | st.text(alphabet="aB9'_ "))
def test_ascii_text_has_the_same_terms_beside_other_text(text: str) -> None:
    assert terms(f"{text} ünlü") == [*terms(text), "unlu"]


@settings(deadline=None)
@given(st.text(alphabet="abcdé' _", max_size=30))
def test_an_ascii_word_is_the_same_term_among_any_others(text: str) -> None:
    assert terms(f"running {text}")[0] == terms(f"running {text} ünlü")[0] == "run"


def test_each_query_word_gives_one_term() -> None:
    assert stem_words(["running", "don't", "see_also_this", "___"]) == ["run", "dont", "also", ""]
