"""The verbs about memories: storing, changing, finding by id, joining, erasing.

Rows of the table, each with the few lines that call the engine and hand its answer to `wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.edge import wire
from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.edge.verbs.narrowing import NARROWING, NOW, PAK_ID, SCOPE, WINDOW
from recollect.edge.verbs.verb import Route, Verb
from recollect.errors import UnknownPak
from recollect.model import Forgotten, Memory, Remembered, Status, Version
from recollect.model.request import MOST_LISTED, ON_CONFLICT, ORDERS
from recollect.ports.edges import Dispute
from recollect.recall.inspect import Inspection

if TYPE_CHECKING:
    from recollect.engine import Recollect

__all__ = ["VERBS"]

_OTHER = Field("other", "text", "The id of another memory.", REQUIRED, example="kiln-repair")

# What `remember` is told of a text, and `update` may change.
_ABOUT = (
    Field("title", "text", "A title; otherwise the text's beginning."),
    Field("summary", "text", "What it says, in short."),
    Field("tags", "texts", "Names to find it by; self/… are what frames guarantee by.", ()),
    Field("category", "text", "The kind of memory: knowledge, if it is new."),
    Field("project", "text", "The project it belongs to, as a path of segments."),
    Field("topic", "text", "What it is about."),
    Field("pak_type", "text", "Its type in the catalogue: memory, if it is new."),
    Field("source", "text", "Where it came from."),
    Field("authority", "text", "Whose word it is: user_approved, if it is new."),
    Field("entity", "text", "What the fact is about.", example="Ann"),
    Field("relation", "text", "What of it.", example="lives in"),
    Field("value", "text", "And what that is.", example="Berlin"),
    Field("confidence", "number", "How sure it is: 1, if it is new.", least=0, most=1),
    Field("thread", "text", "The conversation that it is a turn of."),
    Field("speaker", "text", "Who said it."),
    Field(
        "occurred_at",
        "moment",
        "When it happened: ISO-8601, seconds since 1970, or as people write it.",
        example="2026-05-08T13:56:00Z",
    ),
    Field("valid_from", "time", "From when on it holds."),
    Field("valid_until", "time", "Until when it holds."),
    Field("ttl", "seconds", "For how many seconds it holds from now on.", least=0),
    Field("metadata", "object", "What else is known, for filters.", example={"ticket": 42}),
)

_PLACE = (
    Field("scope", "text", "How widely it is visible: local, if it is new.", choices=SCOPE.choices),
    Field("team", "text", "Whose it is, with the scope team."),
    Field("garden", "text", "The garden that it goes into."),
)

_SPAN = tuple(one.name for one in WINDOW)
_ARCHIVED = {"pak_id": str, "status": Status, "changed": bool}
_FORGOTTEN = {"forgotten": str, "": Forgotten}
_CONTENT = Field(
    "content", "text", "What to remember.", REQUIRED, example="The kiln is booked until Friday."
)


def _remember(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.remembered(memory.remember(**given))


def _remember_many(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.batch(memory.remember_many(given.pop("items"), **given))


def _update(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.remembered(memory.update(given.pop("pak_id"), **given))


def _get(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.memory(_known(memory, given["pak_id"]))


def _known(memory: Recollect, pak_id: str) -> Memory:
    found = memory.get(pak_id)
    if found is None:
        raise unknown(pak_id)
    return found


def unknown(pak_id: object) -> UnknownPak:
    """Return the one answer to an id that nothing readable has."""
    return UnknownPak(
        f"there is no memory {pak_id!r:.80}.", hint="list and recall tell the ids of memories."
    )


def _list(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.listing(memory.list(**given))


def _ids(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return {"ids": list(memory.ids(given.pop("beginning"), **given))}


def _history(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    found = memory.history(given["pak_id"])
    if not found:
        raise unknown(given["pak_id"])
    return wire.versions(found)


def _inspect(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    found = memory.inspect(given["pak_id"])
    if found is None:
        raise unknown(given["pak_id"])
    return wire.inspection(found)


def _supersede(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    pak_id, new = given.pop("pak_id"), given.pop("new", None)
    memory.supersede(pak_id, new, **given)
    return wire.superseded(pak_id, new)


def _archive(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    changed = memory.archive(**given)
    return wire.archived(_known(memory, given["pak_id"]), changed=changed)


def _unarchive(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    changed = memory.unarchive(**given)
    return wire.archived(_known(memory, given["pak_id"]), changed=changed)


def _touch(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    is_touched = memory.touch(**given)
    return wire.touched(_known(memory, given["pak_id"]), is_touched=is_touched)


def _link(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    pak_id, other, weight = given.pop("pak_id"), given.pop("other"), given.pop("weight", 1.0)
    memory.link(pak_id, other, weight=weight, **given)
    return wire.linked(pak_id, other, weight=weight)


def _dispute(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    pak_id, other, note = given.pop("pak_id"), given.pop("other"), given.pop("note", "")
    memory.dispute(pak_id, other, note=note, **given)
    return wire.disputed(pak_id, other, note=note)


def _resolve(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    pak_id, other = given.pop("pak_id"), given.pop("other")
    return wire.resolved(pak_id, other, was_open=memory.resolve(pak_id, other, **given))


def _disputes(memory: Recollect, _: dict[str, Any]) -> wire.Object:
    return wire.disputes(memory.disputes())


def _forget(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.forgotten(_named(given), memory.forget(**given))


def _forget_one(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    gone = memory.forget(**given)
    if not gone:
        raise unknown(given["pak_id"])
    return wire.forgotten(given["pak_id"], gone)


_NAMED_BY = ("pak_id", "entity", "thread", "project", "tag", "owner", "source", *_SPAN, "filter")


def _named(given: dict[str, Any]) -> str:
    """Return what was to be forgotten, in a few words."""
    named = [given[name] for name in _NAMED_BY if given.get(name) is not None]
    return ", ".join(", ".join(one) if isinstance(one, list) else str(one) for one in named)


_FORGET_BY = (
    Field("entity", "text", "All facts about this entity."),
    Field("thread", "text", "All turns of this conversation."),
    Field("project", "text", "All of this project, and what lies below it."),
    Field("tag", "text", "All with this tag."),
    Field("owner", "text", "All of this owner."),
    Field("source", "text", "All that came from this source."),
    Field("filter", "object", "Of all that you may read, what fulfils this."),
)
_HOW_TO_FORGET = (
    Field("versions", "flag", "What it superseded goes along, back to the first.", default=False),
    Field("dry_run", "flag", "Erase nothing; say what would be.", default=False),
)

VERBS = (
    Verb(
        "remember",
        "Store a text; it is durable, and visible to the next recall, when this is answered.",
        "writes",
        "write",
        (
            _CONTENT,
            Field("pak_id", "text", "An id of your own."),
            *_ABOUT,
            Field("turn", "whole", "Which of several equal turns of a thread it is.", least=0),
            *_PLACE,
            Field("supersedes", "text_or_texts", "Whose place it takes in answers."),
            Field(
                "on_conflict",
                "text",
                "What becomes of another value of the same entity and relation.",
                "report",
                choices=ON_CONFLICT,
            ),
            NOW,
        ),
        Remembered,
        _remember,
        Route("POST", "/v1/memories"),
        repeats=True,
    ),
    Verb(
        "remember_many",
        "Store many texts, a few hundred a commit; all are checked before the first is written.",
        "writes",
        "write",
        (
            Field("items", "items", "Texts, or objects with the fields of remember.", REQUIRED),
            NOW,
        ),
        {"remembered": int, "created": int, "pending": int, "items": list[Remembered]},
        _remember_many,
        Route("POST", "/v1/memories/batch"),
        repeats=True,
        progresses=True,
    ),
    Verb(
        "list",
        "List memories, archived ones included, a page at a time, narrowed like a recall.",
        "reads",
        "read",
        (
            *NARROWING,
            Field("limit", "whole", "How many a page.", 100, least=1, most=MOST_LISTED),
            Field("cursor", "text", "Where the page before ended."),
            Field("order", "text", "By what they are ordered.", "updated", choices=ORDERS),
            Field(
                "counts", "flag", "Count them, by project, tag, thread and so on.", default=False
            ),
        ),
        {"items": list[Memory], "next_cursor": str | None, "counts": dict[str, Any] | None},
        _list,
        Route("GET", "/v1/memories"),
    ),
    Verb(
        "ids",
        "Tell the ids of memories that begin so.",
        "reads",
        "read",
        (
            Field("beginning", "text", "How the ids begin.", REQUIRED, example="kiln"),
            Field("limit", "whole", "How many at the most.", 10, least=1, most=MOST_LISTED),
        ),
        {"ids": list[str]},
        _ids,
        Route("GET", "/v1/ids"),
    ),
    Verb(
        "get",
        "Show one memory.",
        "reads",
        "read",
        (PAK_ID,),
        {"memory": Memory},
        _get,
        Route("GET", "/v1/memories/{pak_id}"),
    ),
    Verb(
        "update",
        "Change the named fields of a memory, and nothing else; what it was stays in its history.",
        "writes",
        "write",
        (
            PAK_ID,
            Field("content", "text", "What it says instead."),
            *(Field(one.name, one.kind, one.help, None, one.choices) for one in _ABOUT),
            *_PLACE,
            NOW,
        ),
        Remembered,
        _update,
        Route("PATCH", "/v1/memories/{pak_id}"),
        repeats=True,
    ),
    Verb(
        "history",
        "Show each version of a memory, and of what it superseded: who, when, and what changed.",
        "reads",
        "read",
        (PAK_ID,),
        {"versions": list[Version]},
        _history,
        Route("GET", "/v1/memories/{pak_id}/history"),
    ),
    Verb(
        "inspect",
        "Show all about one memory: text, codes, flags, links, disputes, uses.",
        "reads",
        "read",
        (PAK_ID,),
        Inspection,
        _inspect,
        Route("GET", "/v1/memories/{pak_id}/inspect"),
    ),
    Verb(
        "supersede",
        "Let a memory take the place of another in answers; without a new one, give it back.",
        "writes",
        "write",
        (PAK_ID, Field("new", "text", "The id of the one that takes its place.")),
        {"pak_id": str, "superseded_by": str | None},
        _supersede,
        Route("POST", "/v1/memories/{pak_id}/supersede"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "archive",
        "Take a memory out of every recall without erasing it.",
        "writes",
        "write",
        (PAK_ID,),
        _ARCHIVED,
        _archive,
        Route("POST", "/v1/memories/{pak_id}/archive"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "unarchive",
        "Bring an archived memory back into recall.",
        "writes",
        "write",
        (PAK_ID,),
        _ARCHIVED,
        _unarchive,
        Route("POST", "/v1/memories/{pak_id}/unarchive"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "touch",
        "Let a memory with a ttl hold for that long from now on.",
        "writes",
        "write",
        (PAK_ID,),
        {"pak_id": str, "touched": bool, "valid_until": str | None},
        _touch,
        Route("POST", "/v1/memories/{pak_id}/touch"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "forget",
        "Erase memories, so that no trace of the text is left: by id, or all that fulfil the rest.",
        "destroys",
        "write",
        (
            Field("pak_id", "text_or_texts", "The id of a memory, or several.", most=10_000),
            *_FORGET_BY,
            *WINDOW,
            Field("scope", "text", "Leave other scopes alone.", choices=SCOPE.choices),
            *_HOW_TO_FORGET,
        ),
        _FORGOTTEN,
        _forget,
        Route("POST", "/v1/forget"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "forget_one",
        "Erase one memory, so that no trace of the text is left.",
        "destroys",
        "write",
        (PAK_ID, *_HOW_TO_FORGET),
        _FORGOTTEN,
        _forget_one,
        Route("DELETE", "/v1/memories/{pak_id}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "link",
        "Join two memories; recall then follows one to the other.",
        "writes",
        "write",
        (
            PAK_ID,
            _OTHER,
            Field("weight", "number", "How strongly, above 0.", 1.0, least=0, most=1),
        ),
        {"linked": list[str], "weight": float},
        _link,
        Route("POST", "/v1/links"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "dispute",
        "Say that two memories contradict each other: an answer holds the better one only.",
        "writes",
        "write",
        (PAK_ID, _OTHER, Field("note", "text", "Why.", "")),
        {"disputed": list[str], "note": str},
        _dispute,
        Route("POST", "/v1/disputes"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "resolve",
        "Settle a dispute: both may be answers again.",
        "writes",
        "write",
        (PAK_ID, _OTHER),
        {"pair": list[str], "resolved": bool},
        _resolve,
        Route("POST", "/v1/disputes/resolve"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "disputes",
        "List the open disputes.",
        "reads",
        "read",
        (),
        {"disputes": list[Dispute]},
        _disputes,
        Route("GET", "/v1/disputes"),
    ),
)
