"""Keep: what is in a store, browsed and narrowed; as names with counts; by time; as conversations.

In: words, a project, a type and so on, as typed or linked. Out: rows that are short enough to list,
how many there are of what, and where the next page begins. A whole text is on its memory's page.
"""

from __future__ import annotations

import json
from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recollect.edge.inspector.page import Data, Form, Page
from recollect.edge.inspector.texts import LONG_CHARS, beginning
from recollect.errors import InvalidInput, NoSuchRoute
from recollect.model.memory import name_key
from recollect.paks.registry import RISK_FLAGS
from recollect.recall.listing import after_turns

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["FORMS", "PAGES", "as_found", "rows_of"]

_A_PAGE = 20
_TURNS = 40
_NAMES = 50
_MOST_FOUND = 1_000
# So many ids fit into a filter, with what else narrows.
_MOST_FLAGGED = 900
_SHOWN_NAMES = 6
# From so many months on, a time line has a bar a year.
_MOST_MONTHS = 36

# What narrows, as the query of a page spells it: fields of `list`, and conditions of its filter.
_NARROWING = ("project", "tags", "thread", "speaker", "since", "until", "entity", "source")
_NARROWED = (*_NARROWING, "scope", "garden", "filter")
_CONDITIONS = ("type", "status", "flag", "part", "metadata")
_FACETS = {
    "project": ("Projects", "project"),
    "pak_type": ("Types", "type"),
    "tag": ("Tags", "tags"),
    "thread": ("Conversations", "thread"),
    "speaker": ("Speakers", "speaker"),
    "risk": ("Shapes of injection", "flag"),
    "flag": ("Risk flags", "flag"),
}
_ORDERS = ("updated", "occurred", "title")
_STATUSES = ("active", "archived")
_ROW = (
    *("pak_id", "title", "project", "tags", "pak_type", "thread", "speaker", "occurred_at"),
    *("created_at", "updated_at", "status", "risks", "superseded_by"),
)


def _keep(visit: Visit) -> Data:
    typed = _typed(visit)
    asked = _asked(visit)
    words = visit.text("words")
    order = visit.text("order") or "updated"
    found = _by_words(visit, words, asked) if words else _listed(visit, order, asked)
    counts = found.pop("counts")
    flagged = visit.flagged()
    return {
        "typed": typed,
        "words": words,
        "order": order,
        "orders": list(_ORDERS),
        "statuses": list(_STATUSES),
        "memories": counts["memories"],
        "facets": [_facet(kind, counts[kind]) for kind in _FACETS if kind in counts],
        "flags": [] if asked or words else _most(_sizes(flagged)),
        "flag_names": sorted({*RISK_FLAGS, *counts["risk"], *flagged}),
        "parts_of": _parts(visit, flagged.get(typed["flag"] or "", ())),
        "is_narrowed": bool(asked or words),
        **found,
        "items": _with_flags(found["items"], flagged),
    }


def _sizes(flagged: Mapping[str, Sequence[str]]) -> dict[str, int]:
    return {flag: len(ids) for flag, ids in flagged.items()}


def _with_flags(rows: Iterable[Data], flagged: Mapping[str, Sequence[str]]) -> list[Data]:
    """Return rows with the risk flags that somebody gave them."""
    sets = {flag: frozenset(ids) for flag, ids in flagged.items()}
    return [
        {**row, "flags": [flag for flag, ids in sets.items() if row["pak_id"] in ids]}
        for row in rows
    ]


def _typed(visit: Visit) -> dict[str, Any]:
    """Return what narrows, as it was typed: for the form, and for the links of the page."""
    one = {name: visit.text(name) for name in (*_NARROWED, *_CONDITIONS) if name != "tags"}
    return {**one, "tags": visit.texts("tags")}


