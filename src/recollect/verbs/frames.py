"""Frames of a tenant's own, as rows of the store. Everybody in the tenant uses them; an admin
changes them.

In: definitions that the registry has checked. Out: the same, by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recollect.policy.permit import need
from recollect.ports.state import FrameRow

if TYPE_CHECKING:
    from recollect.model import FrameDefinition, Principal
    from recollect.open_store import OpenStore

__all__ = ["FrameRows", "invalidation_event"]


class FrameRows:
    """The frames of one principal's tenant. What changes them happens inside `change`."""

    def __init__(self, open_store: OpenStore, principal: Principal) -> None:
        self._open_store = open_store
        self._principal = principal

    @contextmanager
    def change(self) -> Iterator[None]:
        """Let an admin look up and change frames while nobody else can."""
        need(self._principal, "admin")
        with self._open_store.commit():
            self._open_store.need_living_key(self._principal)
            yield

    def load(self) -> Mapping[str, tuple[FrameDefinition, str | None]]:
        """Return the frames by name, each with the one that it extends."""
        if "admin" not in self._principal.permissions:
            need(self._principal, "read")
        self._open_store.check_open()
        self._open_store.need_living_key(self._principal)
        own = self._open_store.store.state.frames(self._principal.tenant)
        return {name: (row.definition, row.extends) for name, row in own.items()}

    def save(self, definition: FrameDefinition, extends: str | None) -> None:
        """Keep a frame."""
        row = FrameRow(definition, extends)
        self._open_store.store.state.put_frame(self._principal.tenant, definition.name, row)
        self._open_store.note(self._principal, "frame.save", definition.name)

    def delete(self, name: str) -> None:
        """Drop a frame."""
        self._open_store.store.state.put_frame(self._principal.tenant, name, None)
        self._open_store.note(self._principal, "frame.delete", name)

    def invalidate(self, name: str) -> None:
        """Let go of the cached answers of a frame: here at once, elsewhere by its event."""
        self._open_store.store.state.fire(invalidation_event(self._principal.tenant, name))
        self._open_store.note(self._principal, "frame.invalidate", name)
        self._open_store.cached_frames.invalidate(name, tenant=self._principal.tenant)


def invalidation_event(tenant: str, name: str) -> str:
    """Return the event that ends the cached answers of one frame of a tenant."""
    return f"frame {name} of {tenant}"
