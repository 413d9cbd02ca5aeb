"""Stores with tenants, teams, gardens and much that is hidden; and their twins without it.

Who may read what is written down here once more, from the columns of the file and nothing else,
so that the engine's own idea of it is not what it is measured by.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from tests.property.policy.asking import GARDENS, answers

from recollect import Recollect
from recollect.errors import RecollectError
from recollect.model import Role, Scope
from recollect.policy import PERMISSIONS, Principal
from recollect.ports.embedder import QueryTokens
from recollect.testing import FakeClock, FakeEmbedder

ROOT = Principal("acme", "root", ("red", "blue"), PERMISSIONS)
ANN = Principal("acme", "ann", ("red",), ("read", "write"))
BOB = Principal("acme", "bob", ("red", "blue"), ("read", "write", "instruct"))
CID = Principal("acme", "cid", (), ("read", "write", "moderate"))
DAN = Principal("globex", "dan", ("red",), PERMISSIONS)
EVE = Principal("acme", "eve", ("red",), ("write",))
PEOPLE = {one.id: one for one in (ROOT, ANN, BOB, CID, DAN, EVE)}

SOON, LONG_AGO, LATER = "2026-01-01T05:00:00Z", "2025-06-01T00:00:00Z", "2031-01-01T00:00:00Z"


class WeighingEmbedder(FakeEmbedder):
    """A fake that has a question's words weighed by their rarity, as the static one does."""

    def tokenise_query(self, text: str) -> QueryTokens:
        words = tuple(text.lower().split())
        return QueryTokens(words, self.embed_documents(words))

    def combine(self, tokens: QueryTokens, weights: Any) -> NDArray[np.float32]:
        total: NDArray[np.float64] = np.asarray(weights, np.float64) @ tokens.vectors
        return total.astype(np.float32)


