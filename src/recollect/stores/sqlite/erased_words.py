"""Which words were deleted from full text since somebody last looked what is left of them.

In: ids of memories whose text is about to go, inside a commit. Out: their words, for whoever wipes.
Triggers note each deletion, whoever deletes; only a process whose own deletions are all that was
noted knows their words. Anybody else is told to look at everything (ADR-0105).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from recollect.paks.fulltext_beginnings import words_of
from recollect.paks.fulltext_wiping import MOST_ERASED, can_erase
from recollect.stores.sqlite.session import marks

if TYPE_CHECKING:
    from recollect.stores.sqlite.session import Session

__all__ = ["LOOKS", "ErasedWords"]

Texts = tuple[Any, ...]

# What the note says: nothing was deleted; or somebody deleted; or the commit that alone did.
_NOTHING, _SOMEBODY = "", "?"
_NAMES = ("unlooked_paks_fts_content_delete", "unlooked_paks_fts_content_update")
_TRIGGER = """
CREATE TRIGGER {name} AFTER {event} ON paks_fts_content
WHEN (SELECT unlooked FROM engine_state) IS NOT '?'
BEGIN
    UPDATE engine_state SET unlooked = '?';
END"""
# Each row of full text has its texts in this table, and goes from there, by whichever statement.
LOOKS = (
    "ALTER TABLE engine_state ADD COLUMN unlooked TEXT NOT NULL DEFAULT '?'",
    *(
        _TRIGGER.format(name=name, event=event)
        for name, event in zip(_NAMES, ("DELETE", "UPDATE"), strict=True)
    ),
)
_IS_NOTED = f"SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name IN {_NAMES}"
_NOTE = "UPDATE engine_state SET unlooked = ? WHERE unlooked = ?"
# As bytes, so that a text which is none any more is taken as it is.
_TEXTS = "SELECT CAST(c1 AS BLOB), CAST(c2 AS BLOB) FROM paks_fts_content WHERE c0 IN ({ids})"


class ErasedWords:
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

    def words(self) -> list[bytes] | None:
        """Return what was deleted since somebody looked; None if that is not known."""
        if not can_erase():
            return None
        if self._db.one(_IS_NOTED)[0] != len(_NAMES):
            return None
        known = self._known()
        return None if known is None else words_of(chain.from_iterable(known))

    def looked(self) -> None:
        """Know that nothing is left of what was deleted so far."""
        self._commit, self._deleted = _NOTHING, []
        if can_erase():
            self._db.run("UPDATE engine_state SET unlooked = ?", _NOTHING)

    def _known_with(self, pak_ids: Sequence[str]) -> list[Texts] | None:
        """Return all that was deleted and these; None if that is not known, or too much."""
        if not can_erase() or len(pak_ids) > MOST_ERASED:
            return None
        found = self._db.all(_TEXTS.format(ids=marks(pak_ids)), *pak_ids)
        known = self._known() if found else None
        if known is None or len(known) + len(found) > MOST_ERASED:
            return None
        return known + found

    def _known(self) -> list[Texts] | None:
        """Return all that was deleted; None if somebody else deleted, or an earlier process."""
        noted = self._db.one("SELECT unlooked FROM engine_state")[0]
        if noted == _NOTHING:
            return []
        return list(self._deleted) if noted == self._commit else None
