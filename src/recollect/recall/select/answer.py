"""Tell what was selected: fit the budget, name the parts and the reasons, raise the flags.

In: a ranking, and the texts and risk flags of what it picked. Out: the `SelectResult`. Pure. A
block is told first and loudest and never removes a Pak: whoever receives the package decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.model import Dropped
from recollect.recall.flags import Package, package_flags
from recollect.recall.select.ranking import SIGNALS
from recollect.recall.select.values import LOUDNESS, LazyDropped, Score, SelectResult, moment
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model.pak import RiskFlagEntry
    from recollect.ports.tokens import TokenCounter
    from recollect.recall.select.ranking import Ranking

__all__ = ["PickedTexts", "compose_answer"]

_DAY_US = 86_400_000_000
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class PickedTexts:
    """Title and summary of what was picked, by place; flags of it and of its copies."""

    texts: Mapping[int, tuple[str, str]]
    flags: Mapping[int, Sequence[RiskFlagEntry]]

    def text(self, place: int) -> str:
        """Return what a Pak puts into a prompt, as far as the catalogue knows it."""
        title, summary = self.texts[place]
        return f"{title}\n{summary}" if summary else title


def compose_answer(
    ranking: Ranking, picked: PickedTexts, token_counter: TokenCounter
) -> SelectResult:
    """Return the answer."""
    tokens = {place: token_counter(picked.text(place)) for place in ranking.picked}
    kept = _fitting(ranking.picked, tokens, ranking.query.token_budget)
    over = [place for place in ranking.picked if place not in kept]
    return SelectResult(
        scores=_scores(ranking, list(kept), picked, tokens),
        dropped=LazyDropped(
            ranking.left_out() + len(over),
            lambda: (*ranking.dropped(), *_over_budget(ranking, over)),
        ),
        generated_at=str(ranking.query.now),
        query=ranking.query,
        flags=package_flags(_package(ranking, kept)),
        tokens_used=sum(tokens[place] for place in kept),
    )


def _fitting(
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


def _over_budget(ranking: Ranking, places: Sequence[int]) -> tuple[Dropped, ...]:
    reason = f"does not fit into {ranking.query.token_budget} tokens"
    return tuple(Dropped(ranking.pak_id(place), "budget", reason) for place in places)


@dataclass(frozen=True, slots=True)
class _Warning:
    """A risk flag, and the copies that carry it if the Pak itself does not."""

    flag: RiskFlagEntry
    copies: tuple[str, ...]

    def in_words(self) -> str:
        said = f"{self.flag.severity}: {self.flag.risk_flag}"
        return f"{said} (of its copy {_named(self.copies)})" if self.copies else said


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is said of one Pak: `donor` is whose score it has, itself unless a copy has better."""

    place: int
    donor: int
    parts: Mapping[str, float]
    days: int
    matched: Sequence[str]
    warnings: Sequence[_Warning]


def _scores(
    ranking: Ranking, places: Sequence[int], picked: PickedTexts, tokens: Mapping[int, int]
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
        _score(ranking, _Facts(*one, _warnings(ranking, one[0], picked)), picked, tokens)
        for one in zip(places, donors.tolist(), parts, days.tolist(), matched, strict=True)
    )


def _warnings(ranking: Ranking, place: int, picked: PickedTexts) -> list[_Warning]:
    """Return the flags of a Pak and its copies, the loudest first, then by name."""
    own = picked.flags[place]
    carriers: dict[RiskFlagEntry, list[str]] = {flag: [] for flag in own}
    for copy in ranking.copies.get(place, ()):
        for flag in picked.flags[copy]:
            if flag not in own:
                carriers.setdefault(flag, []).append(ranking.pak_id(copy))
    return [
        _Warning(flag, tuple(sorted(carriers[flag])))
        for flag in sorted(carriers, key=lambda one: (LOUDNESS.index(one.severity), one.risk_flag))
    ]


def _score(
    ranking: Ranking, facts: _Facts, picked: PickedTexts, tokens: Mapping[int, int]
) -> Score:
    return Score(
        pak_id=ranking.pak_id(facts.place),
        score=float(ranking.scores[facts.place]),
        risk_severities=frozenset(warning.flag.severity for warning in facts.warnings),
        why=tuple(_why(ranking, facts)),
        parts=facts.parts,
        risk_flags=tuple(warning.flag for warning in facts.warnings),
        title=picked.texts[facts.place][0],
        tokens=tokens[facts.place],
    )


def _why(ranking: Ranking, facts: _Facts) -> list[str]:
    """Return the reasons in words: what to be careful of, what speaks for it, what against."""
    query, parts = ranking.query, facts.parts
    warnings = [warning.in_words() for warning in facts.warnings]
    blocks = sum(warning.flag.severity == "block" for warning in facts.warnings)
    reasons = warnings[:blocks]
    if facts.matched:
        reasons.append(f"matches {_named([repr(token) for token in facts.matched])}")
    if parts["project"]:
        reasons.append(f"project is {query.project}")
    if parts["pak_type"]:
        reasons.append(f"type is {query.pak_type}")
    if parts["recency"]:
        reasons.append(f"updated {_ago(facts.days)}")
    reasons += [
        f"{code} counts {'for' if added > 0 else 'against'} it"
        for code, added in parts.items()
        if added and code not in SIGNALS
    ]
    if facts.place in ranking.copies:
        copies = [ranking.pak_id(copy) for copy in ranking.copies[facts.place]]
        reasons.append(f"same content as {_named(sorted(copies))}, which it stands for")
    if facts.donor != facts.place:
        reasons.append(f"scored as {ranking.pak_id(facts.donor)}")
    reasons += warnings[blocks:]
    return reasons or ["one of the candidates"]


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
