"""A verb as the doors know it: one row of the table, and how it is carried out.

In: a memory that acts for somebody, and values by name. Out: the object that leaves, made by
`wire`. A field that a verb does not have, and one that is missing, are refused here, for all doors
in the same words; all else the engine checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.errors import InvalidInput
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.edge import wire
    from recollect.engine import Recollect

__all__ = ["REQUEST_ID", "Act", "Effect", "Progress", "Route", "Verb"]

Effect = Literal["reads", "writes", "destroys"]
Progress = Callable[[int, int], None]
Act = Callable[["Recollect", dict[str, Any]], "wire.Object | Iterator[str]"]

REQUEST_ID = Field(
    "request_id",
    "text",
    "A name of your own for this request: sent again under it, it is done once.",
)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a verb is found over HTTP. What stands in braces in the path are fields of it."""

    method: Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
    path: str
    status: int = 200

    @property
    def has_body(self) -> bool:
        """Whether fields come as a JSON object; without one they stand in the URL."""
        return self.method in ("POST", "PATCH", "PUT")

    def in_path(self, field: Field) -> bool:
        """Whether a field is a part of the path."""
        return "{" + field.name + "}" in self.path


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that can be asked for.

    `permission` is what it takes at least; some take more for some requests. `answer` is a type, or
    a shape of types by name. `is_idempotent`: asked for again it changes nothing more. A verb with
    `repeats` knows requests by a name that they are sent under; one that `progresses` can say how
    far it is.
    """

    name: str
    help: str
    effect: Effect
    permission: str | None
    fields: tuple[Field, ...]
    answer: Any
    act: Act
    route: Route
    repeats: bool = False
    is_idempotent: bool = False
    streams: bool = False
    progresses: bool = False

    def __post_init__(self) -> None:
        if self.repeats:
            object.__setattr__(self, "fields", (*self.fields, REQUEST_ID))

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that were given, if the verb has them and lacks none."""
        known = [one.name for one in self.fields]
        for name in given:
            if name not in known:
                raise InvalidInput(
                    f"{self.name} has no field {name!r:.80}.",
                    hint=f"it has {', '.join(known)}; who asks is known from the credential."
                    if known
                    else "it takes none.",
                )
        for one in self.fields:
            if one.default is REQUIRED and given.get(one.name) is None:
                raise InvalidInput(f"{one.name} is missing.", hint=one.help)
            if one.name in given:
                one.check(given[one.name])
        return dict(given)

    def perform(
        self, memory: Recollect, given: Mapping[str, Any], *, progress: Progress | None = None
    ) -> wire.Object | Iterator[str]:
        """Carry it out, and return what leaves; `progress` is told how much of how much is done."""
        checked = self.checked(given)
        if self.progresses and progress is not None:
            checked["progress"] = progress
        return self.act(memory, checked)
