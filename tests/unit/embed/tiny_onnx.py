"""A model of a few bytes in ONNX's own form, and a tokeniser for it: each word has a vector."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

FLOAT, INT64 = 1, 7
WORDS = {"[UNK]": (0.0, 0.0, 0.5), "red": (1.0, 0.0, 0.0), "green": (0.0, 2.0, 0.0)}


def write_model(
    folder: Path,
    words: Mapping[str, Sequence[float]] = WORDS,
    *,
    inputs: Sequence[str] = ("input_ids",),
) -> Path:
    """Write `model.onnx`, which looks tokens up in a table, and `tokenizer.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(words.values())
    table = _tensor("table", (len(rows), len(rows[0])), [number for row in rows for number in row])
    node = _text(1, "table") + _text(1, inputs[0]) + _text(2, "last_hidden_state")
    node += _text(4, "Gather")
    graph = _part(1, node) + _text(2, "tiny") + _part(5, table)
    graph += b"".join(_part(11, _value(name, INT64, ("batch", "token"))) for name in inputs)
    graph += _part(12, _value("last_hidden_state", FLOAT, ("batch", "token", "number")))
    opset = _number(2, 13)
    (folder / "model.onnx").write_bytes(_number(1, 8) + _part(7, graph) + _part(8, opset))
    tokeniser = Tokenizer(WordLevel({word: at for at, word in enumerate(words)}, "[UNK]"))
    tokeniser.pre_tokenizer = Whitespace()
    tokeniser.save(str(folder / "tokenizer.json"))
    return folder


def _value(name: str, kind: int, axes: Sequence[str]) -> bytes:
    shape = b"".join(_part(1, _text(2, axis)) for axis in axes)
    tensor = _number(1, kind) + _part(2, shape)
    return _text(1, name) + _part(2, _part(1, tensor))


def _tensor(name: str, shape: Sequence[int], numbers: Sequence[float]) -> bytes:
    sizes = b"".join(_number(1, size) for size in shape)
    raw = struct.pack(f"<{len(numbers)}f", *numbers)
    return sizes + _number(2, FLOAT) + _text(8, name) + _part(9, raw)


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode())


def _part(field: int, content: bytes) -> bytes:
    return _whole(field << 3 | 2) + _whole(len(content)) + content


def _number(field: int, number: int) -> bytes:
    return _whole(field << 3) + _whole(number)


def _whole(number: int) -> bytes:
    octets = bytearray()
    while number > 127:
        octets.append(number & 127 | 128)
        number >>= 7
    return bytes([*octets, number])
