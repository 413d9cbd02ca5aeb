"""The store's own row of facts, its log of commits, frames and events, in SQLite.

In: values of `recollect.ports.state`. Out: the same.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from recollect.model import FrameDefinition
from recollect.ports.state import (
    Counts,
    FrameRow,
    Holdings,
    KeptAnswer,
)
from recollect.stores.sqlite import commits

if TYPE_CHECKING:
    from recollect.ports.state import (
        ClockState,
        CommitRecord,
        Head,
        StoreState,
    )
    from recollect.stores.sqlite.session import Session

__all__ = ["SqliteState"]


class SqliteState:
    """The facts about one SQLite file as a whole."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def read(self) -> StoreState:
        """Return the one row of facts."""
        return self._db.state()

    def commits(self, since: int) -> list[CommitRecord]:
        """Return the commits after a revision that the log still has, oldest first."""
        return commits.records(self._db, since)

    def knows(self, head: Head) -> bool:
        """Return whether `changes` can lead from a head to the present one."""
        return commits.knows(self._db, head)

    def set_clock(self, clock: ClockState) -> None:
        """Keep a clock as it is given."""
        self._db.set_clock(clock)

    def set_model(self, model_id: str, dimension: int) -> None:
        """Keep which model the vectors are of."""
        self._write("model_id = ?, dimension = ?", model_id, dimension)

    def wiping_due(self) -> int:
        """Return the revision of the last erasure whose bytes may still be in the file, or 0."""
        return int(self._db.one("SELECT unwiped FROM engine_state")[0])

    def set_wiped(self, revision: int) -> None:
        """Know that nothing of that erasure is left."""
        self._db.run("UPDATE engine_state SET unwiped = 0 WHERE unwiped = ?", revision)

    def count(self) -> Counts:
        """Count what is kept."""
        with self._db.snapshot():
            row = self._db.one(
                "SELECT (SELECT count(*) FROM memories),"
                " (SELECT count(*) FROM memories WHERE pending = 1),"
                " (SELECT count(*) FROM memory_edges),"
                " (SELECT count(*) FROM memory_disputes WHERE is_open = 1),"
                " (SELECT count(*) FROM memory_frames),"
                f" (SELECT count(vector_{1 - self._db.slot}) FROM memories)"
            )
        return Counts(*row)

    def holdings(self, tenant: str) -> Holdings:
        """Count what a tenant has."""
        row = self._db.one(
            "SELECT count(*), coalesce(sum(length(CAST(content AS BLOB))), 0)"
            " FROM memories WHERE tenant = ?",
            tenant,
        )
        return Holdings(*row)

    def fire(self, event: str) -> None:
        """Note that something happened which cached frames may depend on."""
        self._db.touched.events.add(event)
        self._db.run(
            "INSERT INTO memory_events (event, changed) VALUES (?, ?)"
            " ON CONFLICT (event) DO UPDATE SET changed = excluded.changed",
            event,
            self._db.revision,
        )

    def events(self) -> Mapping[str, int]:
        """Return the revision at which each event last fired."""
        return dict(self._db.all("SELECT event, changed FROM memory_events"))

    def answer(self, request: str) -> KeptAnswer | None:
        """Return what a request was answered with, if that is still kept."""
        found = self._db.all(
            "SELECT request, at, body, answer FROM kept_answers WHERE request = ?", request
        )
        return KeptAnswer(*found[0]) if found else None

    def keep_answer(self, kept: KeptAnswer, *, names: Collection[str], since: str) -> None:
        """Keep an answer that names these memories; drop all that were kept before a time."""
        _ = self._db.revision  # refuses outside of a commit
        self._db.run(
            "DELETE FROM kept_answer_rows WHERE request IN"
            " (SELECT request FROM kept_answers WHERE at < ?)",
            since,
        )
        self._db.run("DELETE FROM kept_answers WHERE at < ?", since)
        self._db.run(
            "INSERT OR REPLACE INTO kept_answers (request, at, body, answer) VALUES (?, ?, ?, ?)",
            *(kept.request, kept.at, kept.body, kept.answer),
        )
        self._db.run_each(
            "INSERT INTO kept_answer_rows (row_id, request)"
            " SELECT row_id, ? FROM memories WHERE pak_id = ?",
            [(kept.request, name) for name in sorted(names)],
        )

    def frames(self, tenant: str) -> Mapping[str, FrameRow]:
        """Return a tenant's own frames, by name."""
        return {
            name: frame
            for name, *row in self._db.all(
                "SELECT name, definition, extends FROM memory_frames WHERE tenant = ?"
                " ORDER BY name",
                tenant,
            )
            if type(name) is str and (frame := _frame(*row)) is not None
        }

    def put_frame(self, tenant: str, name: str, frame: FrameRow | None) -> None:
        """Keep a frame under its name, or drop it."""
        self._db.run("DELETE FROM memory_frames WHERE tenant = ? AND name = ?", tenant, name)
        if frame is not None:
            self._db.run(
                "INSERT INTO memory_frames (tenant, name, definition, extends) VALUES (?, ?, ?, ?)",
                tenant,
                name,
                json.dumps(frame.definition.to_dict()),
                frame.extends,
            )

    def tidy(self) -> None:
        """Begin the log anew with this commit; older indexes must start anew."""
        self._db.touched.begins_log = True

    def _write(self, assignments: str, *values: object) -> None:
        _ = self._db.revision  # refuses outside of a commit
        self._db.run(f"UPDATE engine_state SET {assignments}", *values)


def _frame(definition: object, extends: str | None) -> FrameRow | None:
    """Return a frame as it was kept; None for one that was damaged: then there is no such frame."""
    try:
        if not isinstance(definition, str):
            return None
        return FrameRow(FrameDefinition.from_dict(json.loads(definition)), extends)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
