"""All files that belong to one database: itself, its log, the index's cache, drafts, old copies.

In: the path that it was opened by. Out: the files that are there, under every name that leads to
it. Whoever forgets something has to look at each of them. Nothing is read or changed here.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from recollect.values import dataclass

__all__ = [
    "ASIDE",
    "CACHE",
    "COPY",
    "REPLACED",
    "FileKind",
    "StoreFile",
    "cache_of",
    "drafts_of",
    "files_of",
    "names_of",
]

FileKind = Literal["database", "log", "map", "journal", "draft", "cache", "copy", "aside"]

CACHE = ".index"
COPY = ".before-v"
# A damaged file that a salvage put aside.
ASIDE = ".damaged"

# What a restored backup was written over.
REPLACED = ".replaced"

# What SQLite keeps beside a database, under the name that links lead to.
_BESIDE: dict[FileKind, str] = {"log": "-wal", "map": "-shm", "journal": "-journal"}


@dataclass(frozen=True, slots=True)
class StoreFile:
    """One file, and what it is to its database."""

    path: Path
    kind: FileKind


def names_of(path: Path) -> tuple[Path, ...]:
    """Return where a database is, then other names that lead there: links that it was opened by,
    and links beside it and them. A release that did not follow links kept its files beside those.
    """
    real = path.resolve()
    on_the_way = list(_followed(path.absolute()))
    folders = dict.fromkeys((real.parent, *(name.parent for name in on_the_way)))
    beside = [link for folder in folders for link in _links_to(real, folder)]
    return tuple(dict.fromkeys((real, *on_the_way, *beside)))


def files_of(path: Path) -> tuple[StoreFile, ...]:
    """Return the files of a database that are there.

    Drafts come before caches: a draft becomes a cache and not the other way round, so that whoever
    removes them in this order misses none.
    """
    real, *others = names_of(path)
    found: list[StoreFile] = [StoreFile(real, "database")]
    found += [StoreFile(real.with_name(real.name + end), kind) for kind, end in _BESIDE.items()]
    for name in (real, *others):
        found += [StoreFile(draft, "draft") for draft in drafts_of(cache_of(name))]
    for name in (real, *others):
        found.append(StoreFile(cache_of(name), "cache"))
        found += [StoreFile(copy, "copy") for copy in _beginning(name, COPY)]
        for suffix in (ASIDE, REPLACED):
            found += [StoreFile(aside, "aside") for aside in _beginning(name, suffix)]
    return tuple(one for one in dict.fromkeys(found) if os.path.lexists(one.path))


def cache_of(name: Path) -> Path:
    """Return where the index of a database is kept."""
    return name.with_name(name.name + CACHE)


def drafts_of(cache: Path) -> Iterator[Path]:
    """Yield the drafts of a cache file, whoever left them or is writing one."""
    return cache.parent.glob(f"{glob.escape(cache.name)}.*.tmp")


def _beginning(name: Path, suffix: str) -> Iterator[Path]:
    return name.parent.glob(f"{glob.escape(name.name + suffix)}*")


def _followed(name: Path) -> Iterator[Path]:
    """Yield a name and those that it leads to, link by link; `resolve` was content with them."""
    while name.is_symlink():
        yield name
        name = name.parent / name.readlink()


def _links_to(real: Path, folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        links = sorted(entry.path for entry in entries if entry.is_symlink())
    return (Path(link) for link in links if os.path.realpath(link) == str(real))