def _asked(visit: Visit) -> dict[str, Any]:
    """Return what narrows, as `list` and `recall` take it."""
    asked = visit.given("list", *_NARROWED)
    conditions = [asked.pop("filter")] if "filter" in asked else []
    if (kind := visit.text("type")) is not None:
        conditions.append({"pak_type": kind})
    if (status := visit.text("status")) is not None:
        conditions.append({"status": status})
    if (flag := visit.text("flag")) is not None:
        conditions.append(_of_flag(visit, flag))
    if (said := visit.text("metadata")) is not None:
        conditions.append(_of_metadata(said))
    if conditions:
        asked["filter"] = conditions[0] if len(conditions) == 1 else {"and": conditions}
    return asked


def _of_flag(visit: Visit, flag: str) -> dict[str, Any]:
    """Return the condition that a memory has a flag: by its text, or given to it by somebody.

    Of more ids than a filter takes each part is a list of its own; what has the flag by its text
    stands in the first.
    """
    ids = visit.flagged().get(flag, ())
    part = _parts(visit, ids)["part"]
    given = {"pak_id": {"in": list(ids[(part - 1) * _MOST_FLAGGED : part * _MOST_FLAGGED])}}
    by_text = {"risks": {"contains": flag}}
    if part > 1:
        return {"and": [given, {"not": by_text}]}
    return {"or": [by_text, given]} if ids else by_text


def _parts(visit: Visit, ids: Sequence[str]) -> Data:
    """Return in how many parts what has a flag is listed, and which of them is asked for."""
    count = max(1, -(-len(ids) // _MOST_FLAGGED))
    return {"part": min(max(1, _whole(visit.text("part"))), count), "count": count, "ids": len(ids)}


def _of_metadata(said: str) -> dict[str, Any]:
    """Return the condition that `name=value` stands for; a name alone asks whether there is one."""
    name, sign, value = said.partition("=")
    if not name.strip():
        raise InvalidInput(
            f"metadata is asked for by name, not {said!r:.60}.",
            hint="write ticket and what it is, with an equals sign between.",
        )
    path = f"metadata.{name.strip()}"
    return {path: _value(value.strip()) if sign else {"exists": True}}


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, dict | list) else value


def _listed(visit: Visit, order: str, asked: Mapping[str, Any]) -> Data:
    cursor = visit.given("list", "cursor")
    page = visit.ask("list", limit=_A_PAGE, order=order, counts=True, **cursor, **asked)
    return {
        "counts": page["counts"],
        "items": rows_of(page["items"]),
        "next_cursor": page["next_cursor"],
        "is_first": visit.text("cursor") is None,
    }


def _by_words(visit: Visit, words: str, asked: Mapping[str, Any]) -> Data:
    """Return what a recall finds, best first; the cursor of a page is how many came before it."""
    before = _whole(visit.text("cursor"))
    wanted = min(before + _A_PAGE + 1, _MOST_FOUND)
    answer = visit.ask("recall", query=words, top_k=wanted, detail="index", **asked)
    found = [{**one, "risks": one["risk"]} for one in answer["results"]]
    more = len(found) > before + _A_PAGE
    return {
        "counts": visit.ask("list", limit=1, counts=True, **asked)["counts"],
        "items": found[before : before + _A_PAGE],
        "next_cursor": str(before + _A_PAGE) if more else None,
        "is_first": before == 0,
    }


def _whole(text: str | None) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInput("this is no page of this list.", hint="start with the first page.")
    return int(text)


def rows_of(memories: Iterable[Mapping[str, Any]]) -> list[Data]:
    """Return memories as rows of a list: how they begin, however long they are."""
    return [
        {**{name: one[name] for name in _ROW}, "beginning": beginning(one["content"])}
        for one in memories
    ]


def _facet(kind: str, counts: Mapping[str, int]) -> Data:
    """Return the names that most have, and how many names there are."""
    label, field = _FACETS[kind]
    return {
        "kind": kind,
        "label": label,
        "field": field,
        "names": _most(as_found(kind, counts))[:_SHOWN_NAMES],
        "count": len(as_found(kind, counts)),
    }


def as_found(kind: str, counts: Mapping[str, int]) -> Mapping[str, int]:
    """Return counts of what a name finds: a project with what lies below it, one name a speaker."""
    if kind == "project":
        return _with_what_lies_below(counts)
    if kind != "speaker":
        return counts
    spelt: dict[str, str] = {}
    found: dict[str, int] = {}
    for name in sorted(counts, key=lambda one: (-counts[one], one)):
        usual = spelt.setdefault(name_key(name), name)
        found[usual] = found.get(usual, 0) + counts[name]
    return found


def _with_what_lies_below(counts: Mapping[str, int]) -> dict[str, int]:
    found = dict.fromkeys(counts, 0)
    for name, count in counts.items():
        ends = [at for at, sign in enumerate(name) if sign == "/"]
        for above in {name, name.rstrip("/"), *(name[:at] for at in ends)}:
            if above in found:
                found[above] += count
    return found


def _most(counts: Mapping[str, int]) -> list[Data]:
    named = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"name": name, "memories": count} for name, count in named]


