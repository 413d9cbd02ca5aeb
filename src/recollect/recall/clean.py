"""What is shown of memories beside their recall, without characters that nobody sees.

In: a selection, an explanation or an inspection. Out: the same, with words that somebody wrote made
plain, as a recall gives them. Ids and hashes stay as they are: by them things are found again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.model import WRITTEN, words_of
from recollect.model.pak import PakAnchorEntry, PakRelationEntry, PakRow
from recollect.model.plain import with_texts
from recollect.policy.sanitizer import plain

if TYPE_CHECKING:
    from recollect.model import Explanation, Memory
    from recollect.recall.inspect import Inspection
    from recollect.recall.select import SelectResult

__all__ = ["clean_explanation", "clean_inspection", "clean_memory", "clean_row", "clean_selection"]

Entry = TypeVar("Entry", PakRow, PakAnchorEntry, PakRelationEntry)

_EXACT = ("pak_id", "content_hash", "superseded_by", "anchor_id", "related_pak_id")


def clean_memory(memory: Memory) -> Memory:
    """Return a memory without what the eye cannot see; the same one if there was nothing."""
    # ASCII is plain, and so is a title of it that was cut: few texts need a look.
    doubtful = [text for text in words_of(memory) if not text.removesuffix("…").isascii()]
    if all(plain(text) is text for text in doubtful):
        return memory
    written = {name: text for name in WRITTEN if (text := getattr(memory, name))}
    clean: dict[str, Any] = {name: plain(text) for name, text in written.items()}
    metadata = with_texts(memory.metadata, plain)
    return replace(memory, **clean, tags=tuple(map(plain, memory.tags)), metadata=metadata)


def clean_selection(result: SelectResult) -> SelectResult:
    """Return a selection whose titles and reasons are plain."""
    if all(plain(text) is text for one in result.scores for text in (one.title, *one.why)):
        return result
    return replace(
        result,
        scores=tuple(
            replace(one, title=plain(one.title), why=tuple(map(plain, one.why)))
            for one in result.scores
        ),
    )


def clean_explanation(found: Explanation) -> Explanation:
    """Return an explanation whose sentences are plain."""
    return replace(found, reason=plain(found.reason), why=tuple(map(plain, found.why)))


def clean_inspection(found: Inspection) -> Inspection:
    """Return all about one memory, with every word that somebody wrote made plain."""
    return replace(
        found,
        pak=_clean_entry(found.pak),
        memory=None if found.memory is None else clean_memory(found.memory),
        anchors=tuple(map(_clean_entry, found.anchors)),
        relations=tuple(map(_clean_entry, found.relations)),
        disputes=tuple(replace(one, note=plain(one.note)) for one in found.disputes),
    )


def clean_row(pak: PakRow) -> PakRow:
    """Return a row of the catalogue whose words are plain."""
    return _clean_entry(pak)


def _clean_entry(entry: Entry) -> Entry:
    fields = entry._asdict().items()
    return entry._replace(
        **{name: plain(v) for name, v in fields if isinstance(v, str) and name not in _EXACT}
    )
