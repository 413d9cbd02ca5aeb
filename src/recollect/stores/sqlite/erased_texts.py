"""Which texts were deleted from full text since somebody last looked what is left of them.

In: ids of memories whose text is about to go, inside a commit. Out: the texts, for whoever wipes.
Triggers note each deletion, whoever deletes; only a process whose own deletions are all that was
noted knows the texts. Anybody else is told to look at everything (ADR-0105).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recollect.stores.sqlite.session import marks
from recollect.stores.sqlite.triggers import NOTING

if TYPE_CHECKING:
    from recollect.stores.sqlite.session import Session

__all__ = ["ErasedTexts"]

Texts = tuple[Any, ...]

# Of so many, texts are held; more at once are merged away, or looked for in everything.
_MOST = 64

# What the note says: nothing was deleted; or somebody deleted; or the commit that alone did.
_NOTHING, _SOMEBODY = "", "?"
_IS_NOTED = f"SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name IN {NOTING}"
_NOTE = "UPDATE engine_state SET unlooked = ? WHERE unlooked = ?"
# As bytes, so that a text which is none any more is taken as it is.
_TEXTS = "SELECT CAST(c1 AS BLOB), CAST(c2 AS BLOB) FROM paks_fts_content WHERE c0 IN ({ids})"


class ErasedTexts:
    """The texts that this process deleted, for as long as nobody else deletes."""

    def __init__(self, db: Session) -> None:
        self._db = db
        self._commit = _NOTHING
        self._deleted: list[Texts] = []

    @contextmanager
    def noting(self, pak_ids: Sequence[str]) -> Iterator[None]:
        """Know the texts of these if the body deletes them; it deletes no others."""
        known = self._known_with(pak_ids)
        yield
        if known is None:
            return
        # A name that no other commit has: of one that is rolled back, nothing is noted.
        head = self._db.head()
        commit = f"{head.revision} {head.commit_id}"
        if self._db.run(_NOTE, commit, _SOMEBODY).rowcount:
            self._commit, self._deleted = commit, known

    def texts(self) -> list[bytes] | None:
        """Return what was deleted since somebody looked; None if that is not known."""
        known = self._known() if self._db.one(_IS_NOTED)[0] == len(NOTING) else None
        return None if known is None else [text for row in known for text in row if text]

    def looked(self) -> None:
        """Know that nothing is left of what was deleted so far."""
        self._commit, self._deleted = _NOTHING, []
        self._db.run("UPDATE engine_state SET unlooked = ?", _NOTHING)

    def _known_with(self, pak_ids: Sequence[str]) -> list[Texts] | None:
        """Return all that was deleted and these; None if that is not known, or too much."""
        if not 0 < len(pak_ids) <= _MOST:
            return None
        found = self._db.all(_TEXTS.format(ids=marks(pak_ids)), *pak_ids)
        known = self._known() if found and _can_erase() else None
        return None if known is None or len(known) + len(found) > _MOST else known + found

    def _known(self) -> list[Texts] | None:
        """Return all that was deleted; None if somebody else deleted, or an earlier process."""
        noted = self._db.one("SELECT unlooked FROM engine_state")[0]
        if noted == _NOTHING:
            return []
        return list(self._deleted) if noted == self._commit else None


def _can_erase() -> bool:
    # Loaded when something is replaced or erased: most calls only add.
    from recollect.paks.fulltext_wiping import can_erase

    return can_erase()
