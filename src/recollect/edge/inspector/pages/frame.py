"""Frame: the text exactly as it will be sent, and how it would be with another recipe.

In: a frame, a question, and parts of a recipe that are otherwise. Out: the text in pieces, each
with the memory that it is from, what was cut, and the other text beside it; a recipe that is liked
is kept as a frame of one's own. Looking counts no use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recollect.edge.inspector import taken_apart
from recollect.edge.inspector.differences import pieces
from recollect.edge.inspector.page import Data, Form, Go, Page
from recollect.edge.inspector.visit import name_of
from recollect.edge.remote.decode import decode
from recollect.errors import InvalidInput
from recollect.model import FrameResult
from recollect.recall.render import TEMPLATES, render

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["FORMS", "PAGES"]

_FIRST = "attention"
_ASKED = ("query", "top_k", "now", "project", "tags")
_LISTED = ("tag_patterns", "categories", "guarantees")


def _frame(visit: Visit) -> Data:
    name, who = visit.text("name") or _FIRST, visit.text("as")
    asked = visit.given("preview", *_ASKED)
    frame = visit.ask_as(who, "frames.get", name=name)["frame"]
    recipe = _recipe(visit, frame)
    text = _text(visit, who, frame, asked, None)
    changed = _text(visit, who, {**frame, **recipe}, asked, recipe) if recipe else None
    return {
        "name": name,
        "who": who or name_of(visit.me),
        "others": visit.others(),
        "frames": [one["name"] for one in visit.ask("frames.list")["frames"]],
        "templates": [*TEMPLATES],
        "asked": {one: asked.get(one) for one in _ASKED},
        "frame": frame,
        "recipe": recipe,
        "wanted": {**frame, **recipe},
        "text": text,
        "changed": changed,
        "differences": None if changed is None else pieces(text["text"], changed["text"]),
    }


def _text(
    visit: Visit, who: str | None, frame: Data, asked: dict[str, Any], recipe: Data | None
) -> Data:
    """Return the text of a frame, in pieces, with what was cut."""
    more = {} if recipe is None else {"recipe": recipe}
    shown = visit.ask_as(who, "preview", name=frame["name"], **asked, **more)
    weights = taken_apart.weights_of(frame, has_query=bool(asked.get("query")))
    results = [taken_apart.as_result(one) for one in shown["blocks"]]
    return {
        **shown,
        "pieces": list(_pieces(shown, frame["template"])),
        "blocks": [taken_apart.scored(one, weights, asked.get("query")) for one in results],
        "cut": [one for one in shown["dropped"] if one["stage"] == "budget"],
    }


def _pieces(shown: Data, template: str) -> Iterator[Data]:
    """Yield the text in pieces that make it up: each block's own, and what stands between."""
    blocks = decode(FrameResult, shown).blocks
    at, text = 0, shown["text"]
    for number, block in enumerate(blocks, start=1):
        upto = render(blocks[:number], template)
        if not text.startswith(upto):
            break
        yield from _piece(text[at : len(upto)], block.pak_id, block.score)
        at = len(upto)
    if text[at:]:
        yield {"pak_id": None, "score": None, "text": text[at:]}


def _piece(text: str, pak_id: str, score: float) -> Iterator[Data]:
    """Yield a heading that comes before a block by itself, then the block."""
    own = text.lstrip("\n")
    first, line_end, rest = own.partition("\n")
    lead = text[: len(text) - len(own)]
    if first.startswith("#") and line_end:
        yield {"pak_id": None, "score": None, "text": f"{lead}{first}\n"}
        lead, own = "", rest
    yield {"pak_id": pak_id, "score": score, "text": lead + own}


def _recipe(visit: Visit, frame: Data) -> Data:
    """Return the parts of the recipe that were typed and are otherwise than the frame's."""
    typed: Data = {}
    weights = _weights(visit, frame["weights"])
    if weights is not None:
        typed["weights"] = weights
    if (budget := visit.text("r_budget")) is not None:
        typed["token_budget"] = _number("budget", budget, whole=True)
    if (template := visit.text("r_template")) is not None:
        typed["template"] = template
    if visit.text("r_filters") is not None:
        typed["guarantees"] = _listed(visit, "guarantees")
        typed["filters"] = {
            "tag_patterns": _listed(visit, "tag_patterns"),
            "categories": _listed(visit, "categories"),
            "search_window_hours": _hours(visit.text("r_window")),
        }
    return {name: one for name, one in typed.items() if one != _plain(frame[name])}


def _plain(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _plain(one) for name, one in part.items()}
    return list(part) if isinstance(part, tuple) else part


def _weights(visit: Visit, usual: dict[str, float]) -> dict[str, float] | None:
    """Return the weights that were typed, as shares of their sum."""
    texts = {name: visit.text(f"w_{name}") for name in usual}
    if all(text is None for text in texts.values()):
        return None
    given = {name: _number(name, text or "0", whole=False) for name, text in texts.items()}
    if given == {name: float(f"{one:g}") for name, one in usual.items()}:
        return usual
    total = sum(given.values())
    if total <= 0:
        raise InvalidInput("no weight counts anything.", hint="give one of them more than 0.")
    shares = {name: round(one / total, 4) for name, one in given.items()}
    most = max(shares, key=lambda name: shares[name])
    shares[most] = round(shares[most] + 1 - sum(shares.values()), 4)
    return shares


def _number(name: str, text: str, *, whole: bool) -> Any:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        raise InvalidInput(f"{name} is no number: {text!r:.40}.", hint="such as 0.5.") from None


def _hours(text: str | None) -> float | None:
    return None if text is None else float(_number("window", text, whole=False))


def _listed(visit: Visit, name: str) -> list[str]:
    text = visit.text(f"r_{name}") or ""
    return [one.strip() for one in text.split(",") if one.strip()]


def _save(visit: Visit) -> Go:
    """Keep a recipe as a frame of one's own, new or in place of what it was."""
    base, name = visit.text("name") or _FIRST, visit.text("as_name")
    frame = visit.ask("frames.get", name=base)["frame"]
    recipe = _recipe(visit, frame)
    if name is None:
        raise InvalidInput("the frame has no name.", hint="give it one.")
    own = [one["name"] for one in visit.ask("frames.list")["frames"] if one["source"] == "user"]
    if name in own and name == base:
        visit.ask("frames.update", name=name, **recipe)
    else:
        visit.ask("frames.register", name=name, extends=base, **recipe)
    from urllib.parse import urlencode

    query = {"name": name, "query": visit.text("query")}
    kept = {one: text for one, text in query.items() if text}
    return Go(f"/frame?{urlencode(kept)}", said=f"The frame {name} is kept.")


PAGES = (
    Page(
        "/frame",
        "frame.html",
        _frame,
        "Frame",
        label="Frame",
        help="The text as it will be sent.",
    ),
)
FORMS: tuple[Form, ...] = (Form("/frame/save", _save, on="/frame"),)
