"""How a page is declared: where it is, what it shows, and what draws it.

In: nothing. Out: frozen values that `endpoints` makes routes of. A page gives plain data, which
leaves as HTML or, at the same path with `.json`, as it is; a form does something and says where to
go then, or what to show at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["Data", "Form", "Go", "Page", "Shown"]

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """One page. With a `label` it stands in the navigation, below its `group`.

    `permission` is what its label is shown for; whether it may be read, its verbs decide.
    """

    path: str
    template: str
    view: Callable[[Visit], Data]
    title: str
    label: str | None = None
    group: str = "Answers"
    permission: str = "read"
    help: str = ""


@dataclass(frozen=True, slots=True)
class Go:
    """What comes after a form: another page, and a sentence that stands on it once."""

    path: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a form shows at once and nobody can come back to, such as a secret that is told once."""

    template: str
    title: str
    data: Data = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Form:
    """What a page sends to change something.

    `on` is the path of the page that it stands on, where that is not its own.
    """

    path: str
    act: Callable[[Visit], Go | Shown]
    on: str | None = None