def _names(visit: Visit) -> Data:
    kind = visit.text("kind") or ""
    if kind not in _FACETS:
        raise NoSuchRoute("there is no such list of names.", hint=f"there are {', '.join(_FACETS)}")
    return _names_of(visit, kind)


def _names_of(visit: Visit, kind: str) -> Data:
    counts = _counted(visit, kind)
    begin = visit.text("beginning")
    said = {name: n for name, n in counts.items() if begin is None or _begins(name, begin)}
    named, before = _most(said), _whole(visit.text("cursor"))
    label, field = _FACETS[kind]
    shown = named[before : before + _NAMES]
    more = len(named) > before + _NAMES
    return {
        "title": label,
        "kind": kind,
        "field": field,
        "beginning": begin,
        "names": shown,
        "count": len(named),
        "most": max(counts.values(), default=0),
        "next_cursor": str(before + _NAMES) if more else None,
        "is_first": before == 0,
    }


def _counted(visit: Visit, kind: str) -> Mapping[str, int]:
    if kind == "flag":
        return _sizes(visit.flagged())
    return as_found(kind, visit.ask("list", limit=1, counts=True)["counts"][kind])


def _begins(name: str, beginning: str) -> bool:
    return name.casefold().startswith(beginning.casefold())


def _threads(visit: Visit) -> Data:
    return _names_of(visit, "thread")


def _thread(visit: Visit) -> Data:
    """Return a conversation, turn by turn, as it was said."""
    name = visit.text("thread") or ""
    before = _first_of(visit)
    page = _turns(visit, name, before)
    if not page["counts"]["memories"]:
        raise NoSuchRoute(
            f"there is no conversation {name!r:.80}.", hint="/threads has those that you may read."
        )
    if not page["items"]:
        # Past its end: the last page is the nearest.
        before = (page["counts"]["memories"] - 1) // _TURNS * _TURNS
        page = _turns(visit, name, before)
    speakers = list(page["counts"]["speaker"])
    return {
        "thread": name,
        "turns": [
            {**_turn(one, speakers), "number": before + at}
            for at, one in enumerate(page["items"], start=1)
        ],
        "asked_turn": _turn_asked(visit) or None,
        "memories": page["counts"]["memories"],
        "speakers": _most(as_found("speaker", page["counts"]["speaker"])),
        "next_cursor": str(before + _TURNS) if page["next_cursor"] else None,
        "is_first": before == 0,
    }


def _first_of(visit: Visit) -> int:
    """Return how many turns come before the page that is asked for: by its cursor, or a turn."""
    turn = _turn_asked(visit)
    return (turn - 1) // _TURNS * _TURNS if turn else _whole(visit.text("cursor"))


def _turn_asked(visit: Visit) -> int:
    text = visit.text("turn") or "0"
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInput(f"turn cannot be read: {text!r:.40}.", hint="it is a whole number.")
    return int(text)


