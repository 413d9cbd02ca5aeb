"""All that a store keeps of its own, as records: what an export of the whole of it is made of.

For whoever holds the store, so no view is asked. A record is one row of facts under names that
outlive the tables; `recollect.write.whole_store` turns it into a line and back. Derived columns,
vectors, keys, commits and the audit log are no records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, get_args

from recollect.values import dataclass

__all__ = ["RECORD_KINDS", "Record", "RecordKey", "RecordKind", "RecordRoom"]

# In the order in which they can be written: what is named by others comes first.
RecordKind = Literal[
    "garden",
    "member",
    "trust",
    "frame",
    "memory",
    "pak",
    "successor",
    "reason",
    "flag",
    "anchor",
    "relation",
    "link",
    "likeness",
    "dispute",
    "use",
    "link_use",
    "version",
]
RECORD_KINDS: tuple[RecordKind, ...] = get_args(RecordKind)

RecordKey: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One row: where it stands among those of its kind, and what it says, as plain data."""

    key: RecordKey
    fields: Mapping[str, Any]


class RecordRoom(Protocol):
    """Everything, a page at a time. Any two stores of the same content give the same fields.

    - garden, member, trust, frame: facts of a tenant; a frame's definition as plain data.
    - memory: every field of one but `decay` and `risks`, its `place`, whether it is `pending`, and
      the catalogue's `source_type` and `content_hash`. In the order in which they were stored.
    - pak: an entry of the catalogue that the engine never wrote; successor: who replaced whom.
    - reason, flag, anchor, relation: what hangs on an entry of the catalogue.
    - link, likeness, dispute: pairs by id, resolved disputes too; of links those that hold.
    - use, link_use: what each principal has used, by id.
    - version: a memory as it was, and who wrote it; of the one that stands, the latter.
    """

    def page(self, kind: RecordKind, *, after: RecordKey | None, most: int) -> Sequence[Record]:
        """Return the first records of a kind in the order of their keys; those after one of them.

        Each page is of one state of the store, several need not be.
        """

    def count(self) -> Mapping[RecordKind, int]:
        """Return how many records there are of each kind."""

    def tenants(self) -> Mapping[str, int]:
        """Return how many memories each tenant has, by name; those that have none are not told."""
