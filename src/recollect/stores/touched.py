"""What commits touch: gathered while one is written, and put together from the log afterwards.

In: row ids, pairs and events, as the rooms of a store write them. Out: the same, each once. It
holds numbers of rows and never what is in them: all that a forgotten memory leaves in a log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from recollect.ports.state import CommitRecord
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.uses import Who

__all__ = [
    "KEPT_COMMITS",
    "KEPT_NUMBERS",
    "USED",
    "Touched",
    "first_kept",
    "is_time_to_trim",
    "use_event",
]

# How much of its log a store keeps: so many commits, and of these no more than hold so many row
# ids in all. Whoever is further behind has read the whole store sooner than the log of it.
KEPT_COMMITS = 10_000
KEPT_NUMBERS = 1_000_000
# How the event begins that says whose uses changed; what follows is the tenant and the principal.
USED = "used "
# It is trimmed now and then, and after a commit that fills a good part of it.
_TRIM_EVERY = 256
_LARGE = KEPT_NUMBERS // _TRIM_EVERY


@dataclass(slots=True)
class Touched:
    """Rows written, rows erased, links written or removed, events fired.

    A row that is erased may be among the written too, and another may have its number by now. With
    `begins_log` no head from before is known any more.
    """

    rows: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    edges: set[tuple[int, int]] = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    begins_log: bool = False

    @classmethod
    def by(cls, commits: Iterable[CommitRecord]) -> Touched:
        """Return what some commits touched together."""
        found = cls()
        for one in commits:
            found.add(one)
        return found

    def add(self, other: Touched | CommitRecord) -> None:
        """Count in what another commit touched."""
        self.rows.update(other.rows)
        self.gone.update(other.gone)
        self.edges.update(other.edges)
        self.events.update(other.events)

    @property
    def users(self) -> list[Who]:
        """Return whose uses changed."""
        found = (json.loads(one[len(USED) :]) for one in self.events if one.startswith(USED))
        return [(tenant, principal) for tenant, principal in found]

    def record(self, revision: int, commit_id: str, at: str | None) -> CommitRecord:
        """Return what the log keeps."""
        return CommitRecord(
            revision,
            commit_id,
            at,
            tuple(sorted(self.rows)),
            tuple(sorted(self.gone)),
            tuple(sorted(self.edges)),
            tuple(sorted(self.events)),
        )


def use_event(who: Who) -> str:
    """Return the event that says that a principal's uses changed."""
    return USED + json.dumps(who, ensure_ascii=False)


def is_time_to_trim(revision: int, size: int) -> bool:
    """Return whether the commit that becomes this revision shall trim the log."""
    return revision % _TRIM_EVERY == 0 or size > _LARGE


def first_kept(log: Iterable[tuple[int, int]]) -> int:
    """Return the oldest revision that stays in a log of revisions and sizes, newest first."""
    first = numbers = 0
    for place, (revision, size) in enumerate(log):
        numbers += size
        if place and (place >= KEPT_COMMITS or numbers > KEPT_NUMBERS):
            break
        first = revision
    return first
