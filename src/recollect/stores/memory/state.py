"""The store's own row of facts, its log of commits, frames and events, in memory.

In: values of `recollect.ports.state`. Out: the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from recollect.ports.state import (
    START,
    ClockState,
    CommitRecord,
    Counts,
    FrameRow,
    Head,
    Holdings,
    KeptAnswer,
    StoreState,
)
from recollect.stores.memory.session import Session

__all__ = ["MemoryState"]


class MemoryState:
    """The facts about one store in memory as a whole."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self) -> StoreState:
        """Return the one row of facts."""
        with self._session.snapshot():
            return self._session.state

    def commits(self, since: int) -> list[CommitRecord]:
        """Return the commits after a revision that the log still has, oldest first."""
        with self._session.snapshot():
            log = self._session.commits
            return [log[revision] for revision in sorted(log) if revision > since]

    def knows(self, head: Head) -> bool:
        """Return whether `changes` can lead from a head to the present one."""
        with self._session.snapshot():
            made = self._session.commits.get(head.revision)
            return head in (START, self._session.state.head) or (
                made is not None and made.commit_id == head.commit_id
            )

    def set_clock(self, clock: ClockState) -> None:
        """Keep a clock as it is given."""
        self._write(self._session.state._replace(clock=clock))

    def set_model(self, model_id: str, dimension: int) -> None:
        """Keep which model the vectors are of."""
        self._write(self._session.state._replace(model_id=model_id, dimension=dimension))

    def wiping_due(self) -> int:
        """Return 0: what is erased here is gone."""
        return 0

    def set_wiped(self, revision: int) -> None:
        """Do nothing: nothing was left."""

    def count(self) -> Counts:
        """Count what is kept."""
        tables = self._session
        with tables.snapshot():
            rows = list(tables.memories.rows())
            return Counts(
                memories=len(rows),
                pending=sum(row.pending for row in rows),
                edges=len(tables.edges),
                open_disputes=sum(row.is_open for row in tables.disputes.rows()),
                frames=len(tables.frames),
                reembedded=sum(row.following is not None for row in rows),
            )

    def holdings(self, tenant: str) -> Holdings:
        """Count what a tenant has."""
        with self._session.snapshot():
            rows = self._session.memories.rows()
            theirs = [row.memory.content for row in rows if row.memory.place.tenant == tenant]
        return Holdings(len(theirs), sum(len(text.encode()) for text in theirs))

    def fire(self, event: str) -> None:
        """Note that something happened which cached frames may depend on."""
        self._session.touched.events.add(event)
        self._session.events.put(event, self._session.revision)

    def events(self) -> Mapping[str, int]:
        """Return the revision at which each event last fired."""
        events = self._session.events
        with self._session.snapshot():
            return {event: events[event] for event in events}

    def answer(self, request: str) -> KeptAnswer | None:
        """Return what a request was answered with, if that is still kept."""
        with self._session.snapshot():
            return self._session.answers.get(request)

    def keep_answer(self, kept: KeptAnswer, *, names: Collection[str], since: str) -> None:
        """Keep an answer that names these memories; drop all that were kept before a time."""
        tables = self._session
        _ = tables.revision  # refuses outside of a commit
        for request in [one for one in tables.answers if tables.answers[one].at < since]:
            tables.answers.drop(request)
            for key in [one for one in tables.answer_rows if one[1] == request]:
                tables.answer_rows.drop(key)
        tables.answers.put(kept.request, kept)
        for name in names:
            row = tables.memories.get(name)
            if row is not None:
                tables.answer_rows.put((row.row_id, kept.request), None)

    def frames(self, tenant: str) -> Mapping[str, FrameRow]:
        """Return a tenant's own frames, by name."""
        frames = self._session.frames
        with self._session.snapshot():
            return {name: frames[own, name] for own, name in sorted(frames) if own == tenant}

    def put_frame(self, tenant: str, name: str, frame: FrameRow | None) -> None:
        """Keep a frame under its name, or drop it."""
        _ = self._session.revision  # refuses outside of a commit
        if frame is None:
            self._session.frames.drop((tenant, name))
        else:
            self._session.frames.put((tenant, name), frame)

    def tidy(self) -> None:
        """Begin the log anew with this commit; older indexes must start anew."""
        self._session.touched.begins_log = True

    def _write(self, state: StoreState) -> None:
        _ = self._session.revision  # refuses outside of a commit
        self._session.set_state(state)
