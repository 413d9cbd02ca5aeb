"""The two data files of the default embedder, found in the installed `wordllama` wheel.

The wheel is a carrier only: its code is never imported, for it is slow to start and its loader
asks a model hub. The table is mapped, not read: opening takes a millisecond instead of thirty,
processes share the pages, and only rows in use are resident. Files come in; rows, tokenisers and
a fingerprint of both go out.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from recollect.embed.pieces import WordPieces
from recollect.errors import EmbedderMissing
from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

__all__ = ["StaticTable", "is_one_piece", "load_pieces", "load_table", "load_tokeniser"]

_TABLE = Path("weights", "l2_supercat_256.safetensors")
_TOKENISER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_TENSOR = "embedding.weight"
# Names how texts become vectors; a change of recipe must change the model's identity.
_RECIPE = b"strip, encode without specials, mean, unit: 1"
# A retrained table differs in every row, so some hundred rows tell it apart in 1 ms.
_FINGERPRINT_STRIDE = 97
# The files that `WordPieces` was held against the library with.
_KNOWN = "a255d3cd8e92"
# A damaged length must not make us read the whole file as a header.
_MOST_HEADER_BYTES = 2**20

_once = Lock()


@dataclass(frozen=True, slots=True, eq=False)
class StaticTable:
    """One float16 row for each token, and what tells this table from another."""

    rows: NDArray[np.float16]
    fingerprint: str


def load_table() -> StaticTable:
    """Return the table; it is opened once for the whole process."""
    with _once:
        return _open_table(_wheel_folder())


def load_tokeniser() -> Tokenizer:
    """Return the tokeniser; it is built once for the whole process (some 60 ms)."""
    with _once:
        return _open_tokeniser(_wheel_folder())


def load_pieces() -> WordPieces | None:
    """Return what splits single words at less cost; None for files of another release."""
    with _once:
        return _open_pieces(_wheel_folder())


def is_one_piece(word: str) -> bool:
    """Return whether the tokeniser knows a word whole; of files of another release, nobody does."""
    pieces = load_pieces()
    return pieces is not None and pieces.is_known(word)


@cache
def _wheel_folder() -> Path:
    # find_spec on a top-level name locates the package without running it.
    spec = find_spec("wordllama")
    for location in (spec and spec.submodule_search_locations) or ():
        folder = Path(location)
        if (folder / _TABLE).is_file() and (folder / _TOKENISER).is_file():
            return folder
    raise EmbedderMissing(
        f"The static embedder's data files ({_TABLE.name}, {_TOKENISER.name}) were not found.",
        hint="Install them with `pip install 'wordllama>=0.3.9,<0.5'`, or use embedder 'none'.",
    )


@cache
def _open_table(folder: Path) -> StaticTable:
    rows = _map_rows(folder / _TABLE)
    digest = hashlib.sha256(_RECIPE)
    # Releases of the wheel differ in the file's last line end, and in nothing else.
    digest.update((folder / _TOKENISER).read_bytes().strip())
    digest.update(rows[::_FINGERPRINT_STRIDE].tobytes())
    return StaticTable(rows, digest.hexdigest()[:12])


@cache
def _open_tokeniser(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokeniser = Tokenizer.from_file(str(folder / _TOKENISER))
    tokeniser.no_padding()
    tokeniser.no_truncation()
    # "<s>" typed by a user is three characters, not an order to the tokeniser.
    tokeniser.encode_special_tokens = True
    # The cache keys on whole texts here: 20 MB that hit nothing. Not every release can do without.
    resize = getattr(tokeniser.model, "_resize_cache", None)
    if resize is not None:
        resize(0)
    return tokeniser


@cache
def _open_pieces(folder: Path) -> WordPieces | None:
    if _open_table(folder).fingerprint != _KNOWN:
        return None
    return WordPieces((folder / _TOKENISER).read_bytes())


def _map_rows(path: Path) -> NDArray[np.float16]:
    """Map the tensor of a safetensors file: a length, a JSON header, then plain numbers."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            entry = json.loads(file.read(min(length, _MOST_HEADER_BYTES)))[_TENSOR]
        if entry["dtype"] != "F16":
            raise ValueError(f"dtype {entry['dtype']}")
        offset = 8 + length + entry["data_offsets"][0]
        mapped = np.memmap(path, dtype="<f2", mode="r", offset=offset, shape=tuple(entry["shape"]))
    except (KeyError, TypeError, ValueError) as error:
        raise EmbedderMissing(
            f"{path} is not the table this release reads ({error}).",
            hint="Reinstall it with `pip install --force-reinstall 'wordllama>=0.3.9,<0.5'`.",
        ) from error
    # A plain array over the map: memmap's own indexing is several times slower.
    return np.asarray(mapped)
