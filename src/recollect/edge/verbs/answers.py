"""The verbs that answer a question: recall, frame, select, explain; and receipts of answers.

Rows of the table, each with the few lines that call the engine and hand its answer to `wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect import check
from recollect.edge import wire
from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.edge.verbs.narrowing import NOW, OF_FRAMES, PAK_ID, REQUEST
from recollect.edge.verbs.verb import Route, Verb
from recollect.errors import InvalidInput, UnknownReceipt
from recollect.model import (
    Explanation,
    FrameResult,
    RecallResponse,
    Receipt,
)
from recollect.model.request import BUDGET_MAX, MOST_LISTED, RecallRequest

if TYPE_CHECKING:
    from recollect.engine import Recollect
    from recollect.recall.select import SelectQuery

__all__ = ["DETAIL", "VERBS", "checked_detail", "checked_text_budget"]

DETAIL = Field(
    "detail",
    "text",
    "full: each memory whole. index: its id, score, title and first words; then get it.",
    "full",
    choices=("full", "index"),
)

_TEXT_BUDGET = Field(
    "text_budget",
    "whole",
    "With index: the whole texts of the best beside it, up to so many tokens.",
    0,
    least=0,
    most=BUDGET_MAX,
)

_SELECTION = (
    Field("text", "text", "Words to look for in titles and summaries.", ""),
    Field("project", "text", "Raises what is of this project."),
    Field("pak_type", "text", "Raises what is of this type."),
    Field(
        "recency_window_days",
        "number",
        "For how many days a change counts.",
        30,
        least=0,
        most=10**7,
    ),
    Field("limit", "whole", "How many at the most.", 25, least=1, most=10**9),
    Field(
        "token_budget",
        "whole",
        "How many tokens the texts may have together.",
        least=1,
        most=BUDGET_MAX,
    ),
    NOW,
    Field("weights", "numbers", "What a reason code adds, by code; without it, as is usual."),
    Field(
        "exclude",
        "text",
        "What a reason to leave it out does: lower a score, or skip.",
        "penalty",
        choices=("penalty", "skip"),
    ),
    Field("include_superseded", "flag", "Take what has a successor too.", default=False),
    Field(
        "syntax",
        "text",
        "plain words, or fts5: phrases, AND, OR, NOT, prefix*, NEAR.",
        "plain",
        choices=("plain", "fts5"),
    ),
)


def _recall(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    detail = checked_detail(given.pop("detail", "full"))
    text_budget = checked_text_budget(given.pop("text_budget", 0))
    answer = memory.recall(given.pop("query", None), **given)
    if detail == "full":
        return wire.answer(answer)
    return wire.answer_index(answer, text_budget=text_budget)


def checked_detail(detail: object) -> object:
    """Return how much of each memory is wanted: full or index."""
    if detail not in DETAIL.choices:
        raise InvalidInput(
            f"detail must be full or index, not {detail!r:.60}.",
            hint="leave it out for the default.",
        )
    return detail


def checked_text_budget(given: object) -> int:
    """Return how many tokens of whole texts are wanted beside an index."""
    return check.whole("text_budget", given, most=BUDGET_MAX, least=0)


def _frame(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.framed(memory.frame(given.pop("name"), given.pop("query", None), **given))


def _preview(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.framed(memory.preview(given.pop("name"), given.pop("query", None), **given))


def _select(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.selection(memory.select(_selection(given)))


def _selection(given: dict[str, Any]) -> SelectQuery:
    from recollect.recall.select import SelectQuery

    return SelectQuery(**{name: one for name, one in given.items() if one is not None})


def _explain(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    pak_id, frame = given.pop("pak_id"), given.pop("frame", None)
    selection = given.pop("select", None)
    if selection is not None:
        return wire.explanation(memory.explain(pak_id, _selection_asked(selection, given, frame)))
    weighed_by = given.pop("recall_frame", REQUEST["frame"].default)
    asked = {**given, "frame": weighed_by}
    return wire.explanation(memory.explain(pak_id, RecallRequest.from_dict(asked), frame=frame))


def _selection_asked(selection: object, given: dict[str, Any], frame: object) -> SelectQuery:
    if given or frame is not None or not isinstance(selection, dict):
        raise InvalidInput(
            "select is an object of the fields of select, and stands alone.",
            hint="leave out the fields of recall.",
        )
    known = [one.name for one in _SELECTION]
    for name in selection:
        if name not in known:
            raise InvalidInput(
                f"select has no field {name!r:.80}.", hint=f"it has {', '.join(known)}."
            )
    return _selection(selection)


def _why(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    found = memory.why(given["recall_id"], principal=given.get("principal"))
    if found is None:
        raise UnknownReceipt(
            f"there is no receipt {given['recall_id']!r:.80}.",
            hint="receipts are kept where they were asked for, for a time, and told to who asked.",
        )
    return wire.receipt(found)


def _receipts(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.receipts(memory.receipts(**given))


_ENTRY = {
    "pak_id": str,
    "title": str,
    "occurred_at": str | None,
    "speaker": str | None,
    "project": str | None,
    "score": float,
    "match": str | None,
    "why": list[str],
    "risk": list[str],
    "beginning": str,
    "source": str | None,
    "authority": str,
    "confidence": float,
}
_INDEX = {
    "results": [_ENTRY],
    "instructions": [_ENTRY],
    "generated_at": str,
    "query": dict[str, Any],
    "tokens_used": int,
    "truncated": bool,
    "degraded": list[str],
    "dropped": list[dict[str, Any]],
    "meta": dict[str, Any],
    "match": str | None,
    "recall_id": str,
}
_EXPLAINED = tuple(one for name, one in REQUEST.items() if name != "frame")

VERBS = (
    Verb(
        "recall",
        "Find what answers a question, best first, with the reasons; writes nothing.",
        "reads",
        "read",
        (*REQUEST.values(), DETAIL, _TEXT_BUDGET),
        (RecallResponse, _INDEX),
        _recall,
        Route("POST", "/v1/recall"),
    ),
    Verb(
        "frame",
        "Render the text of a frame for a prompt, and count the use of what is in it.",
        "reads",
        "read",
        (
            Field("name", "text", "The name of the frame.", REQUIRED, example="attention"),
            *OF_FRAMES,
        ),
        FrameResult,
        _frame,
        Route("POST", "/v1/frames/{name}/render"),
    ),
    Verb(
        "preview",
        "Render the text of a frame and count nothing: as it is, or with another recipe.",
        "reads",
        "read",
        (
            Field("name", "text", "The name of the frame.", REQUIRED, example="attention"),
            *OF_FRAMES,
            NOW,
            Field("recipe", "object", "Parts of the frame that are otherwise; none is kept."),
        ),
        FrameResult,
        _preview,
        Route("POST", "/v1/frames/{name}/preview"),
    ),
    Verb(
        "select",
        "Pick Paks of the catalogue by words, filters, age and reason codes; writes nothing.",
        "reads",
        "read",
        _SELECTION,
        {
            "scores": list[dict[str, Any]],
            "dropped": list[dict[str, Any]],
            "generated_at": str,
            "query": dict[str, Any],
            "flags": list[dict[str, Any]],
            "tokens_used": int,
        },
        _select,
        Route("POST", "/v1/select"),
    ),
    Verb(
        "explain",
        "Say why a memory is in an answer, or which stage left it out.",
        "reads",
        "read",
        (
            PAK_ID,
            Field("frame", "text", "Ask as this frame does; without it, as recall does."),
            *_EXPLAINED,
            Field("recall_frame", "text", "The frame whose weights count in a recall.", "evidence"),
            Field("select", "object", "Ask as select does, with these fields of it."),
        ),
        Explanation,
        _explain,
        Route("POST", "/v1/explain"),
    ),
    Verb(
        "why",
        "Show the receipt of an answer, and what became of it since.",
        "reads",
        "read",
        (
            Field("recall_id", "text", "The id of the answer.", REQUIRED),
            Field("principal", "text", "Whose, for an admin: answers to several may be the same."),
        ),
        Receipt,
        _why,
        Route("GET", "/v1/receipts/{recall_id}"),
    ),
    Verb(
        "receipts",
        "List receipts, latest first: your own; for an admin, those of the tenant.",
        "reads",
        "read",
        (
            Field("limit", "whole", "How many a page.", 100, least=1, most=MOST_LISTED),
            Field("cursor", "text", "Where the page before ended."),
        ),
        {"items": list[Receipt], "next_cursor": str | None},
        _receipts,
        Route("GET", "/v1/receipts"),
    ),
)
