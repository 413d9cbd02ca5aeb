"""The catalogue inside the View: what may not be read changes no byte of what is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.contract.policy.conftest import People, people_of

from recollect import Recollect
from recollect.edge import wire
from recollect.edge.verbs import by_name
from recollect.errors import InvalidInput, NotAllowed, UnknownPak
from recollect.paks import PakRelationEntry, ReasonCodeEntry, RiskFlagEntry
from recollect.policy import Principal
from recollect.testing import FakeClock

Open = Callable[..., Recollect]

ASKED: list[tuple[str, dict[str, object]]] = [
    ("paks.list", {}),
    ("paks.list", {"limit": 1}),
    ("paks.list", {"project": "shop"}),
    ("paks.list", {"pak_type": "decision"}),
    ("paks.search", {"text": "the kiln"}),
    ("paks.search", {"text": "kiln firing", "match": "all"}),
    ("paks.search", {"text": "kiln", "project": "shop"}),
    ("paks.search", {"text": "secret"}),
    ("paks.get", {"pak_id": "kiln"}),
    ("paks.get", {"pak_id": "hidden"}),
    ("paks.get", {"pak_id": "nobody"}),
    ("paks.set_reason_codes", {"pak_id": "hidden", "reason_codes": ["stable_context"]}),
    ("paks.set_reason_codes", {"pak_id": "nobody", "reason_codes": ["stable_context"]}),
    ("paks.set_risk_flags", {"pak_id": "hidden", "risk_flags": []}),
]


def fill(people: People) -> None:
    people.ann.remember(
        "The kiln is booked.", pak_id="kiln", title="The kiln", project="shop", tags=["a"]
    )
    people.ann.remember(
        "Firing takes ten hours.", pak_id="firing", title="Firing the kiln", pak_type="decision"
    )
    people.root.remember("Clay is in the shed.", pak_id="clay", title="Clay", scope="company")


def told(memory: Recollect, verb: str, given: dict[str, object]) -> bytes:
    try:
        answer = by_name(verb).perform(memory, given)
    except (NotAllowed, UnknownPak) as error:
        name = str(given["pak_id"])
        return repr((type(error), str(error).replace(name, "it"), error.hint)).encode()
    assert isinstance(answer, dict)
    return wire.encode(answer)


def all_told(memory: Recollect) -> list[bytes]:
    found = [told(memory, verb, dict(given)) for verb, given in ASKED]
    page = memory.catalogue.list(limit=1)
    while page.next_cursor is not None:
        page = memory.catalogue.list(limit=1, cursor=page.next_cursor)
        found.append(wire.encode(wire.catalogue_page(page)))
    return [*found, repr(memory.catalogue.flagged()).encode()]


def hide_much(people: People) -> None:
    people.bob.remember("The kiln is a secret.", pak_id="hidden", title="The kiln kiln kiln")
    for number in range(30):
        people.dan.remember(f"Kiln firing {number}", pak_id=f"d{number}", title="The kiln firing")
    people.opener.paks.set_pak_relations("kiln", [PakRelationEntry("hidden", "supports")])
    people.opener.paks.set_pak_risk_flags(
        "hidden", [RiskFlagEntry("manual_review_recommended", "block")]
    )


@pytest.fixture
def twins(open_memory: Open) -> Iterator[tuple[People, People]]:
    one, other = (people_of(open_memory(clock=FakeClock())) for _ in range(2))
    fill(one)
    fill(other)
    hide_much(other)
    yield one, other


def test_a_hidden_pak_changes_no_byte(twins: tuple[People, People]) -> None:
    one, other = twins
    assert all_told(one.ann) == all_told(other.ann)
    assert all_told(one.bob) != all_told(other.bob)


def test_what_is_hidden_looks_like_what_is_not_there(people: People) -> None:
    fill(people)
    hide_much(people)
    asked: dict[str, dict[str, object]] = {
        "paks.get": {},
        "paks.set_reason_codes": {"reason_codes": []},
        "paks.set_risk_flags": {"risk_flags": []},
    }
    for verb, more in asked.items():
        hidden, nobody = (
            told(people.ann, verb, {"pak_id": name, **more}) for name in ("hidden", "nobody")
        )
        assert hidden == nobody


def test_codes_and_flags_are_set_by_who_may_change_the_memory(people: People) -> None:
    fill(people)
    codes = people.ann.catalogue.set_reason_codes(
        "kiln", ["stable_context", {"reason_code": "mandatory", "weight": 0.5}]
    )
    assert codes == (ReasonCodeEntry("mandatory", 0.5), ReasonCodeEntry("stable_context", 1.0))
    flags = people.ann.catalogue.set_risk_flags(
        "kiln", [RiskFlagEntry("manual_review_recommended", "warn")]
    )
    found = people.ann.catalogue.get("kiln")
    assert found is not None
    assert (found.reason_codes, found.risk_flags) == (codes, flags)
    assert people.ann.catalogue.set_reason_codes("kiln", []) == ()
    with pytest.raises(NotAllowed, match="not for ann to change"):
        people.ann.catalogue.set_reason_codes("clay", ["mandatory"])
    with pytest.raises(NotAllowed):
        people.mod.catalogue.set_risk_flags("clay", [])
    acts = [(one.act, one.detail) for one in people.root.audit()]
    assert acts[:3] == [
        ("pak.reason_codes", ""),
        ("pak.risk_flags", "manual_review_recommended"),
        ("pak.reason_codes", "mandatory, stable_context"),
    ]


def test_codes_and_flags_are_those_of_the_registries(people: People) -> None:
    fill(people)
    catalogue = people.ann.catalogue
    wrong: list[object] = ["because", {"reason_code": "mandatory", "why": 1}, 7, {"weight": 1.0}]
    for one in wrong:
        with pytest.raises(InvalidInput):
            catalogue.set_reason_codes("kiln", [one])  # type: ignore[list-item]
    for flag in [
        "manual_review_recommended",
        {"risk_flag": "manual_review_recommended"},
        {"risk_flag": "stale", "severity": "loud"},
    ]:
        with pytest.raises(InvalidInput):
            catalogue.set_risk_flags("kiln", [flag])  # type: ignore[list-item]
    with pytest.raises(InvalidInput):
        catalogue.set_reason_codes("kiln", "mandatory")
    found = catalogue.get("kiln")
    assert found is not None
    assert (found.reason_codes, found.risk_flags) == ((), ())


def test_words_find_and_filters_keep_out(people: People) -> None:
    fill(people)
    catalogue = people.ann.catalogue
    assert [one.pak.pak_id for one in catalogue.search("kiln")] == ["kiln", "firing"]
    assert [one.pak.pak_id for one in catalogue.search("firing kiln", match="all")] == ["firing"]
    assert [one.pak.pak_id for one in catalogue.search("kiln", project="shop")] == ["kiln"]
    assert [one.pak.pak_id for one in catalogue.search("kiln", limit=1)] == ["kiln"]
    assert catalogue.search("nothing of it") == catalogue.search("  ") == ()
    assert [one.pak.pak_id for one in catalogue.list(project="shop").items] == ["kiln"]
    assert {one.pak.pak_id for one in catalogue.list().items} == {"kiln", "firing", "clay"}


def test_what_is_flagged_counts_at_once_and_after_opening_again(people: People) -> None:
    fill(people)
    people.ann.catalogue.set_risk_flags(
        "kiln", [RiskFlagEntry("manual_review_recommended", "warn")]
    )
    row = people.ann.catalogue.list(project="shop").items[0]
    assert row.risk_flags == (RiskFlagEntry("manual_review_recommended", "warn"),)
    assert people.opener.check() == ()
    assert people.opener.paks.get_pak_risk_flags("kiln") == [
        RiskFlagEntry("manual_review_recommended", "warn")
    ]


def test_an_instruction_takes_the_right_to_give_one(people: People) -> None:
    people.root.remember("Always greet.", pak_id="order", category="instruction", scope="company")
    people.root.catalogue.set_risk_flags(
        "order", [RiskFlagEntry("manual_review_recommended", "warn")]
    )
    who = people.opener.as_principal(Principal("acme", "root", (), ("read", "write", "admin")))
    with pytest.raises(NotAllowed):
        who.catalogue.set_risk_flags("order", [])


def test_older_versions_that_would_go_are_told_to_whoever_may_erase_them(people: People) -> None:
    def write(who: Recollect, name: str) -> None:
        who.remember(f"First of {name}.", pak_id=name, project="shop")
        who.update(name, content=f"Second of {name}.")
        who.update(name, content="Third.", project="elsewhere")

    write(people.ann, "of-ann")
    assert people.ann.catalogue.older(project="shop") == {"of-ann": [1, 2]}
    before = repr(people.ann.catalogue.older(project="shop"))
    write(people.bob, "of-bob")
    write(people.dan, "of-dan")
    assert repr(people.ann.catalogue.older(project="shop")) == before
    assert people.bob.catalogue.older(project="shop") == {"of-bob": [1, 2]}
    assert set(people.root.catalogue.older(project="shop")) == {"of-ann", "of-bob"}
    assert people.ann.catalogue.older(project="nowhere") == {}
    assert people.ann.catalogue.older(scope="company", project="shop") == {}
    # What is forgotten then is what was told.
    assert people.root.forget(project="shop").versions == 4
    reader = people.opener.as_principal(Principal("acme", "ann", (), ("read",)))
    with pytest.raises(NotAllowed):
        reader.catalogue.older(project="shop")
    with pytest.raises(InvalidInput):
        people.ann.catalogue.older()
