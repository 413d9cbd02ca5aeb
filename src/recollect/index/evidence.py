"""Search all that a store keeps on disk for words: every byte of its files, and every stored text.

In: where a database is, and words. Out: for each file which of the words it holds, by their
numbers: what was to be forgotten is not said again. Bytes alone are not enough: SQLite cuts a long
text into pages, and full text keeps of a word what its neighbour has not; so each text and each
word of full text is also looked at as SQLite puts it together, and in the cache the stems that an
index keeps. Nothing is changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from recollect.errors import InvalidInput, StoreUnavailable
from recollect.index.analyse import terms, words
from recollect.index.german import german_stem
from recollect.normalise import normalise
from recollect.paks.database import connect_read_only
from recollect.paks.footprint import files_of
from recollect.values import dataclass

__all__ = ["Searched", "search"]

_AT_ONCE = 1 << 20
_OF_THE_INDEX = ("cache", "draft")
_LEAST_STEM = 6
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    " ORDER BY name"
)
_FULL_TEXT = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'"


@dataclass(frozen=True, slots=True)
class Searched:
    """One file, how many bytes were read of it, and the numbers of the words that it holds."""

    name: str
    size: int
    found: tuple[int, ...]


def search(path: Path, words: Iterable[str]) -> tuple[Searched, ...]:
    """Return what of these words the files of a database hold; words are numbered from 1."""
    given = tuple(words)
    forms = [_forms(word) for word in given]
    if not any(forms):
        raise InvalidInput("there is no word to search for.", hint="write one on each line.")
    stems = [(*one, *_stems(word)) for one, word in zip(forms, given, strict=True)]
    files = tuple(
        _in_file(one.path, stems if one.kind in _OF_THE_INDEX else forms)
        for one in files_of(path)
        if one.path.is_file()
    )
    stored = _found(_stored(path), forms)
    first, *rest = files
    both = tuple(sorted({*first.found, *stored}))
    return (Searched(first.name, first.size, both), *rest)


def _forms(word: str) -> tuple[bytes, ...]:
    """Return the bytes that a word can be: composed or not, folded, escaped as in JSON."""
    bare = word.strip()
    if not bare:
        return ()
    if "\\ud" in ascii(bare) and any("\ud800" <= one <= "\udfff" for one in bare):
        raise InvalidInput("a word is no text.", hint="write the words in UTF-8.")
    spelt = {normalise(form, bare) for form in ("NFC", "NFD", "NFKC", "NFKD")} | {bare}
    spelt |= {one.casefold() for one in spelt}
    escaped = {json.dumps(one)[1:-1] for one in spelt}
    octets = {one.encode().lower() for one in spelt | escaped}
    return tuple(sorted(octets | {one.encode("utf-16-le").lower() for one in spelt}))


def _stems(word: str) -> Iterator[bytes]:
    """Yield what the index keeps of a word; what is short stands in too many others."""
    for stem in (*terms(word), *filter(None, map(german_stem, words(word)))):
        if len(stem) >= _LEAST_STEM:
            yield stem.encode().lower()


def _in_file(path: Path, forms: Sequence[tuple[bytes, ...]]) -> Searched:
    longest = max(len(form) for one in forms for form in one)
    size, found, kept = 0, set[int](), b""
    try:
        with path.open("rb") as file:
            while part := file.read(_AT_ONCE):
                size += len(part)
                found |= _found([kept + part], forms)
                kept = (kept + part)[-longest:]
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be read: {error.strerror or error}.", hint="check its rights."
        ) from error
    return Searched(path.name, size, tuple(sorted(found)))


def _found(parts: Iterable[bytes], forms: Sequence[tuple[bytes, ...]]) -> set[int]:
    found: set[int] = set()
    for part in parts:
        folded = part.lower()
        found |= {n for n, one in enumerate(forms, 1) if any(form in folded for form in one)}
    return found


def _stored(path: Path) -> Iterator[bytes]:
    """Yield every text and every blob of a database, and every word of its full text."""
    with closing(connect_read_only(path)) as conn:
        conn.text_factory = bytes
        for (table,) in conn.execute(_TABLES).fetchall():
            yield from _values(conn.execute(f'SELECT * FROM "{_quoted(table)}"'))
        for number, (table,) in enumerate(conn.execute(_FULL_TEXT).fetchall()):
            name = _quoted(table)
            conn.execute(
                f"CREATE VIRTUAL TABLE temp.words_{number} USING fts5vocab(main, \"{name}\", 'row')"
            )
            yield from _values(conn.execute(f"SELECT term FROM temp.words_{number}"))


def _quoted(name: bytes) -> str:
    return name.decode().replace('"', '""')


def _values(rows: sqlite3.Cursor) -> Iterator[bytes]:
    for row in rows:
        # A sign between them that no word holds: two values are not one text.
        yield b"\x00\xff\x00".join(value for value in row if isinstance(value, bytes))
