"""The events a hook can listen to, and how long the hooks of each may take together.

Names and deadlines only: what an event tells is its `Shape`, and which verb it belongs to is in
`recollect.hooks.verbs`.
"""

from __future__ import annotations

from enum import Enum, StrEnum

__all__ = ["EventClass", "HookEvent"]


class EventClass(Enum):
    """How long a whole chain may take, in seconds."""

    HOT_PATH = 0.050
    READ = 2.0
    WRITE = 5.0


class HookEvent(StrEnum):
    """What a hook can listen to."""

    PRE_RECALL_EXPAND = "pre_recall_expand"
    PRE_RECALL = "pre_recall"
    POST_RECALL = "post_recall"
    PRE_FRAME = "pre_frame"
    POST_FRAME = "post_frame"
    PRE_SELECT = "pre_select"
    PRE_REMEMBER = "pre_remember"
    POST_REMEMBER = "post_remember"
    PRE_FORGET = "pre_forget"
    POST_FORGET = "post_forget"
    PRE_LINK = "pre_link"
    POST_LINK = "post_link"
    PRE_INGEST = "pre_ingest"

    @property
    def event_class(self) -> EventClass:
        """The class that sets the deadline of the event's chain."""
        if self is HookEvent.PRE_RECALL_EXPAND:
            return EventClass.HOT_PATH
        reads = ("recall", "frame", "select")
        return EventClass.READ if self.endswith(reads) else EventClass.WRITE

    @property
    def deadline_s(self) -> float:
        """What the event's whole chain may take."""
        return _DEADLINES_S[self]

    @property
    def has_namespace(self) -> bool:
        """Whether it is about one project, so that a hook can be meant for some of them only."""
        if self is HookEvent.PRE_FRAME:
            return True
        return self.endswith(("recall_expand", "recall", "select", "remember"))

    @property
    def is_recall(self) -> bool:
        """Whether it is on the way of a recall, where a process a call costs too much."""
        return "recall" in self


_DEADLINES_S = {event: event.event_class.value for event in HookEvent}
