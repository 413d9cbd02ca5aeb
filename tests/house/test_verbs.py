"""The table of verbs is what the engine takes; the document made from it takes nothing back."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.house.snippets import ROOT

from recollect import Recollect
from recollect.edge.http.openapi import document, statuses
from recollect.edge.http.problems import STATUSES
from recollect.edge.verbs import VERBS, Verb
from recollect.edge.verbs.fields import REQUIRED
from recollect.frames.registry import FrameFields, FrameRegistry
from recollect.verbs.gardens import Gardens
from recollect.verbs.keys import Keys
from recollect.verbs.quarantine import Quarantine
from recollect.verbs.trust import Trust

# What the document once promised; a field may be added, none is removed or becomes another.
PROMISED = ROOT / "tests/data/openapi.json"
ROOMS: dict[str, type] = {
    "frames": FrameRegistry,
    "gardens": Gardens,
    "keys": Keys,
    "quarantine": Quarantine,
    "trust": Trust,
}
# Verbs that are called by another name, or take their words in another form.
CALLED = {"import": "import_", "forget_one": "forget"}
OTHERWISE = {
    "select": "its fields are those of SelectQuery",
    "explain": "its fields are those of a recall, or of select",
    "keys.create": "a principal of the key's own tenant, by its parts",
    "update": "its fields are those of remember",
    "me": "who asks is known",
    "frames.register": "its parts are those of a frame",
    "frames.update": "its parts are those of a frame",
    "paks.list": "a filter of the catalogue, by its parts",
}
# What stays with whoever holds the store, or is said by the door itself.
NOT_SENT = {"self", "progress", "everything", "principal", "tenant"}


def called(verb: Verb) -> Callable[..., Any] | None:
    """Return what the engine does for a verb."""
    room, _, name = verb.name.rpartition(".")
    kind = ROOMS.get(room, Recollect)
    found: Callable[..., Any] | None = getattr(kind, CALLED.get(name, name), None)
    return found


PLAIN = [one for one in VERBS if one.name not in OTHERWISE and not one.name.startswith("paks.")]


@pytest.mark.parametrize("verb", PLAIN, ids=lambda verb: verb.name)
def test_a_verb_takes_what_the_engine_takes_with_the_same_defaults(verb: Verb) -> None:
    parameters = dict(inspect.signature(called(verb)).parameters)
    fields = {one.name: one for one in verb.fields}
    for name in ("detail", "text_budget"):
        fields.pop(name, None)  # how much of the answer leaves
    assert fields.keys() - parameters.keys() == set()
    if verb.name != "forget_one":
        own = set() if verb.name in ("gardens.add", "gardens.remove", "why") else NOT_SENT
        assert parameters.keys() - fields.keys() <= own | {"self"}, verb.name
    for name, field in fields.items():
        given = parameters[name].default
        if (verb.name, name) == ("supersede", "new"):
            continue  # None must be said in Python; elsewhere it is to leave it out
        if field.default is REQUIRED:
            assert given is inspect.Parameter.empty or verb.name == "forget_one", name
        else:
            assert given == field.default, name


def test_the_parts_of_a_frame_are_those_that_frames_take() -> None:
    for name in ("frames.register", "frames.update"):
        verb = next(one for one in VERBS if one.name == name)
        own = {"name", "extends", "request_id"}
        assert {one.name for one in verb.fields} - own == set(FrameFields.__annotations__)


def test_no_two_verbs_share_a_name_or_a_route() -> None:
    assert len({one.name for one in VERBS}) == len(VERBS)
    assert len({(one.route.method, one.route.path) for one in VERBS}) == len(VERBS)
    for one in VERBS:
        assert one.route.path.startswith("/v1/"), one.name
        assert one.help.endswith("."), one.name
        assert all(field.help.endswith(".") for field in one.fields), one.name


def test_each_status_of_an_error_is_documented() -> None:
    documented = {status for verb in VERBS for status in statuses(verb)} | {405}
    assert set(STATUSES.values()) <= documented


def test_what_was_promised_is_promised_still() -> None:
    promised = json.loads(PROMISED.read_text(encoding="utf-8"))
    assert list(broken(promised, json.loads(json.dumps(document())))) == []


def test_a_field_that_goes_or_becomes_another_is_noticed() -> None:
    promised = json.loads(json.dumps(document()))
    now = json.loads(json.dumps(document()))
    del now["components"]["schemas"]["Memory"]["properties"]["speaker"]
    body = now["paths"]["/v1/recall"]["post"]["requestBody"]["content"]["application/json"]
    body["schema"]["properties"]["top_k"]["type"] = "string"
    now["paths"]["/v1/me"].pop("get")
    assert len(list(broken(promised, now))) == 3


def broken(promised: Any, now: Any, where: str = "") -> Iterator[str]:
    """Yield what is not there any more, or is of another type; words and examples may change."""
    if isinstance(promised, dict):
        for name, one in promised.items():
            if name in ("description", "summary", "examples", "title", "version", "tags"):
                continue
            if not isinstance(now, dict) or name not in now:
                yield f"{where}/{name} is gone"
            else:
                yield from broken(one, now[name], f"{where}/{name}")
    elif isinstance(promised, list):
        kept = [one for one in promised if one not in now] if isinstance(now, list) else promised
        if all(isinstance(one, str) for one in promised) and kept:
            yield f"{where} lacks {kept}"
        elif isinstance(now, list) and not all(isinstance(one, str) for one in promised):
            yield from _of_list(promised, now, where)
    elif promised != now and where.rpartition("/")[2] in ("type", "$ref", "in", "name", "format"):
        yield f"{where} was {promised} and is {now}"


def _of_list(promised: list[Any], now: list[Any], where: str) -> Iterator[str]:
    named = {one["name"]: one for one in now if isinstance(one, dict) and "name" in one}
    for number, one in enumerate(promised):
        if isinstance(one, dict) and "name" in one:
            yield from broken(one, named.get(one["name"]), f"{where}/{one['name']}")
        elif number < len(now):
            yield from broken(one, now[number], f"{where}/{number}")
