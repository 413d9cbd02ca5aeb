"""Two names that look alike are one name, or one of them is refused."""

from __future__ import annotations

import gzip
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.policy.conftest import People

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.lookalikes import complaint, normal_name
from recollect.policy import PERMISSIONS, Principal

CYRILLIC_ANN = "\u0430nn"

REFUSED = {
    "hangul filler": "ann\u3164",
    "halfwidth hangul filler": "ann\uffa0",
    "grapheme joiner": "a\u034fnn",
    "variation selector": "ann\ufe0f",
    "khmer vowel": "ann\u17b4",
    "braille blank": "ann\u2800b",
    "zero-width space": "a\u200bnn",
    "soft hyphen": "an\u00adn",
    "fullwidth": "\uff41\uff4e\uff4e",
    "mathematical": "\U0001d41a\U0001d427\U0001d427",
    "ligature": "o\ufb03ce",
    "superscript": "ann\u00b2",
    "roman numeral": "ann \u2163",
    "unassigned": "ann\u0378",
    "private use": "ann\ue000",
    "a cyrillic letter": CYRILLIC_ANN,
    "a cyrillic letter with a mark": "\u0430\u0301nn",
    "all cyrillic": "\u0441\u043e\u0440",
    "all greek": "\u03bf\u03c1\u03b1",
    "a greek letter": "b\u03bfb",
    "an armenian letter": "b\u0585b",
    "a cherokee letter": "\u13a0nn",
    "dash": "ann\u2010b",
    "half a surrogate pair": "ann\ud800",
}
TAKEN = (
    *("ann", "Ann-Marie", "ann@acme.io", "o'neil", "team:1/a", "Jürgen", "Иванова", "Ann Иванова"),
    *("山田太郎", "あん アン", "مريم", "Γιώργος", "🦊 fox"),
)


@pytest.mark.parametrize("name", REFUSED.values(), ids=REFUSED)
def test_a_name_that_could_be_mistaken_is_refused_with_a_hint(name: str) -> None:
    for tenant, who, team in ((name, "ann", "red"), ("acme", name, "red"), ("acme", "ann", name)):
        with pytest.raises(InvalidInput) as refused:
            Principal(tenant, who, (team,))
        assert refused.value.hint


@pytest.mark.parametrize("name", TAKEN)
def test_names_of_one_alphabet_a_word_are_taken(name: str) -> None:
    assert Principal(name, name, (name,)).id == normal_name(name)


def test_both_forms_of_an_accent_are_one_principal(people: People) -> None:
    composed, apart = (unicodedata.normalize(form, "Ren\u00e9") for form in ("NFC", "NFD"))
    assert composed != apart
    assert Principal("acme", composed, (composed,)) == Principal("acme", apart, (apart,))
    one = people.opener.as_principal(Principal("acme", composed, (composed,)))
    other = people.opener.as_principal(Principal("acme", apart, (apart,)))
    one.remember("the kiln is free", pak_id="p")
    one.remember("the kiln is busy", pak_id="q", scope="team", team=apart)
    assert other.get("p") is not None
    assert other.get("q") is not None
    people.root.gardens.create("kiln")
    people.root.gardens.add("kiln", apart)
    assert [garden.slug for garden in one.gardens.list()] == ["kiln"] or one.gardens.members("kiln")
    assert people.root.gardens.remove("kiln", apart)


@given(st.text(min_size=1, max_size=12))
def test_what_is_taken_is_in_one_form_and_is_taken_again(name: str) -> None:
    try:
        made = Principal("acme", name)
    except InvalidInput:
        return
    assert Principal("acme", made.id) == made
    assert unicodedata.normalize("NFKC", made.id) == made.id
    assert complaint(made.id) is None


def test_a_name_that_a_store_has_already_stays_usable(
    tmp_path: Path, open_memory: Callable[..., Recollect]
) -> None:
    old = Principal("acme", CYRILLIC_ANN, exact=True)
    memory = open_memory()
    memory.as_principal(old).remember("the kiln is free", pak_id="p")
    with pytest.raises(InvalidInput, match="mixes") as refused:
        Principal("acme", CYRILLIC_ANN)
    assert "exact=True" in (refused.value.hint or "")
    assert memory.as_principal(old).get("p") is not None
    secret = memory.keys.create(old).secret
    found = memory.keys.principal_for(secret)
    assert found.id == CYRILLIC_ANN
    assert memory.as_principal(found).get("p") is not None
    root = memory.as_principal(Principal("acme", "root", permissions=PERMISSIONS))
    root.gardens.create("kiln")
    lines = list(memory.export(everything=True))
    with open_memory("other.db") as other:
        other.import_(lines)
        assert other.as_principal(old).get("p") is not None


def test_case_counts_and_letters_drawn_alike_within_an_alphabet_are_not_known(
    people: People,
) -> None:
    for one, other in (("ann", "Ann"), ("Ill", "lll"), ("rnod", "mod"), ("b0b", "bOb")):
        assert Principal("acme", one) != Principal("acme", other)
        people.opener.as_principal(Principal("acme", one)).remember("mine", pak_id=one)
        assert people.opener.as_principal(Principal("acme", other)).get(one) is None


def test_an_exact_name_must_still_be_one() -> None:
    for name in ("", " ann", "ann\n", "a" * 201, "a\ud800"):
        with pytest.raises(InvalidInput):
            Principal("acme", name, exact=True)


def test_who_is_in_no_garden_does_not_learn_who_is(people: People) -> None:
    people.root.gardens.create("kiln")
    for name in ("ann", CYRILLIC_ANN, "nobody"):
        for act in (people.bob.gardens.add, people.bob.gardens.remove):
            with pytest.raises(Exception, match="there is no garden 'kiln'"):
                act("kiln", name)


def test_old_stores_of_any_release_open(tmp_path: Path) -> None:
    data = Path(__file__).parents[2] / "data/stores"
    for old in sorted(data.glob("*.db.gz")):
        (tmp_path / old.stem).write_bytes(gzip.decompress(old.read_bytes()))
        with Recollect.open(tmp_path / old.stem) as memory:
            assert json.dumps(memory.recall("queue").to_dict())
            assert memory.keys.list() is not None
