"""Reads what an embedder answered, and believes none of it before it is checked.

Bytes or arrays come in; one finite float32 row for each text goes out, or `EmbedderBadAnswer`.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import numpy as np

from recollect.errors import EmbedderBadAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["read_answer", "stack_vectors"]


def read_answer(body: bytes, count: int) -> NDArray[np.float32]:
    """Return the vectors of an OpenAI-style embeddings answer, in the order of their texts."""
    items = _items(body)
    if len(items) != count:
        raise _bad(f"{len(items)} vectors came back for {count} texts")
    placed: dict[int, NDArray[np.float64]] = {}
    for item in items:
        index, vector = _item(item)
        if index in placed or not 0 <= index < count:
            raise _bad(f"index {index} is repeated or out of range")
        placed[index] = vector
    return stack_vectors([placed[index] for index in range(count)])


def stack_vectors(vectors: Sequence[NDArray[np.floating]]) -> NDArray[np.float32]:
    """Return the vectors as one matrix, if they are equally long and finite."""
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1:
        raise _bad(f"vectors of {lengths[0]} and of {lengths[-1]} dimensions came back together")
    if lengths == [0]:
        raise _bad("a vector is empty")
    # A number beyond float32 becomes infinity here, and is then refused like any other.
    with np.errstate(over="ignore"):
        matrix = np.stack(vectors).astype(np.float32)
    if not np.isfinite(matrix).all():
        raise _bad("a vector holds NaN or infinity")
    return matrix


def _items(body: bytes) -> list[object]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _bad("the body is not JSON") from error
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list):
        raise _bad("the body has no list 'data'")
    return items


def _item(item: object) -> tuple[int, NDArray[np.float64]]:
    if not isinstance(item, dict) or type(item.get("index")) is not int:
        raise _bad("an item has no integer 'index'")
    return item["index"], _vector(item.get("embedding"))


def _vector(embedding: object) -> NDArray[np.float64]:
    if isinstance(embedding, str):
        return _from_base64(embedding)
    if not isinstance(embedding, list) or not all(type(n) in (int, float) for n in embedding):
        raise _bad("an 'embedding' is neither a list of numbers nor base64")
    try:
        return np.array(embedding, dtype=np.float64)
    except OverflowError as error:
        raise _bad("an 'embedding' holds a number beyond any float") from error


def _from_base64(text: str) -> NDArray[np.float64]:
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float64)
    except ValueError as error:
        raise _bad("an 'embedding' is not base64 of float32 numbers") from error


def _bad(what: str) -> EmbedderBadAnswer:
    return EmbedderBadAnswer(
        f"The embedder's answer is unusable: {what}.",
        hint="Check that the URL serves OpenAI-style embeddings and that the model is right.",
    )
