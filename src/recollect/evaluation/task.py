"""What is asked of recall: texts to remember, questions about them, and which texts answer them.

Frozen values that the loaders make and the runner takes. Each collection is a store of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from recollect.values import dataclass

__all__ = ["Collection", "Item", "Question", "Task"]


@dataclass(frozen=True, slots=True)
class Item:
    """One text as `remember_many` takes it, and the place in a file it came from."""

    arguments: Mapping[str, Any]
    source: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids that answer it, each with a grade above 0."""

    question_id: str
    text: str
    gold: Mapping[str, int]
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """One store's worth: what is remembered in it, and what is asked of it."""

    name: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """Collections under one name. `skipped` counts by reason what took no part."""

    name: str
    collections: tuple[Collection, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)
