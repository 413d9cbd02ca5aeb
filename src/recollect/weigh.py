"""About how many bytes of memory objects take: arrays to the byte, many things of a kind by a few.

In: an object. Out: a number. What classes and modules share is nobody's and is not counted, and of
two ways to one object the first counts. It looks at no more than some hundred objects, whatever the
size of what they hold.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

__all__ = ["weigh"]

_FREE = (type, ModuleType, FunctionType, BuiltinFunctionType, type(None), bool)
_PLAIN = (str, bytes, bytearray, int, float, complex, memoryview)
_GROUPS = (list, tuple, set, frozenset, deque)
# So many of a kind stand for all.
_SAMPLE = 32


def weigh(*things: object) -> int:
    """Return about how many bytes some things take, with all that only they lead to."""
    return round(_weigh_all(things, set()))


def _weigh_all(things: Iterable[object], seen: set[int]) -> float:
    return sum(_weigh(one, seen) for one in things)


def _weigh(thing: Any, seen: set[int]) -> float:
    if isinstance(thing, _FREE) or id(thing) in seen:
        return 0
    seen.add(id(thing))
    size = float(sys.getsizeof(thing))
    if isinstance(thing, _PLAIN):
        return size
    if hasattr(thing, "nbytes"):
        # What an array is a part of is held whole.
        return (
            size + _weigh(thing.base, seen) if thing.base is not None else max(size, thing.nbytes)
        )
    if isinstance(thing, MethodType):
        return size + _weigh(thing.__self__, seen)
    if isinstance(thing, Mapping) and isinstance(thing, dict):
        size += _sampled(thing.keys(), seen) + _sampled(thing.values(), seen)
    elif isinstance(thing, _GROUPS):
        size += _sampled(thing, seen)
    return size + _weigh_all(_attributes(thing), seen)


def _sampled(things: Collection[object], seen: set[int]) -> float:
    if not things:
        return 0
    try:
        some = list(islice(things, _SAMPLE))
    except RuntimeError:  # another thread is adding to it
        return 0
    return _weigh_all(some, seen) * len(things) / max(1, len(some))


def _attributes(thing: object) -> Iterator[object]:
    held = getattr(thing, "__dict__", None)
    if held:
        # Each of them: attributes are not of a kind. Their names belong to the class.
        yield from [*held.values()]
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__weakref__", "__dict__"):
                yield getattr(thing, name, None)
