"""Frames of a tenant's own, as rows of the store. Everybody in the tenant uses them; an admin
changes them.

In: definitions that the registry has checked. Out: the same, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recollect.model import FrameDefinition
from recollect.policy.permit import need
from recollect.ports.state import FrameRow

if TYPE_CHECKING:
    from recollect.model import Principal
    from recollect.open_store import OpenStore

__all__ = ["FrameRows", "invalidation_event"]


class FrameRows:
    """The frames of one principal's tenant. What changes them happens inside `change`."""

    def __init__(self, open_store: OpenStore, principal: Principal) -> None:
        self._open_store = open_store
        self._principal = principal

    def change(
        self,
        act: Callable[[], FrameDefinition | None],
        *,
        verb: str,
        body: object,
        request_id: str | None,
    ) -> FrameDefinition | None:
        """Let an admin look up and change frames while nobody else can; once, if it is named."""
        from recollect.verbs.requests import Request, answered, keep, raise_if_repeated

        need(self._principal, "admin")
        request = Request.of(self._open_store, self._principal, request_id, verb=verb, body=body)

        def change() -> FrameDefinition | None:
            with self._open_store.commit():
                self._open_store.need_living_key(self._principal)
                raise_if_repeated(request)
                frame = act()
                keep(request, None if frame is None else frame.to_dict())
            return frame

        return answered(request, change, told=_kept_frame)

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


def _kept_frame(fields: Mapping[str, Any] | None) -> FrameDefinition | None:
    return None if fields is None else FrameDefinition.from_dict(fields)


def invalidation_event(tenant: str, name: str) -> str:
    """Return the event that ends the cached answers of one frame of a tenant."""
    return f"frame {name} of {tenant}"
