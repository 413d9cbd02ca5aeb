"""Check the fields of a frame before it is kept, so that a stored frame always works.

A definition comes in as a caller made it; the same definition with its sequences as tuples goes
out, or an error that says which field is wrong and what it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect import check
from recollect.errors import InvalidInput
from recollect.frames.builtin import CACHE_EVENTS
from recollect.limits import COUNTS
from recollect.model import CachePolicy, FrameFilters, Weights
from recollect.recall.render import template_named

if TYPE_CHECKING:
    from recollect.model import FrameDefinition

__all__ = ["checked", "checked_name"]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_LARGEST = 1_000_000_000
_PATTERNS = "tags of a request, patterns and categories of a frame"


def checked(frame: FrameDefinition) -> FrameDefinition:
    """Return the definition with every field checked."""
    if not isinstance(frame.weights, Weights):
        raise _wrong("weights", "five shares by name", frame.weights)
    template_named(frame.template)
    return replace(
        frame,
        name=checked_name(frame.name),
        filters=_filters(frame.filters),
        guarantees=_patterns("guarantees", frame.guarantees),
        token_budget=check.whole("token_budget", frame.token_budget, most=_LARGEST),
        cache=None if frame.cache is None else _cache(frame.cache),
    )


def checked_name(name: object) -> str:
    """Return a frame's name, or say what a name looks like."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise InvalidInput(
        f"{name!r:.80} is no name for a frame.",
        hint="start with a small letter, then small letters, digits, _ or -; at most 63.",
    )


def _filters(filters: FrameFilters) -> FrameFilters:
    if not isinstance(filters, FrameFilters):
        raise _wrong("filters", "filters by name", filters)
    return FrameFilters(
        tag_patterns=_patterns("tag_patterns", filters.tag_patterns),
        categories=_texts("categories", filters.categories),
        search_window_hours=_window(filters.search_window_hours),
    )


def _cache(cache: CachePolicy) -> CachePolicy:
    if not isinstance(cache, CachePolicy):
        raise _wrong("cache", "a policy, or None for no cache", cache)
    events = _texts("invalidate_on", cache.invalidate_on)
    for event in events:
        if event not in CACHE_EVENTS:
            raise InvalidInput(
                f"there is no event {event!r:.80} to end a cached answer.",
                hint=f"known events: {', '.join(CACHE_EVENTS)}.",
            )
    ttl_seconds = check.whole("ttl_seconds", cache.ttl_seconds, most=_LARGEST)
    return CachePolicy(ttl_seconds=ttl_seconds, invalidate_on=events)


def _patterns(field: str, values: object) -> tuple[str, ...]:
    patterns = _texts(field, values)
    for pattern in patterns:
        if "%" in pattern[:-1]:
            raise InvalidInput(
                f"{field} holds {pattern!r:.80}: % may stand at the end only.",
                hint="a pattern is a whole tag, or the beginning of one followed by %.",
            )
    return patterns


def _texts(field: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise _wrong(field, "a list of texts", values)
    texts = tuple(values)
    check.at_most(field, len(texts), COUNTS[_PATTERNS])
    for text in texts:
        if not isinstance(text, str) or not text:
            raise _wrong(field, "a list of texts, none empty", text)
        check.length(field, text)
    return texts


def _window(hours: object) -> float | None:
    if hours is None:
        return None
    window = check.number("search_window_hours", hours, least=0, most=_LARGEST)
    if not window:
        raise _wrong("search_window_hours", "hours above 0, or None for no window", hours)
    return window


def _wrong(field: str, takes: str, got: object) -> InvalidInput:
    return InvalidInput(
        f"{field} does not take {check.shown(got)}.", hint=f"{field} takes {takes}."
    )
