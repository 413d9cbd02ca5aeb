"""The same world of hooks as in the contract's tests."""

from __future__ import annotations

from tests.contract.hooks.conftest import world

__all__ = ["world"]
