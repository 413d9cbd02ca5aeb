"""Packages whose names are loaded when they are first used: a process pays for what it needs.

In: a package, and which of its modules holds which names. Out: the package's `__getattr__`, which
Python calls for a name that is not there yet. What type checkers read stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["modules_of", "names_of"]


def names_of(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` that finds a name in its home; `homes` gives the names of each."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(home_of[name], package), name)
        # The next use finds it in the package itself.
        setattr(import_module(package), name, found)
        return found

    return load


def modules_of(package: str, *modules: str) -> Callable[[str], Any]:
    """Return a `__getattr__` that loads these modules of a package."""

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return load
