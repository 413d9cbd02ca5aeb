"""Tell what was selected: fit the budget, name the parts and the reasons, raise the flags.

In: a ranking, and the texts and risk flags of what it picked. Out: the `SelectResult`. Pure. A
block is told first and loudest and never removes a Pak: whoever receives the package decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recollect.model import Dropped
from recollect.model.pak import RiskFlagEntry
from recollect.ports.tokens import TokenCounter
from recollect.recall.flags import Package, package_flags
from recollect.recall.select.ranking import SIGNALS, Ranking
from recollect.recall.select.values import LOUDNESS, LazyDropped, Score, SelectResult, moment

__all__ = ["Picked", "told"]

_DAY_US = 86_400_000_000
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Picked:
    """Title and summary of what was picked, by place; flags of it and of its copies."""

    texts: Mapping[int, tuple[str, str]]
    flags: Mapping[int, Sequence[RiskFlagEntry]]

    def text(self, place: int) -> str:
        """Return what a Pak puts into a prompt, as far as the catalogue knows it."""
        title, summary = self.texts[place]
        return f"{title}\n{summary}" if summary else title


def told(ranking: Ranking, picked: Picked, count: TokenCounter) -> SelectResult:
    """Return the answer."""
    tokens = {place: count(picked.text(place)) for place in ranking.picked}
    kept = _within(ranking.picked, tokens, ranking.query.token_budget)
    over = [place for place in ranking.picked if place not in kept]
    return SelectResult(
        scores=_scores(ranking, list(kept), picked, tokens),
        dropped=LazyDropped(
            ranking.left_out() + len(over), lambda: (*ranking.dropped(), *_over(ranking, over))
        ),
        generated_at=str(ranking.query.now),
        query=ranking.query,
        flags=package_flags(_package(ranking, kept)),
        tokens_used=sum(tokens[place] for place in kept),
    )


def _within(
    places: Sequence[int], tokens: Mapping[int, int], budget: int | None
) -> dict[int, None]:
    """Return what fits, best first, skipping what does not; in order, and quick to look up."""
    kept: dict[int, None] = {}
    used = 0
    for place in places:
        if budget is None or used + tokens[place] <= budget:
            kept[place] = None
            used += tokens[place]
    return kept


def _over(ranking: Ranking, places: Sequence[int]) -> tuple[Dropped, ...]:
    reason = f"does not fit into {ranking.query.token_budget} tokens"
    return tuple(Dropped(ranking.pak_id(place), "budget", reason) for place in places)


@dataclass(frozen=True, slots=True)
class _Told:
    """What is said of one Pak: `donor` is whose score it has, itself unless a copy has better."""

    place: int
    donor: int
    parts: Mapping[str, float]
    days: int
    matched: Sequence[str]
    flags: Sequence[RiskFlagEntry]


def _scores(
    ranking: Ranking, places: Sequence[int], picked: Picked, tokens: Mapping[int, int]
) -> tuple[Score, ...]:
    donors = ranking.donors[places]
    matched: list[list[str]] = [[] for _ in places]
    for hit in ranking.hits:
        for number in np.flatnonzero(np.isin(ranking.slots[donors], hit.slots)).tolist():
            matched[number].append(hit.word)
    now = moment(str(ranking.query.now)) or 0
    days = (now - ranking.rows.columns.updated_us[ranking.slots[donors]]) // _DAY_US
    parts = ranking.parts_of(donors)
    return tuple(
        _score(
            ranking, _Told(*one, _flags(ranking, one[0], picked)), picked.texts[one[0]][0], tokens
        )
        for one in zip(places, donors.tolist(), parts, days.tolist(), matched, strict=True)
    )


def _flags(ranking: Ranking, place: int, picked: Picked) -> list[RiskFlagEntry]:
    """Return the flags of a Pak and its copies, the loudest first, then by name."""
    members = (place, *ranking.copies.get(place, ()))
    flags = {flag for member in members for flag in picked.flags[member]}
    return sorted(flags, key=lambda flag: (LOUDNESS.index(flag.severity), flag.risk_flag))


def _score(ranking: Ranking, told: _Told, title: str, tokens: Mapping[int, int]) -> Score:
    return Score(
        pak_id=ranking.pak_id(told.place),
        score=float(ranking.scores[told.place]),
        risk_severities=frozenset(flag.severity for flag in told.flags),
        why=tuple(_why(ranking, told)),
        parts=told.parts,
        risk_flags=tuple(told.flags),
        title=title,
        tokens=tokens[told.place],
    )


def _why(ranking: Ranking, told: _Told) -> list[str]:
    """Return the reasons in words: what to be careful of, what speaks for it, what against."""
    query, parts = ranking.query, told.parts
    warnings = [f"{flag.severity}: {flag.risk_flag}" for flag in told.flags]
    blocks = sum(flag.severity == "block" for flag in told.flags)
    found = warnings[:blocks]
    if told.matched:
        found.append(f"matches {_named([repr(token) for token in told.matched])}")
    if parts["project"]:
        found.append(f"project is {query.project}")
    if parts["pak_type"]:
        found.append(f"type is {query.pak_type}")
    if parts["recency"]:
        found.append(f"updated {_ago(told.days)}")
    found += [
        f"{code} counts {'for' if added > 0 else 'against'} it"
        for code, added in parts.items()
        if added and code not in SIGNALS
    ]
    if told.place in ranking.copies:
        copies = [ranking.pak_id(copy) for copy in ranking.copies[told.place]]
        found.append(f"same content as {_named(sorted(copies))}, which it stands for")
    if told.donor != told.place:
        found.append(f"scored as {ranking.pak_id(told.donor)}")
    found += warnings[blocks:]
    return found or ["one of the candidates"]


def _ago(days: int) -> str:
    if days < 1:
        return "within a day"
    return "a day ago" if days == 1 else f"{days} days ago"


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _package(ranking: Ranking, kept: Mapping[int, None]) -> Package:
    inside = {*kept, *(copy for place in kept for copy in ranking.copies.get(place, ()))}
    mandatory = {place for place in ranking.carrying("mandatory") if not ranking.superseded[place]}
    return Package(
        returned=len(kept),
        considered=int(ranking.standing.sum()),
        mandatory=len(mandatory & inside),
        mandatory_missing=len(mandatory - inside),
        asked=bool(ranking.query.text.strip()),
        matched=sum(bool(ranking.parts[0, ranking.donors[place]]) for place in kept),
        strength=max((float(ranking.scores[place]) for place in kept), default=None),
        # What fits comes first unless something that ranked higher did not.
        jumped=tuple(kept) != ranking.picked[: len(kept)],
        cached_order=bool(ranking.carrying("cache_ordering_candidate") & inside),
    )