def _turns(visit: Visit, name: str, before: int) -> Data:
    asked: dict[str, Any] = {"thread": name, "order": "turn", "limit": _TURNS}
    cursor = {"cursor": after_turns(before, **asked)} if before else {}
    return visit.ask("list", counts=True, **asked, **cursor)


def _turn(one: Mapping[str, Any], speakers: list[str]) -> Data:
    named = ("pak_id", "title", "speaker", "occurred_at", "created_at", "status", "risks")
    voice = speakers.index(one["speaker"]) % 6 if one["speaker"] in speakers else None
    content = one["content"]
    return {
        **{name: one[name] for name in named},
        "content": content[:LONG_CHARS],
        "characters": len(content),
        "is_cut": len(content) > LONG_CHARS,
        "voice": voice,
    }


def _timeline(visit: Visit) -> Data:
    """Return memories by when they are from, with a bar for each month or year."""
    given = visit.given("list", "since", "until", "project")
    known = {"project": given["project"]} if "project" in given else {}
    months = visit.ask("list", limit=1, counts=True, **known)["counts"]["month"]
    cursor = visit.given("list", "cursor")
    page = visit.ask("list", order="occurred", limit=_A_PAGE, **cursor, **given)
    bars = _bars(months)
    return {
        "since": given.get("since"),
        "until": given.get("until"),
        "project": given.get("project"),
        "bars": bars,
        "most": max((one["memories"] for one in bars), default=0),
        "memories": sum(months.values()),
        "days": _days(rows_of(page["items"])),
        "next_cursor": page["next_cursor"],
        "is_first": visit.text("cursor") is None,
    }


def _bars(months: Mapping[str, int]) -> list[Data]:
    """Return a bar for each month, also for those without a memory; for a long time, each year."""
    if not months:
        return []
    first, last = min(months), max(months)
    span = _number(last) - _number(first) + 1
    if span <= _MOST_MONTHS:
        named = [
            f"{at // 12:04}-{at % 12 + 1:02}" for at in range(_number(first), _number(last) + 1)
        ]
        return [_bar(name, months.get(name, 0)) for name in named]
    years: dict[str, int] = {}
    for month, count in months.items():
        years[month[:4]] = years.get(month[:4], 0) + count
    return [_bar(year, count) for year, count in sorted(years.items())]


def _number(month: str) -> int:
    year, of_year = month.split("-")
    return int(year) * 12 + int(of_year) - 1


def _bar(name: str, count: int) -> Data:
    if len(name) == len("2026"):
        return {"name": name, "since": f"{name}-01-01", "until": f"{name}-12-31", "memories": count}
    days = monthrange(*map(int, name.split("-")))[1]
    return {"name": name, "since": f"{name}-01", "until": f"{name}-{days}", "memories": count}


def _days(rows: Iterable[Data]) -> list[Data]:
    """Return rows by the day that they are from, in the order they have."""
    found: list[Data] = []
    for row in rows:
        day = str(row["occurred_at"] or row["created_at"])[:10]
        if not found or found[-1]["day"] != day:
            found.append({"day": day, "items": []})
        found[-1]["items"].append(row)
    return found


PAGES = (
    Page(
        "/keep",
        "keep.html",
        _keep,
        "Memories",
        label="Memories",
        group="Keep",
        help="Browse what is kept, and narrow it.",
    ),
    Page(
        "/threads",
        "names.html",
        _threads,
        "Conversations",
        label="Conversations",
        group="Keep",
        help="Read a conversation as it was said.",
    ),
    Page(
        "/timeline",
        "timeline.html",
        _timeline,
        "Time line",
        label="Time line",
        group="Keep",
        help="What is kept, by when it is from.",
    ),
    Page("/threads/{thread}", "thread.html", _thread, "Conversation"),
    Page("/names/{kind}", "names.html", _names, "Names"),
)
FORMS: tuple[Form, ...] = ()
