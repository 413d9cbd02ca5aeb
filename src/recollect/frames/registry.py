"""A user's own frames beside the built-in ones.

What a frame extends is resolved when it is registered: the stored row is complete, and a later
change to the frame it grew from does not reach it. Rows live behind `FrameRows`, which also says
who may look at them and who may change them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol, TypedDict, TypeVar, Unpack, cast

from recollect.errors import FrameExists, FrameImmutable, InvalidInput, UnknownFrame
from recollect.frames.builtin import BUILTIN_FRAMES
from recollect.model import CachePolicy, FrameDefinition, FrameFilters, Weights

__all__ = ["FrameFields", "FrameRegistry", "FrameRows", "with_recipe"]

_Row = tuple[FrameDefinition, str | None]
_Part = TypeVar("_Part", FrameFilters, CachePolicy)

# What a frame starts from that extends none. Its weights never count: they must be given.
_BLANK = FrameDefinition(name="blank", weights=Weights(1.0, 0.0, 0.0, 0.0, 0.0))


class FrameFields(TypedDict, total=False):
    """What a caller may set. None means not given, except for `cache`, where it means no cache.

    `weights` are given whole, all five; `filters` and `cache` may be mappings, which change the
    fields that they name and leave the others.
    """

    weights: Weights | Mapping[str, float] | None
    filters: FrameFilters | Mapping[str, Any] | None
    guarantees: Sequence[str] | None
    template: str | None
    token_budget: int | None
    cache: CachePolicy | Mapping[str, Any] | None


class FrameRows(Protocol):
    """Where users' frames are kept: by name, each with the name of the frame it extends."""

    def change(
        self,
        act: Callable[[], FrameDefinition | None],
        *,
        verb: str,
        body: object,
        request_id: str | None,
    ) -> FrameDefinition | None:
        """Let `act` look up and change frames while nobody else can, all of it or nothing.

        A request of this id that was done before is answered as it was then.
        """

    def load(self) -> Mapping[str, tuple[FrameDefinition, str | None]]:
        """Return every kept frame; refuse whoever may not know them."""

    def save(self, definition: FrameDefinition, extends: str | None) -> None:
        """Keep a frame, in place of one of the same name."""

    def delete(self, name: str) -> None:
        """Remove a frame."""

    def invalidate(self, name: str) -> None:
        """Let go of the cached answers of a frame, wherever they are cached."""


class FrameRegistry:
    """Register, look up, change and delete frames."""

    def __init__(self, rows: FrameRows) -> None:
        self._rows = rows

    def register(
        self,
        name: str,
        *,
        extends: str | None = None,
        request_id: str | None = None,
        **given: Unpack[FrameFields],
    ) -> FrameDefinition:
        """Keep a new frame; what is not given comes from `extends`, else from the defaults."""
        from recollect.frames.check import checked_name

        _refuse_builtin(checked_name(name))

        def register() -> FrameDefinition:
            if name in self._own():
                raise FrameExists(
                    f"there is a frame {name!r} already.", hint="update it, or delete it first."
                )
            if extends is None and given.get("weights") is None:
                raise InvalidInput(
                    f"frame {name!r} has no weights.", hint="pass weights, or extends='attention'."
                )
            base = _BLANK if extends is None else self.get(extends)
            return self._save(replace(base, name=name, source="user"), extends, given)

        body = [name, extends, given]
        return _as_frame(
            self._rows.change(register, verb="frame.register", body=body, request_id=request_id)
        )

    def update(
        self, name: str, *, request_id: str | None = None, **given: Unpack[FrameFields]
    ) -> FrameDefinition:
        """Change a frame; what is not given stays."""
        _refuse_builtin(name)

        def update() -> FrameDefinition:
            frame, extends = self._row(name)
            return self._save(frame, extends, given)

        body = [name, given]
        return _as_frame(
            self._rows.change(update, verb="frame.update", body=body, request_id=request_id)
        )

    def list(self) -> tuple[FrameDefinition, ...]:
        """Return the built-in frames, then the user's by name."""
        own = self._own()
        return (*BUILTIN_FRAMES.values(), *(own[name][0] for name in sorted(own)))

    def get(self, name: str) -> FrameDefinition:
        """Return one frame."""
        return BUILTIN_FRAMES[name] if _is_builtin(name) else self._row(name)[0]

    def extends(self, name: str) -> str | None:
        """Return the name of the frame that this one was registered on."""
        return None if _is_builtin(name) else self._row(name)[1]

    def delete(self, name: str, *, request_id: str | None = None) -> None:
        """Remove a frame; frames that were registered on it stay as they are."""
        _refuse_builtin(name)

        def delete() -> None:
            self._row(name)
            self._rows.delete(name)

        self._rows.change(delete, verb="frame.delete", body=[name], request_id=request_id)

    def invalidate(self, name: str, *, request_id: str | None = None) -> None:
        """Let go of the cached answers of a frame, in whatever process they are cached."""

        def invalidate() -> None:
            self._rows.invalidate(self.get(name).name)

        self._rows.change(invalidate, verb="frame.invalidate", body=[name], request_id=request_id)

    def _save(
        self, base: FrameDefinition, extends: str | None, given: FrameFields
    ) -> FrameDefinition:
        from recollect.frames.check import checked

        frame = checked(_changed(base, given))
        self._rows.save(frame, extends)
        return frame

    def _own(self) -> dict[str, _Row]:
        # A row may be older than a built-in frame of the same name; the built-in one counts.
        return {name: row for name, row in self._rows.load().items() if not _is_builtin(name)}

    def _row(self, name: str) -> _Row:
        own = self._own()
        if isinstance(name, str) and name in own:
            return own[name]
        known = ", ".join((*BUILTIN_FRAMES, *sorted(own)))
        raise UnknownFrame(f"there is no frame {name!r:.80}.", hint=f"known frames: {known}.")


