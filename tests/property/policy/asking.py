"""Everything that a principal can ask, as canonical JSON: two stores agree if all of it does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from itertools import islice
from typing import Any

from recollect import Recollect
from recollect.errors import RecollectError
from recollect.model import RecallRequest
from recollect.recall.select import SelectQuery

QUERIES = ("redis queue", "Ann worker release", "what did Bob say in May 2025?", "zebra", "Cid")
# Slips of a key, who "I" is, a script without spaces.
OTHERS = ("rediss qeueu relaese", "what did I tell you about the queue?", "น้ำดี")
FRAMES = ("evidence", "attention", "task", "self", "mine", "recent")
GARDENS = ("ops", "lab", "fair", "nowhere")

# What a request may look like beside its query.
SHAPES: Sequence[dict[str, Any]] = (
    {"top_k": 2},
    {"top_k": 30, "diversity": 1.0},
    {"top_k": 3, "diversity": 0.2},
    {"top_k": 4, "token_budget": 30},
    {"token_budget": 1},
    {"project": "shop"},
    {"tags": ["self/%"], "top_k": 3},
    {"entity": "Ann", "top_k": 20},
    {"entity": "ANN", "relation": "likes"},
    {"source": "peer", "top_k": 20},
    {"min_confidence": 0.5},
    {"scope": "public", "top_k": 20},
    {"scope": "local"},
    {"scope": "team"},
    {"scope": "galaxy"},
    {"include_quarantined": True, "top_k": 20},
    *({"garden": slug, "top_k": 20} for slug in GARDENS),
    {"since": "2025-05-01", "top_k": 20},
    {"until": "2025-12-31", "project": "shop"},
    {"since": "2026-01-01", "until": "2026-01-02", "top_k": 20},
    {"speaker": "ann", "top_k": 20},
    {"thread": "standup", "until": "2030-01-01"},
    {"now": "2027-06-01T00:00:00Z", "top_k": 20},
    {"filter": {"tags": {"contains": "self/goal"}}, "top_k": 20},
    {"filter": {"not": {"owner": "ann"}}, "top_k": 20},
    {"filter": {"or": [{"entity": {"exists": True}}, {"title": {"gt": "m"}}]}, "top_k": 20},
    {"min_score": 0.4, "top_k": 20},
    {"min_match": "fair", "top_k": 20},
    {"refresh": True, "top_k": 3},
)

SELECTIONS = (
    SelectQuery("redis queue", limit=3),
    SelectQuery("worker release", project="shop", exclude="skip"),
    SelectQuery("", pak_type="memory", token_budget=60, include_superseded=True),
)


def answers(memory: Recollect, pak_ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each question and its answer; the last ones count uses."""
    for label, ask in _reads(memory, pak_ids):
        yield label, answer(ask)
    for label, ask in _uses(memory):
        yield label, answer(ask)
    yield "recall after the frames", answer(lambda: memory.recall(QUERIES[0], frame="task"))


def answer(ask: Callable[[], Any]) -> str:
    """Return an answer as JSON of one spelling; a refusal is an answer too."""
    try:
        given = ask()
    except RecollectError as error:
        given = [type(error).__name__, error.code, error.message, error.hint]
    return json.dumps(_plain(given), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _reads(memory: Recollect, pak_ids: Sequence[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    # Before anything else is asked: these are of what was asked before.
    yield "receipts", lambda: list(islice(_pages(memory.receipts, limit=2), 4))
    yield "why", lambda: [memory.why(one.recall_id) for one in memory.receipts(limit=5).items]
    for query in (None, *QUERIES, *OTHERS):
        for frame in FRAMES[:4] if query in (None, QUERIES[0]) else FRAMES[:1]:
            yield (
                f"recall {query} {frame}",
                lambda q=query, f=frame: memory.recall(q, frame=f, top_k=4),
            )
    for number, shape in enumerate(SHAPES):
        query = (QUERIES[0], None)[number % 2]
        yield f"recall {query} {shape}", lambda q=query, s=shape: memory.recall(q, **s)
    body = {"query": QUERIES[1], "top_k": 3, "frame": "recent"}
    yield "respond", lambda: memory.respond(RecallRequest.from_dict(body))
    yield "list", lambda: list(islice(_pages(memory.list, limit=2), 50))
    yield (
        "list of a project",
        lambda: list(islice(_pages(memory.list, limit=1, project="shop"), 50)),
    )
    yield "list at once", lambda: memory.list(limit=1000)
    for order in ("occurred", "title"):
        yield (
            f"list by {order}",
            lambda o=order: list(islice(_pages(memory.list, limit=2, order=o, counts=True), 50)),
        )
    for shape in ({"speaker": "Ann"}, {"filter": {"tags": {"contains": "self/goal"}}}):
        yield f"list {shape}", lambda s=shape: memory.list(limit=9, counts=True, **s)
        yield f"what would go {shape}", lambda s=shape: memory.forget(dry_run=True, **_chosen(s))
    yield "export of a part", lambda: list(memory.export(filter={"entity": {"exists": True}}))
    for pak_id in pak_ids:
        yield f"get {pak_id}", lambda p=pak_id: memory.get(p)
        yield f"history of {pak_id}", lambda p=pak_id: memory.history(p)
    # Whoever cannot read it cannot find out by joining it, or by asking why it is not there.
    for number, pak_id in enumerate(pak_ids[-6:]):
        yield f"inspect {pak_id}", lambda p=pak_id: memory.inspect(p)
        yield f"dispute {pak_id}", lambda p=pak_id: memory.dispute("nobody", p)
        request = (QUERIES[0], RecallRequest("zebra", top_k=2), SELECTIONS[0])[number % 3]
        frame = ("attention", None, None)[number % 3]
        yield (
            f"explain {pak_id} {request} {frame}",
            lambda p=pak_id, q=request, f=frame: memory.explain(p, q, frame=f),
        )
    for selection in SELECTIONS:
        yield f"select {selection}", lambda s=selection: memory.select(s)
    yield "disputes", memory.disputes
    yield "export", lambda: list(memory.export())
    yield "stats", memory.stats
    yield "gardens", memory.gardens.list
    for slug in GARDENS:
        yield f"members of {slug}", lambda s=slug: memory.gardens.members(s)
    yield "quarantine", memory.quarantine.list
    yield "trust", lambda: dict(memory.trust.list())
    yield "frames", lambda: [one.name for one in memory.frames.list()]


def _uses(memory: Recollect) -> Iterator[tuple[str, Callable[[], object]]]:
    for name in FRAMES:
        for query in (QUERIES[0], None):
            for attempt in ("", ", again"):
                yield (
                    f"frame {name} {query}{attempt}",
                    lambda n=name, q=query: memory.frame(n, q, top_k=3),
                )
    for narrowed in ({"until": "2025-05-31"}, {"filter": {"speaker": {"exists": True}}}):
        yield f"frame {narrowed}", lambda n=narrowed: memory.frame("recent", QUERIES[0], **n)


def _chosen(shape: dict[str, Any]) -> dict[str, Any]:
    """Return the same as something to forget: a filter sees no more than a reader does."""
    return {"filter": shape} if "filter" not in shape else shape


def _pages(listing: Callable[..., Any], **asked: Any) -> Iterator[object]:
    cursor = None
    seen: set[str | None] = set()
    while cursor not in seen:
        seen.add(cursor)
        page = listing(**asked, cursor=cursor)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
    raise AssertionError(f"the cursor {cursor} came back")


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
