"""The flags of a whole package: each rule where it begins to hold."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from tests.house.snippets import ROOT
from tests.unit.select.test_select import put

from recollect.paks import ReasonCodeEntry, RecallStore
from recollect.paks.registry import RISK_FLAGS
from recollect.recall.flags import PACKAGE_RULES, Package, package_flags
from recollect.recall.select import SelectQuery, select

QUIET = Package(
    returned=3,
    considered=3,
    mandatory=0,
    mandatory_missing=0,
    asked=True,
    matched=1,
    strength=1.0,
)


def names(package: Package) -> list[str]:
    return [flag.risk_flag for flag in package_flags(package)]


def test_the_six_are_of_the_registry_and_each_has_a_rule_in_words() -> None:
    assert len(PACKAGE_RULES) == 6
    assert set(PACKAGE_RULES) <= set(RISK_FLAGS)
    assert names(QUIET) == []


def test_the_page_for_people_has_the_same_rules() -> None:
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", page, re.MULTILINE)
    told = {name: (severity, rule.replace("`", "")) for name, severity, rule in rows}
    assert told == {name: (RISK_FLAGS[name], rule) for name, rule in PACKAGE_RULES.items()}


@pytest.mark.parametrize(
    ("facts", "raised"),
    [
        ({"mandatory": 1}, "mandatory_context_present"),
        ({"mandatory": 1, "mandatory_missing": 1}, "mandatory_context_missing"),
        ({"mandatory_missing": 1}, "mandatory_context_missing"),
        ({"matched": 0}, "possible_context_miss"),
        ({"degraded": True}, "possible_context_miss"),
        ({"jumped": True}, "possible_context_miss"),
        ({"strength": 0.49}, "low_confidence_plan"),
        ({"considered": 31}, "large_context_reduction"),
        ({"cached_order": True}, "cache_sensitive_ordering"),
    ],
    ids=str,
)
def test_each_is_raised_by_its_own_facts(facts: dict[str, Any], raised: str) -> None:
    assert names(replace(QUIET, **facts)) == [raised]


@pytest.mark.parametrize(
    "facts",
    [
        {"asked": False, "matched": 0},
        {"strength": 0.5},
        {"strength": None},
        {"considered": 30},
        {"returned": 0, "considered": 0},
    ],
    ids=str,
)
def test_none_is_raised_just_short_of_it(facts: dict[str, Any]) -> None:
    assert names(replace(QUIET, **facts)) == []


def test_the_loudest_comes_first() -> None:
    everything = replace(
        QUIET, mandatory_missing=1, matched=0, strength=0.1, considered=100, cached_order=True
    )
    assert [flag.severity for flag in package_flags(everything)] == [
        "block",
        "warn",
        "warn",
        "warn",
        "info",
    ]


def flags_of(store: RecallStore, **query: object) -> set[str]:
    asked = SelectQuery(now="2026-05-11T12:00:00Z", **query)  # type: ignore[arg-type]
    return {flag.risk_flag for flag in select(store, asked).flags}


def test_select_raises_them_from_what_it_did() -> None:
    with RecallStore.open(":memory:") as store:
        put(store, "rule", ("mandatory", 0.1), title="redis", project="shop")
        put(store, "more", ("user_pinned", 1.0), title="redis queue", project="shop")
        assert flags_of(store, project="shop") == {"mandatory_context_present"}
        assert flags_of(store, project="shop", limit=1) == {"mandatory_context_missing"}
        assert flags_of(store, text="elephant") == {"possible_context_miss"}
        store.set_pak_reason_codes("more", [ReasonCodeEntry("cache_ordering_candidate")])
        assert flags_of(store, text="queue") == {"cache_sensitive_ordering"}
        for number in range(30):
            put(store, f"filler {number}", pak_type="filler")
        assert flags_of(store, pak_type="filler", limit=2) == {
            "large_context_reduction",
            "low_confidence_plan",
        }


def test_a_mandatory_copy_that_was_collapsed_is_not_missing() -> None:
    with RecallStore.open(":memory:") as store:
        put(store, "a", ("mandatory", 1.0), project="shop", content_hash="same")
        put(store, "b", project="shop", content_hash="same")
        assert flags_of(store, project="shop") == {"mandatory_context_present"}


def test_what_the_budget_jumped_over_may_be_missed() -> None:
    with RecallStore.open(":memory:") as store:
        put(store, "big", ("user_pinned", 1.0), title="x" * 400, project="shop")
        put(store, "small", title="y", project="shop")
        assert flags_of(store, project="shop", token_budget=10) == {"possible_context_miss"}