def with_recipe(frame: FrameDefinition, recipe: Mapping[str, Any]) -> FrameDefinition:
    """Return a frame as it would be with parts of its recipe changed; nothing is kept."""
    from recollect.frames.check import checked

    if not isinstance(recipe, Mapping):
        raise InvalidInput(
            f"a recipe is a mapping, not {type(recipe).__name__}.",
            hint='such as {"token_budget": 400}.',
        )
    return checked(_changed(frame, cast("FrameFields", dict(recipe))))


def _as_frame(frame: FrameDefinition | None) -> FrameDefinition:
    if frame is None:
        raise TypeError("a change that keeps a frame tells which")
    return frame


def _is_builtin(name: object) -> bool:
    return isinstance(name, str) and name in BUILTIN_FRAMES


def _refuse_builtin(name: str) -> None:
    if _is_builtin(name):
        raise FrameImmutable(
            f"frame {name!r} is built in and stays as it is.",
            hint=f"register a frame of your own with extends={name!r}.",
        )


def _changed(base: FrameDefinition, given: FrameFields) -> FrameDefinition:
    _refuse_unknown("FrameDefinition", given, known=FrameFields.__annotations__)
    chosen: dict[str, Any] = {
        name: value for name, value in given.items() if value is not None or name == "cache"
    }
    if isinstance(weights := chosen.get("weights"), Mapping):
        chosen["weights"] = _weights(weights)
    if isinstance(filters := chosen.get("filters"), Mapping):
        chosen["filters"] = _with(base.filters, filters)
    if isinstance(cache := chosen.get("cache"), Mapping):
        chosen["cache"] = _with(base.cache or CachePolicy(), cache)
    return replace(base, **chosen)


def _weights(given: Mapping[str, Any]) -> Weights:
    known = [field.name for field in fields(Weights)]
    _refuse_unknown("Weights", given, known=known)
    if missing := [name for name in known if name not in given]:
        raise InvalidInput(
            f"weights lack {', '.join(missing)}.",
            hint="weights only count together: give all five.",
        )
    return Weights(**given)


def _with(part: _Part, given: Mapping[str, Any]) -> _Part:
    _refuse_unknown(type(part).__name__, given, known=[field.name for field in fields(part)])
    return replace(part, **given)


def _refuse_unknown(what: str, given: Iterable[str], *, known: Iterable[str]) -> None:
    names = list(known)
    unknown = [str(name) for name in given if name not in names]
    if unknown:
        raise InvalidInput(
            f"{what} has no {', '.join(unknown)}.", hint=f"known fields: {', '.join(names)}."
        )
