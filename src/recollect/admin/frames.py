"""Frames of a tenant's own, as rows of the store. Everybody in the tenant uses them; an admin
changes them.

In: definitions that the registry has checked. Out: the same, by name.
"""

from __future__ import annotations

from collections.abc import Mapping

from recollect.model import FrameDefinition, Principal
from recollect.opened import OpenStore
from recollect.policy.permit import need
from recollect.ports.store import FrameRow

__all__ = ["FrameRows"]


class FrameRows:
    """The frames of one principal's tenant."""

    def __init__(self, opened: OpenStore, principal: Principal) -> None:
        self._opened = opened
        self._principal = principal

    def load(self) -> Mapping[str, tuple[FrameDefinition, str | None]]:
        """Return the frames by name, each with the one that it extends."""
        with self._opened.turn():
            own = self._opened.store.state.frames(self._principal.tenant)
        return {name: (row.definition, row.extends) for name, row in own.items()}

    def save(self, definition: FrameDefinition, extends: str | None) -> None:
        """Keep a frame."""
        need(self._principal, "admin")
        with self._opened.turn(), self._opened.commit():
            row = FrameRow(definition, extends)
            self._opened.store.state.put_frame(self._principal.tenant, definition.name, row)
            self._opened.note(self._principal, "frame.save", definition.name)

    def delete(self, name: str) -> None:
        """Drop a frame."""
        need(self._principal, "admin")
        with self._opened.turn(), self._opened.commit():
            self._opened.store.state.put_frame(self._principal.tenant, name, None)
            self._opened.note(self._principal, "frame.delete", name)
