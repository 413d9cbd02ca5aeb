"""Whichever verb writes is interrupted at each of its lines: none is left out of the sweep."""

from __future__ import annotations

import inspect

from tests.faults.verbs import ASKED_BEFORE, BESIDES, DAMAGE, ON_NOTHING, VERBS
from tests.house.test_requests import READS, verbs

from recollect.paks.catalogue import PakCatalogue

# They read unless they are told to write, or leave the cache file behind.
WRITE_SOMETIMES = {"close", "recall", "respond"}
CATALOGUE_READS = {
    "check",
    "close",
    "count_paks",
    "find_flagged_paks",
    "find_paks_by_source",
    "get_pak",
    "get_pak_anchors",
    "get_pak_reason_codes",
    "get_pak_relations",
    "get_pak_risk_flags",
    "get_pak_risk_flags_of_each",
    "get_paks",
    "iter_paks",
    "list_paks",
    "records",
    "search",
    "snapshot",
}


def swept() -> set[str]:
    return {name.partition(" ")[0] for name in VERBS}


def calls_of_the_catalogue() -> set[str]:
    members = inspect.getmembers(PakCatalogue, callable)
    return {name for name, _ in members if not name.startswith("_")}


def test_every_verb_that_writes_is_in_the_sweep() -> None:
    named = {name for name, _ in verbs()}
    assert named - READS <= swept()
    assert swept() >= WRITE_SOMETIMES
    assert {name for name in swept() if not name.startswith("paks.")} <= named


def test_every_call_that_writes_to_the_catalogue_is_in_the_sweep() -> None:
    assert calls_of_the_catalogue() >= CATALOGUE_READS
    writes = {f"paks.{name}" for name in calls_of_the_catalogue() - CATALOGUE_READS}
    assert {name for name in swept() if name.startswith("paks.")} == writes


def test_what_is_made_ready_is_made_ready_for_a_verb_of_the_sweep() -> None:
    assert {*ASKED_BEFORE, *BESIDES, *DAMAGE, *ON_NOTHING} <= set(VERBS)
