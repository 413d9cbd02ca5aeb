"""A filter gives what looking at each memory by itself would give, on each store, whatever happens.

The rule that is looked up here is written a second time, in plain Python and without an index.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Recollect
from recollect.model import Memory, name_key
from recollect.testing import FakeClock

NAMES = ("Ann", "ANN ", "bob", "Straße", "STRASSE")
TIMES = ("2023-05-01", "2023-05-01T10:00:00Z", "2023-05-01T12:00:00+02:00", "2024-02-29", "soon")
SCALARS = (None, True, False, 0, 1, 1.0, -2.5, 2**53, "", "a", "b", "a.b", "1", "é")
FOLDED = ("source", "entity", "relation", "value", "speaker")
TIMED = ("occurred_at", "created_at", "valid_until", "when")
PLAIN = ("thread", "project", "category", "topic", "owner", "scope", "status", "pak_id", "title")


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return type(value).__name__


texts = st.sampled_from(("t1", "t2", "shop", "T1"))
memories = st.fixed_dictionaries(
    {},
    optional={
        "thread": texts,
        "project": texts,
        "category": texts,
        "topic": texts,
        "entity": st.sampled_from(NAMES),
        "speaker": st.sampled_from(NAMES),
        "occurred_at": st.sampled_from(TIMES),
        "valid_until": st.sampled_from(("2090-01-01T00:00:00Z", "2091-05-05")),
        "tags": st.lists(st.sampled_from(("x", "y", "self/z")), unique=True),
        "metadata": st.dictionaries(
            st.sampled_from("abc"),
            st.recursive(
                st.sampled_from(SCALARS),
                lambda inner: st.one_of(
                    st.lists(inner, max_size=3),
                    st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
                ),
                max_leaves=4,
            ),
            max_size=3,
        ),
    },
)


def lists(of: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(of, max_size=3)


def conditions(
    paths: Sequence[str], values: st.SearchStrategy[Any], *, ordered: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    asked = st.one_of(
        st.fixed_dictionaries({"exists": st.booleans()}),
        *(st.fixed_dictionaries({one: values}) for one in ("eq", "ne")),
        *(st.fixed_dictionaries({one: lists(values)}) for one in ("in", "nin")),
        *(st.fixed_dictionaries({one: ordered}) for one in ("gt", "gte", "lt", "lte")),
        st.fixed_dictionaries({"gte": ordered, "lt": ordered}),
    )
    return st.sampled_from(paths).flatmap(lambda path: st.fixed_dictionaries({path: asked}))


times = st.sampled_from([one for one in TIMES if one != "soon"])
plain = st.sampled_from((*NAMES, "t1", "t2", "shop", "active", "local"))
scalars = st.sampled_from(SCALARS)
ordered = st.sampled_from([one for one in SCALARS if one is not None and kind(one) != "truth"])
paths = ("metadata.a", "metadata.b", "metadata.a.b", "metadata.c.a")
leaves = st.one_of(
    conditions(paths, st.one_of(scalars, st.lists(scalars, max_size=2)), ordered=ordered),
    conditions(paths, scalars, ordered=ordered),
    st.sampled_from(paths).flatmap(
        lambda path: st.fixed_dictionaries({path: st.fixed_dictionaries({"contains": scalars})})
    ),
    conditions(TIMED, times, ordered=times),
    conditions((*PLAIN, *FOLDED), plain, ordered=plain),
    st.fixed_dictionaries({"tags": st.fixed_dictionaries({"contains": st.sampled_from("xyz")})}),
    st.fixed_dictionaries({"thread": texts}),
    st.fixed_dictionaries(
        {"title": st.fixed_dictionaries({"contains": st.sampled_from(("1", "note", "é"))})}
    ),
)
filters = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=5,
)

_MISSING = object()


def moment(text: Any, *, last: bool = False) -> Any:
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return _MISSING
    if len(text) == 10 and last:
        at = at.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def value_at(memory: Memory, path: str) -> Any:
    """Return what stands at a path, or `_MISSING`."""
    if path.startswith("metadata."):
        return _inside(getattr(memory, "metadata", {}), path.split(".")[1:])
    if path in ("owner", "scope"):
        return getattr(memory.place, path)
    if path == "when":
        happened = moment(memory.occurred_at)
        return moment(memory.created_at) if happened is _MISSING else happened
    value = getattr(memory, path)
    if path in TIMED:
        return moment(value)
    if value is None:
        return _MISSING
    return name_key(value) if path in FOLDED else value


def _inside(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value


def same(one: Any, other: Any) -> bool:
    if one is _MISSING or kind(one) != kind(other):
        return False
    return spelt(one) == spelt(other) if isinstance(one, list | dict) else bool(one == other)


def spelt(value: Any) -> str:
    """Return a list or an object in one spelling; in it 1 and 1.0 are two."""
    return json.dumps(value, sort_keys=True)


def holds(value: Any, operator: str, operand: Any) -> bool:
    if operator == "exists":
        return (value is not _MISSING) is operand
    if operator == "ne":
        return not same(value, operand)
    if operator == "eq":
        return same(value, operand)
    if operator in ("in", "nin"):
        return any(same(value, one) for one in operand) is (operator == "in")
    if operator == "contains":
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, list | tuple) and any(same(one, operand) for one in value)
    if value is _MISSING or kind(value) != kind(operand):
        return False
    orders = {"gt": value > operand, "gte": value >= operand, "lt": value < operand}
    return bool(orders.get(operator, value <= operand))


def asked_for(path: str, operator: str, operand: Any) -> Any:
    if operator == "exists":
        return operand
    if path in TIMED:
        last = operator in ("lte", "gt")
        if isinstance(operand, list):
            return [moment(one, last=last) for one in operand]
        return moment(operand, last=last)
    if path in FOLDED:
        return list(map(name_key, operand)) if isinstance(operand, list) else name_key(operand)
    return operand


def fulfils(memory: Memory, wanted: Mapping[str, Any]) -> bool:
    """Return whether one memory fulfils a filter."""
    for path, asked in wanted.items():
        if path == "and":
            fine = all(fulfils(memory, one) for one in asked)
        elif path == "or":
            fine = any(fulfils(memory, one) for one in asked)
        elif path == "not":
            fine = not fulfils(memory, asked)
        else:
            each = asked if isinstance(asked, Mapping) else {"eq": asked}
            value = value_at(memory, path)
            fine = all(
                holds(value, operator, asked_for(path, operator, operand))
                for operator, operand in each.items()
            )
        if not fine:
            return False
    return True


def look(memory: Recollect, asked: Mapping[str, Any]) -> None:
    """See that a recall finds just those that fulfil a filter."""
    everything = [one for one in memory.list(limit=1000).items if one.status == "active"]
    wanted = {one.pak_id for one in everything if fulfils(one, asked)}
    found = memory.recall(top_k=1000, diversity=1.0, filter=asked)
    assert {one.fact.pak_id for one in found.results} == wanted


steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(0, 7), memories),
        st.tuples(st.just("forget"), st.integers(0, 7), st.none()),
        st.tuples(st.just("ask"), st.none(), filters),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(history=steps, last=filters)
def test_a_filter_finds_what_looking_at_each_memory_finds(
    history: list[tuple[str, Any, Any]], last: dict[str, Any]
) -> None:
    with TemporaryDirectory() as folder:
        for path in ("memory://", Path(folder) / "agent.db"):
            with Recollect.open(
                path, embedder="none", clock=FakeClock(), links=False, cache_file=False
            ) as memory:
                for act, number, given_ in (*history, ("ask", None, last)):
                    if act == "write":
                        memory.remember(f"note {number}", pak_id=f"p{number}", **given_)
                    elif act == "forget":
                        memory.forget(f"p{number}")
                    else:
                        look(memory, given_)
