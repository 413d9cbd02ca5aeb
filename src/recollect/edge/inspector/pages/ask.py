"""Ask: a question, and all that became of it: what was given, why, and what was left out where.

In: a question as somebody whom one may act as, in a frame, as of a time; a second one to put beside
it; or the receipt of an earlier answer. Out: answers of `recall`, taken apart; of any memory, why
it is in or why not.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.edge import wire
from recollect.edge.inspector import taken_apart
from recollect.edge.inspector.page import Data, Form, Page
from recollect.edge.inspector.texts import beginning
from recollect.edge.inspector.visit import name_of
from recollect.edge.verbs import by_name
from recollect.errors import InvalidInput
from recollect.model.request import RecallRequest

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["FORMS", "PAGES"]

_ASKED = (
    *("query", "frame", "top_k", "token_budget", "now", "project", "tags", "thread", "speaker"),
    *("since", "until", "min_match", "filter"),
)
_A_PAGE = 20
# What these kept is not in the answer: a list of memories is.
_BEFORE_CANDIDATES = ("readable", "window")
# What a second question may have otherwise.
_BESIDE = ("query", "frame", "now")


def _ask(visit: Visit) -> Data:
    receipt = visit.text("receipt")
    if receipt is not None:
        return _again(visit, receipt)
    who, given = visit.text("as"), visit.given("recall", *_ASKED)
    is_asked = bool(given.get("query")) or visit.text("all") is not None
    first = _answered(visit, who, given) if is_asked else None
    second = _second(visit, who, given) if is_asked else None
    return {
        **_form(visit, who, given),
        "memories": first["memories"] if first else visit.ask_as(who, "stats")["memories"],
        "answer": first,
        "beside": second,
        "why": _why(visit, who, given) if is_asked else None,
        "passed_over": _passed_over(visit, who, first),
        "kept": _kept(visit, first),
        "receipt": None,
        **_side_by_side(first, second),
    }


def _form(visit: Visit, who: str | None, given: dict[str, Any]) -> Data:
    """Return what the form shows: what was typed, and what may be chosen."""
    names = ("query", "frame", "now", "as")
    return {
        "asked": {name: given.get(name) for name in _ASKED},
        "typed": _typed(visit),
        "second": {name: visit.text(f"b_{name}") for name in names},
        "is_double": any(visit.text(f"b_{name}") for name in (*names, "side")),
        "stage": visit.text("stage"),
        "who": who or name_of(visit.me),
        "others": visit.others(),
        "frames": [one["name"] for one in visit.ask("frames.list")["frames"]],
    }


def _typed(visit: Visit) -> dict[str, list[str]]:
    names = (*_ASKED, "as", "all", "b_query", "b_frame", "b_now", "b_as", "b_side")
    return {name: texts for name in names if (texts := visit.texts(name))}


def _answered(visit: Visit, who: str | None, given: dict[str, Any]) -> Data:
    """Return an answer taken apart."""
    answer = visit.ask_as(who, "recall", **given)
    memories = visit.ask_as(who, "stats")["memories"]
    frame = visit.ask_as(who, "frames.get", name=answer["query"]["frame"])["frame"]
    weights = taken_apart.weights_of(frame, has_query=answer["query"]["query"] is not None)
    count = len(answer["results"]) + len(answer["instructions"])
    question, flagged = answer["query"]["query"], visit.flagged(who)
    scored = partial(taken_apart.scored, weights=weights, question=question, flagged=flagged)
    return {
        **answer,
        "results": [scored(one) for one in answer["results"]],
        "instructions": [scored(one) for one in answer["instructions"]],
        "who": who or name_of(visit.me),
        "weights": weights,
        "memories": memories,
        "funnel": taken_apart.funnel(count, answer["dropped"], memories),
        "denied": list(answer["meta"].get("diagnostic", {}).values()),
    }


def _second(visit: Visit, who: str | None, given: dict[str, Any]) -> Data | None:
    """Return the answer to put beside the first, if something of it is otherwise."""
    other = {name: text for name in _BESIDE if (text := visit.text(f"b_{name}"))}
    other_who = visit.text("b_as") or who
    if not other and other_who == who:
        return None
    return _answered(visit, other_who, {**given, **other})


def _why(visit: Visit, who: str | None, given: dict[str, Any]) -> Data | None:
    """Return what became of one memory in the answer, whichever that is."""
    pak_id = visit.text("why")
    if pak_id is None:
        return None
    # The verb explains a frame where one is named; here it is a recall by that frame.
    memory = visit.served_as(who).memory
    return wire.explanation(memory.explain(pak_id, RecallRequest.from_dict(given)))


def _passed_over(visit: Visit, who: str | None, answer: Data | None) -> Data | None:
    """Return a page of what never became a candidate, if that is asked for.

    Rows of a page of all that may be read, but for those that the answer speaks of.
    """
    if answer is None or visit.text("stage") != taken_apart.CANDIDATES:
        return None
    given = [*answer["results"], *answer["instructions"]]
    spoken_of = {one["fact"]["pak_id"] for one in given}
    spoken_of |= {one["pak_id"] for one in answer["dropped"]}
    page = visit.ask_as(who, "list", limit=_A_PAGE, **visit.given("list", "cursor"))
    return {
        "items": [
            {"pak_id": one["pak_id"], "beginning": beginning(one["content"])}
            for one in page["items"]
            if one["pak_id"] not in spoken_of
        ],
        "next_cursor": page["next_cursor"],
        "is_first": visit.text("cursor") is None,
    }


def _kept(visit: Visit, answer: Data | None) -> Data | None:
    """Return a page of what a stage kept, if that is asked for."""
    name = visit.text("kept")
    if answer is None or name is None:
        return None
    (stage,) = [one for one in answer["funnel"] if one["stage"] == name] or [None]
    if stage is None or name in _BEFORE_CANDIDATES:
        raise InvalidInput("this answer has no such stage.", hint="choose one of its stages.")
    found = taken_apart.kept_at(name, answer["funnel"], answer)
    return {"stage": name, "label": stage["label"], **visit.paged(found, _A_PAGE)}


def _side_by_side(first: Data | None, second: Data | None) -> Data:
    if first is None or second is None:
        return {"left": None, "right": None}
    return {
        "left": taken_apart.beside(first["results"], second["results"]),
        "right": taken_apart.beside(second["results"], first["results"]),
    }


def _again(visit: Visit, receipt: str) -> Data:
    """Return what was given then, beside what the same question gives today."""
    told = visit.ask("why", recall_id=receipt, **visit.given("why", "principal"))
    given = {name: one for name, one in (told["request"] or {}).items() if one not in (None, [])}
    given.pop("now", None)
    who = _of_receipt(visit, told)
    may_ask = told["request"] is not None and who in visit.others()
    today = _today(visit, who, told["verb"], given) if may_ask else None
    return {
        **_form(visit, who if may_ask else None, {}),
        "memories": visit.ask("stats")["memories"],
        "answer": None,
        "beside": None,
        "why": None,
        "passed_over": None,
        "kept": None,
        "receipt": told,
        "given_then": given,
        "today": today,
        "left": taken_apart.beside(told["items"], [] if today is None else today["results"]),
        "right": None if today is None else taken_apart.beside(today["results"], told["items"]),
    }


def _of_receipt(visit: Visit, told: Data) -> str:
    return name_of(visit.me) if told["principal"] == visit.me.id else str(told["principal"])


def _today(visit: Visit, who: str, verb: str, given: dict[str, Any]) -> Data:
    if verb == "recall":
        return _answered(visit, who, given)
    known = {one.name for one in by_name("preview").fields}
    asked = {name: one for name, one in given.items() if name in known}
    text = visit.ask_as(who, "preview", name=given["frame"], **asked)
    return {**text, "results": [taken_apart.as_result(one) for one in text["blocks"]]}


PAGES = (
    Page(
        "/ask",
        "ask.html",
        _ask,
        "Ask",
        label="Ask",
        help="Why an agent was told what it was told.",
    ),
)
FORMS: tuple[Form, ...] = ()