class World:
    """A store that several principals use."""

    def __init__(
        self,
        folder: Path,
        name: str = "x",
        *,
        sanitizer: str = "flag",
        links: bool = True,
        receipts: bool = True,
    ) -> None:
        self.path = folder / f"{name}.db"
        self.clock = FakeClock()
        self.embedder = WeighingEmbedder(16)
        self.options: dict[str, Any] = {
            "sanitizer": sanitizer,
            "links": links,
            "hours": "wall",
            "receipts": receipts,
        }
        self.memory = self._opened(self.path)
        self.root, self.dan = self.of(ROOT), self.of(DAN)
        for slug, scope, team in (("ops", "company", None), ("lab", "team", "red")):
            self.root.gardens.create(slug, scope=cast("Scope", scope), team=team)
        self.root.gardens.create("fair", scope="public", tier=0.5)
        self.dan.gardens.create("ops")
        for slug, who, role in (
            ("ops", "ann", "writer"),
            ("ops", "cid", "moderator"),
            ("lab", "ann", "moderator"),
            ("lab", "cid", "reader"),
            ("fair", "bob", "admin"),
        ):
            self.root.gardens.add(slug, who, cast("Role", role))
        for tenant in (self.root, self.dan):
            tenant.frames.register("mine", extends="self", filters={"tag_patterns": ()})
            tenant.frames.register(
                "recent",
                extends="task",
                filters={"search_window_hours": 3.0},
                cache={"ttl_seconds": 600, "invalidate_on": ("curate_complete",)},
            )
        self.dan.frames.register("theirs", extends="task")
        self.root.trust.set("peer", 0.7)
        self.root.trust.set("stranger", 0.2)

    def close(self) -> None:
        self.memory.close()

    def of(self, principal: Principal) -> Recollect:
        return self.memory.as_principal(principal)

    def act(self, who: str, verb: str, *arguments: Any, **named: Any) -> object:
        """Let somebody do something; what is refused changes nothing."""
        with suppress(RecollectError):
            found: Any = self.of(PEOPLE[who])
            for part in verb.split("."):
                found = getattr(found, part)
            return found(*arguments, **named)
        return None

    def ids(self) -> list[str]:
        return [str(row[0]) for row in self._rows("pak_id")]

    def held(self) -> list[str]:
        return [pak_id for pak_id, status in self._rows("pak_id, status") if status != "active"]

    def hidden_from(self, who: Principal) -> list[str]:
        """Return the ids of the Paks that a principal may not read."""
        slugs = self._roles(who)
        columns = (
            "pak_id, tenant, owner, scope, team, garden, status, valid_from, valid_until, content"
        )
        return [row[0] for row in self._rows(columns) if not self._is_readable(row[1:], who, slugs)]

    def hidden_versions(self, who: Principal) -> list[tuple[int]]:
        """Return the rows of what memories were, where a principal could not read it."""
        roles = self._roles(who)
        hidden = []
        for row, kept in self.memory.paks.conn.execute(
            "SELECT rowid, fields FROM memory_versions WHERE fields IS NOT NULL"
        ):
            was = json.loads(kept)
            at = [was["place"][name] for name in ("tenant", "owner", "scope", "team", "garden")]
            # How long it held is no matter here: what it was is asked for when it is no more.
            one = (*at, was["status"], None, None, was["content"])
            if not self._is_readable(one, who, roles):
                hidden.append((row,))
        return hidden

    def compare(self, who: Principal, ids: Sequence[str] | None = None) -> None:
        """Ask everything here, and of the twin without what is hidden: no byte may differ."""
        ids = [*(self.ids() if ids is None else ids), "nobody"]
        with self.twin(who) as twin:
            self.memory._open_store.cached_frames.clear()
            here, there = self.of(who), twin.as_principal(who)
            for (label, one), (_, other) in zip(
                answers(here, ids), answers(there, ids), strict=True
            ):
                assert one == other, f"{label}\nwith:    {one}\nwithout: {other}"

    @contextmanager
    def twin(self, who: Principal) -> Iterator[Recollect]:
        """Open a copy from which everything is deleted that a principal may not read."""
        path = self.path.with_name("twin.db")
        with closing(sqlite3.connect(path)) as copy:
            self.memory.paks.conn.backup(copy)
            copy.execute("PRAGMA foreign_keys = ON")
            hidden = [(pak_id,) for pak_id in self.hidden_from(who)]
            copy.executemany("DELETE FROM paks WHERE pak_id = ?", hidden)
            copy.executemany(
                "DELETE FROM memory_versions WHERE rowid = ?", self.hidden_versions(who)
            )
            copy.execute("DELETE FROM gardens WHERE tenant != ?", (who.tenant,))
            if "admin" not in who.permissions:
                copy.execute(
                    "DELETE FROM gardens WHERE slug NOT IN"
                    " (SELECT slug FROM garden_members WHERE tenant = ? AND principal = ?)",
                    (who.tenant, who.id),
                )
            for table in ("memory_frames", "source_trust", "audit_log"):
                copy.execute(f"DELETE FROM {table} WHERE tenant != ?", (who.tenant,))
            # Of others an admin is told within its tenant, and anybody else nothing.
            copy.execute("DELETE FROM receipts WHERE tenant != ?", (who.tenant,))
            if "admin" not in who.permissions:
                copy.execute("DELETE FROM receipts WHERE principal != ?", (who.id,))
            copy.commit()
        twin = self._opened(path)
        try:
            yield twin
        finally:
            twin.close()
            for file in path.parent.glob("twin.db*"):
                file.unlink()

    def _opened(self, path: Path) -> Recollect:
        return Recollect.open(
            path, embedder=self.embedder, clock=self.clock, cache_file=False, **self.options
        )

    def _roles(self, who: Principal) -> dict[str, str]:
        return {
            slug: role
            for tenant, slug, principal, role in self.memory.paks.conn.execute(
                "SELECT tenant, slug, principal, role FROM garden_members"
            )
            if (tenant, principal) == (who.tenant, who.id)
        }

    def _rows(self, columns: str) -> list[tuple[Any, ...]]:
        return self.memory.paks.conn.execute(
            f"SELECT {columns} FROM memories ORDER BY pak_id"
        ).fetchall()

    def _is_readable(self, row: tuple[Any, ...], who: Principal, roles: dict[str, str]) -> bool:
        tenant, owner, scope, team, garden, status, valid_from, valid_until, content = row
        if "read" not in who.permissions or status == "rejected":
            return False
        if scope != "public" and tenant != who.tenant:
            return False
        if (scope == "local" and owner != who.id) or (scope == "team" and team not in who.teams):
            return False
        if garden is not None and (tenant != who.tenant or garden not in roles):
            return False
        if valid_from is not None and _seconds(valid_from) > self.clock.now():
            return False
        if valid_until is not None and _seconds(valid_until) <= self.clock.now():
            return False
        if status == "quarantined":
            is_moderator = roles.get(garden) == "moderator" and "write" in who.permissions
            return tenant == who.tenant and ("moderate" in who.permissions or is_moderator)
        return not ("ignore all previous" in content and self.options["sanitizer"] == "block")


@contextmanager
def world(**options: Any) -> Iterator[World]:
    """Make a world in a folder of its own."""
    with TemporaryDirectory() as folder:
        made = World(Path(folder), **options)
        try:
            yield made
        finally:
            made.close()


def places(who: Principal) -> list[dict[str, Any]]:
    """Return all the places that somebody might try to write to."""
    teams = [{"scope": "team", "team": team} for team in who.teams]
    gardens = [{"garden": slug} for slug in GARDENS[:3]]
    return [{}, {"scope": "company"}, {"scope": "public"}, *teams, *gardens]


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
