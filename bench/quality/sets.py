"""The labelled sets that are on this machine: the repository's own, and a folder of others.

In: a folder. Out: tasks under their names. What holds `corpus.jsonl` is in BEIR's layout, what
holds conversations as `*.json` in LoCoMo's. A set that a bar names and that is not here is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from recollect.evaluation import Task, load_jsonl, load_locomo

__all__ = ["CONVERSATIONS", "KNOWN", "SETS", "Found", "found_sets"]

ROOT = Path(__file__).parents[2]
OWN = (ROOT / "tests" / "data" / "notes", ROOT / "tests" / "data" / "pages")
SETS = Path(os.environ.get("RECOLLECT_SETS", ROOT.parent / "shared" / "data"))
CONVERSATIONS = ("locomo-dev", "beam-dev")
# Those that bars are stated on; whatever else is in the folder is measured too.
KNOWN = (
    *CONVERSATIONS,
    "notes",
    "pages",
    "techfaq",
    "techfaq-typos",
    "notes-typos",
    "precision",
    "xquad-th",
    "xquad-ru",
    "debfaq-de",
    "debfaq-ja",
)


class Found(NamedTuple):
    """What was looked for: the tasks that are here, and the names of those that are not."""

    tasks: tuple[Task, ...]
    absent: tuple[str, ...]


def found_sets(folder: Path = SETS, only: Sequence[str] = ()) -> Found:
    """Return the sets of the repository and of a folder, in the order of `KNOWN`."""
    places = {path.name: path for path in (*OWN, *_places(folder))}
    strangers = sorted(name for name in places if name not in KNOWN)
    wanted = [name for name in (*KNOWN, *strangers) if not only or name in only]
    wanted += [name for name in only if name not in wanted]
    here = [name for name in wanted if name in places]
    absent = tuple(name for name in wanted if name not in places)
    return Found(tuple(_load(places[name]) for name in here), absent)


def _places(folder: Path) -> Iterator[Path]:
    """Yield the folders that hold a set, two levels deep."""
    for path in sorted((*folder.glob("*/"), *folder.glob("*/*/"))):
        if (path / "qrels.tsv").is_file() or any(path.glob("*.json")):
            yield path


def _load(path: Path) -> Task:
    if not (path / "qrels.tsv").is_file():
        return load_locomo(path)
    return load_jsonl(path / "corpus.jsonl", path / "queries.jsonl", path / "qrels.tsv")
