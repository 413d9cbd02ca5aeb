"""The in-memory columnar index: what recall needs of every live memory, for whole-array passes.

A store's changes come in; selections, scores, neighbours and ids go out. The store is the
truth and the index a cache of it: it reads no database, no clock and no settings.
"""

from __future__ import annotations

from recollect.index.analyse import stem_words, terms
from recollect.index.cache_file import load, save
from recollect.index.index import MemoryIndex
from recollect.index.lexical import Lexical, length_weight, rarity
from recollect.index.selection import MaskSource, Selection, Where
from recollect.index.vectors import Nearest

__all__ = [
    "Lexical",
    "MaskSource",
    "MemoryIndex",
    "Nearest",
    "Selection",
    "Where",
    "length_weight",
    "load",
    "rarity",
    "save",
    "stem_words",
    "terms",
]
