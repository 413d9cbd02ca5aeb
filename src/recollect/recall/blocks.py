"""What passes between the stages: `Ranked` → `Settled` → `Chosen` → `Packed`.

Each stage answers with another type than it takes, so a wrong order fails the type checker.
`dropped` grows along the way: whatever a stage removes, it names, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import NamedTuple

from recollect.model import Dropped, ScoredBlock
from recollect.values import dataclass, made_when_read

__all__ = ["Chosen", "Packed", "Ranked", "Settled", "best_first"]


class Ranked(NamedTuple):
    """A scored candidate, not yet hydrated: what the next stages need to decide.

    It is a tuple because every request makes dozens, most of them to be left out. Tuples sort by
    their first fields: by score, then by time of update (microseconds since 1970), then by id.
    `slot` is where the index that found it keeps it, `row` where it stands among the candidates;
    no stage decides by those.
    """

    score: float
    updated_at: int
    pak_id: str
    confidence: float
    last_reinforced: float
    was_expanded: bool = False
    slot: int = -1
    row: int = -1


@dataclass(frozen=True, slots=True)
class Settled:
    """Candidates of which no two contradict each other, in the order they came.

    `winners` gives, for each id that lost a dispute, the id that it lost to.
    """

    kept: tuple[Ranked, ...]
    dropped: tuple[Dropped, ...] = ()
    winners: Mapping[str, str] = field(default_factory=dict)


@made_when_read("dropped")
@dataclass(frozen=True, slots=True)
class Chosen:
    """The answer before the budget: what is guaranteed, then the best of the rest, by claim.

    `disputed` are ids to mark. `repeats` gives, for each id that says the same as one before it,
    the id of that one. `unread` names those whose text must be known before anything can be
    chosen; then there is no answer yet.
    """

    guaranteed: tuple[Ranked, ...] = ()
    others: tuple[Ranked, ...] = ()
    disputed: frozenset[str] = frozenset()
    dropped: tuple[Dropped, ...] = ()
    repeats: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[Ranked, ...] = ()

    @property
    def ranked(self) -> tuple[Ranked, ...]:
        """All that was chosen."""
        return (*self.guaranteed, *self.others)


@dataclass(frozen=True, slots=True)
class Packed:
    """The answer as text. `blocks` stand in the order of the text; `dropped` is what didn't fit."""

    blocks: tuple[ScoredBlock, ...]
    text: str
    tokens_used: int
    over_budget: bool
    dropped: tuple[Dropped, ...] = ()


def best_first(ranked: Iterable[Ranked]) -> tuple[Ranked, ...]:
    """Return candidates by score, then the more recently updated, then the higher id."""
    return tuple(sorted(ranked, reverse=True))
