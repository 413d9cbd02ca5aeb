"""Of each verb somebody says whether it reads, takes a request id, or why it takes none."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from recollect import Recollect
from recollect.aio import AsyncRecollect
from recollect.edge.verbs import VERBS
from recollect.frames.registry import FrameRegistry
from recollect.verbs.catalogue import ViewedCatalogue
from recollect.verbs.gardens import Gardens
from recollect.verbs.keys import Keys
from recollect.verbs.quarantine import Quarantine
from recollect.verbs.trust import Trust

ROOMS = {
    "": Recollect,
    "catalogue.": ViewedCatalogue,
    "frames.": FrameRegistry,
    "gardens.": Gardens,
    "keys.": Keys,
    "quarantine.": Quarantine,
    "trust.": Trust,
}
READS = {
    "as_principal",
    "audit",
    "backup",
    "check",
    "close",
    "disputes",
    "examine",
    "explain",
    "preview",
    "export",
    "get",
    "head",
    "figures",
    "holdings",
    "history",
    "ids",
    "inspect",
    "list",
    "open",
    "receipts",
    "select",
    "stats",
    "why",
    "catalogue.flagged",
    "catalogue.get",
    "catalogue.list",
    "catalogue.older",
    "catalogue.search",
    "frames.extends",
    "frames.get",
    "frames.list",
    "gardens.list",
    "gardens.members",
    "keys.list",
    "keys.principal_by",
    "keys.principal_for",
    "quarantine.list",
    "trust.list",
    "trust.of",
}
_SAME_AGAIN = "sent again it finds nothing left to do, or does the same to what is there"
_RECEIPT = "it reads; a receipt of the same answer takes the place of the one before"
WITHOUT = {
    "frame": "it answers as of now; a use that is counted twice is a use more",
    "prune_versions": _SAME_AGAIN,
    "recall": _RECEIPT,
    "reembed": _SAME_AGAIN,
    "reindex": _SAME_AGAIN,
    "repair": _SAME_AGAIN,
    "respond": _RECEIPT,
}


def verbs() -> Iterator[tuple[str, inspect.Signature]]:
    for room, kind in ROOMS.items():
        for name, verb in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                yield room + name, inspect.signature(verb)


def test_a_verb_that_writes_takes_a_request_id_or_somebody_says_why_not() -> None:
    takes = {name for name, signature in verbs() if "request_id" in signature.parameters}
    assert {name for name, _ in verbs()} == takes | READS | set(WITHOUT)
    assert not takes & (READS | set(WITHOUT))
    assert not READS & set(WITHOUT)


def test_a_request_id_is_given_by_name() -> None:
    kinds = {
        one.kind
        for _, signature in verbs()
        for name, one in signature.parameters.items()
        if name == "request_id"
    }
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


def test_whatever_writes_through_a_door_knows_its_requests_by_name() -> None:
    assert [one.name for one in VERBS if one.effect != "reads" and not one.repeats] == []
    assert [one.name for one in VERBS if one.effect == "reads" and one.repeats] == []


def test_whoever_awaits_a_verb_gives_it_the_same_request_id() -> None:
    for name, signature in verbs():
        if "." not in name and "request_id" in signature.parameters:
            twin = inspect.signature(getattr(AsyncRecollect, name))
            assert "request_id" in twin.parameters, name
