"""Sample memories that ship with the package: the team of a small web shop, thirty memories.

In: nothing but the data file beside this module. Out: frozen values in the order of the file. They
are what `recollect demo` shows, and what a newcomer's own experiments can start from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from recollect.values import dataclass

__all__ = ["LINK_WEIGHT", "Anchor", "Relation", "SampleMemory", "as_learnt", "linked", "load_shop"]

# How strong the links are that a demo draws between related memories.
LINK_WEIGHT = 0.6


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in the shop's own files that a memory speaks of."""

    anchor_id: str
    source_path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed relation to another of the memories."""

    related_pak_id: str
    relation_type: str


@dataclass(frozen=True, slots=True)
class SampleMemory:
    """One memory: what a catalogue says of it, and the text itself with its tags."""

    pak_id: str
    pak_type: str
    project: str
    topic: str
    source_type: str
    authority: str
    title: str
    summary: str
    content: str
    category: str
    tags: tuple[str, ...]
    remembered_at: str
    reason_codes: Mapping[str, float]
    risk_flags: Mapping[str, str]
    anchors: tuple[Anchor, ...]
    relations: tuple[Relation, ...]
    superseded_by: str | None

    def told(self) -> dict[str, Any]:
        """Return what `remember` is told of it."""
        return {
            **{name: getattr(self, name) for name in _TOLD},
            "tags": list(self.tags),
            "source": self.source_type,
        }


_TOLD = (
    *("content", "pak_id", "title", "summary", "category", "project", "topic", "pak_type"),
    "authority",
)


def as_learnt() -> list[SampleMemory]:
    """Return the shop's memories in the order in which they were learnt."""
    return sorted(load_shop(), key=lambda sample: sample.remembered_at)


def linked(samples: Iterable[SampleMemory]) -> list[tuple[str, str]]:
    """Return the pairs that a demo links: those that are related, each once."""
    pairs = {
        (min(one.pak_id, other.related_pak_id), max(one.pak_id, other.related_pak_id))
        for one in samples
        for other in one.relations
    }
    return sorted(pairs)


def load_shop() -> tuple[SampleMemory, ...]:
    """Return the memories of the sample shop's team."""
    text = files(__name__).joinpath("shop.json").read_text(encoding="utf-8")
    return tuple(_memory(fields) for fields in json.loads(text)["memories"])


def _memory(fields: dict[str, Any]) -> SampleMemory:
    return SampleMemory(
        **{
            **fields,
            "tags": tuple(fields["tags"]),
            "reason_codes": MappingProxyType(fields["reason_codes"]),
            "risk_flags": MappingProxyType(fields["risk_flags"]),
            "anchors": tuple(Anchor(**anchor) for anchor in fields["anchors"]),
            "relations": tuple(Relation(**relation) for relation in fields["relations"]),
        }
    )
