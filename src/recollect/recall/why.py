"""Say why a block is in the answer, in short phrases for people.

Signals and what is known about the match come in, phrases go out, most telling first. Only the
arguments are spoken of, so a reason cannot betray what the caller may not read.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.model import Match, Signals, Weights

__all__ = ["reasons"]

# Below these a signal is too weak to be the reason for anything.
_CLOSE = 0.30
_CENTRAL = 0.50

_MOST_NAMED = 5


def reasons(
    signals: Signals,
    weights: Weights,
    *,
    match: Match | None = None,
    matched_terms: Sequence[str] = (),
    mended: Sequence[tuple[str, str]] = (),
    linked_to: Sequence[str] = (),
    said_by: str | None = None,
    from_time: str | None = None,
    of_time: Sequence[str] = (),
    thread_of: str | None = None,
    reinforced: int = 0,
    was_expanded: bool = False,
    guaranteed: bool = False,
    disputed: bool = False,
) -> tuple[str, ...]:
    """Return the reasons that hold; at least one, in a fixed order.

    A signal that the frame gives no weight counted for nothing, and is no reason.
    """
    is_weak = match == "weak" and not guaranteed and not was_expanded
    alike: Sequence[str] = (
        ()
        if not weights.similarity
        else (
            f"hardly matches the question ({signals.similarity:.2f})" if is_weak else "",
            "asked for word for word" if signals.word_for_word else "",
            _matches(matched_terms),
            *(f"'{written}' read as '{meant}'" for written, meant in mended),
            _meaning(signals.semantic),
            "" if matched_terms else _around(signals.nearby),
            f"said by {said_by}" if said_by else "",
            from_time or "",
            "tells a time" if signals.time_words or signals.tells_time else "",
            "is a question itself" if signals.asks else "",
            f"same thread as {thread_of}" if thread_of and signals.thread else "",
        )
    )
    found = [
        "guaranteed by its tag" if guaranteed else "",
        "disputed" if disputed else "",
        *alike,
        *of_time,
        _links(linked_to, was_expanded),
        _uses(reinforced) if weights.reinforcement else "",
        _central(signals.centrality) if weights.centrality else "",
    ]
    told = [reason for reason in found if reason]
    speaks = len(told) > (is_weak and weights.similarity > 0)
    return tuple(told if speaks else [*told, *_standing(signals, weights)])


def _matches(terms: Sequence[str]) -> str:
    return "matches " + _listed([f"'{term}'" for term in terms]) if terms else ""


def _meaning(semantic: float | None) -> str:
    close = semantic is not None and semantic >= _CLOSE
    return f"close in meaning ({semantic:.2f})" if close else ""


def _around(nearby: float | None) -> str:
    close = nearby is not None and nearby >= _CLOSE
    return f"matches together with the turns around it ({nearby:.2f})" if close else ""


def _links(linked_to: Sequence[str], was_expanded: bool) -> str:
    if linked_to:
        return f"linked to {_listed(linked_to)}"
    return "linked to a match" if was_expanded else ""


def _uses(reinforced: int) -> str:
    if reinforced <= 0:
        return ""
    return "reinforced once" if reinforced == 1 else f"reinforced {reinforced} times"


def _central(centrality: float) -> str:
    return f"well connected ({centrality:.2f})" if centrality >= _CENTRAL else ""


def _standing(signals: Signals, weights: Weights) -> list[str]:
    """Return what is left to say where nothing stands out; nothing, if similarity alone counts."""
    names = [name for name in ("confidence", "recency") if getattr(weights, name)]
    names = names or [name for name in ("centrality", "reinforcement") if getattr(weights, name)]
    counted = ", ".join(f"{name} {getattr(signals, name):.2f}" for name in names)
    return [counted] if counted else []


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
