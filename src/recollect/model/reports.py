"""What verbs that change or hand over memories report. Frozen values, standard library only.

`meta` says which hooks had a part in it; it is empty when none had.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from recollect.values import dataclass

__all__ = [
    "BackedUp",
    "Examination",
    "Forgotten",
    "Ingested",
    "IngestedItem",
    "Looked",
    "Repaired",
    "Restored",
    "Salvaged",
]


@dataclass(frozen=True, slots=True)
class Examination:
    """What `examine` found; true when all is well.

    `problems` says in words what is damaged, `damaged` which memories that costs. `notes` are worth
    knowing and no damage.
    """

    memories: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "ok": not self.problems,
            "memories": self.memories,
            "problems": list(self.problems),
            "notes": list(self.notes),
            "damaged": list(self.damaged),
        }


@dataclass(frozen=True, slots=True)
class Repaired:
    """What `repair` did.

    `restored` are memories that are as they were written again, `aside` what had to be put aside,
    by name; `vectors` were made anew or wait for it; `dropped` links and entries of lists were not
    as they were written, and were computed again from texts and vectors; `full_text` rows were put
    right. `problems` are left.
    """

    restored: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    vectors: int = 0
    dropped: int = 0
    full_text: int = 0
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "ok": not self.problems,
            "restored": list(self.restored),
            "aside": list(self.aside),
            "vectors": self.vectors,
            "dropped": self.dropped,
            "full_text": self.full_text,
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A backup that was written and looked at: where, how much, and of which revision."""

    path: str
    memories: int
    revision: int
    size: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "file": self.path,
            "memories": self.memories,
            "revision": self.revision,
            "bytes": self.size,
        }


@dataclass(frozen=True, slots=True)
class Restored:
    """A store that was made from a backup. What was in its place stands at `aside`, if anything."""

    path: str
    memories: int
    revision: int
    aside: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "db": self.path,
            "memories": self.memories,
            "revision": self.revision,
            "aside": self.aside,
        }


@dataclass(frozen=True, slots=True)
class Looked:
    """One file of a store that `forget` looked at: what was done there, and whether it is clean."""

    name: str
    how: str
    is_clean: bool


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What `salvage` brought into a new file.

    `memories` are in it, `lost` are those that are known of and could not be read, by name or by
    number. `tables` may lack rows that nobody knows of. The damaged file stands at `aside`, as it
    was; `repaired` is what was put right in the new one.
    """

    memories: int
    lost: tuple[str, ...]
    tables: tuple[str, ...]
    aside: str
    repaired: Repaired

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "ok": not (self.lost or self.tables or self.repaired.problems),
            "memories": self.memories,
            "lost": list(self.lost),
            "tables": list(self.tables),
            "aside": self.aside,
            "repaired": self.repaired.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What `forget` erased; false when there was nothing.

    `wiped` is whether the bytes of all that was ever forgotten are gone from the files as well:
    another process that is reading may keep old pages in the write-ahead log until it is done, and
    a disk may fail. The store knows then, and the next `forget`, closing or opening wipes them.
    `proof` names every file that was looked at; `wiped` is that each of them is clean.

    Of a `dry_run` these are what would be erased; `returns` names what answers may hold again then:
    what the erased superseded, or contradicted and won against. `versions` counts what memories
    that stay were before a change, and is erased: it was of what was named. `receipts` counts what
    was kept of answers to the owner who is forgotten, or has ended.
    """

    pak_ids: tuple[str, ...]
    edges: int
    wiped: bool
    meta: dict[str, Any] = field(default_factory=dict, hash=False)
    proof: tuple[Looked, ...] = ()
    dry_run: bool = False
    returns: tuple[str, ...] = ()
    versions: int = 0
    receipts: int = 0

    def __bool__(self) -> bool:
        return bool(self.pak_ids or self.versions or self.receipts)


@dataclass(frozen=True, slots=True)
class IngestedItem:
    """What became of one fact from outside."""

    state: Literal["accepted", "quarantined", "refused"]
    pak_id: str | None = None
    error: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of facts from outside, in the order they came."""

    items: tuple[IngestedItem, ...]
    meta: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def accepted(self) -> int:
        """How many may be recalled."""
        return sum(item.state == "accepted" for item in self.items)

    @property
    def quarantined(self) -> int:
        """How many wait for a moderator."""
        return sum(item.state == "quarantined" for item in self.items)

    @property
    def refused(self) -> int:
        """How many were not taken."""
        return sum(item.state == "refused" for item in self.items)
