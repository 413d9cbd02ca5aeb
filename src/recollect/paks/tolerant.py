"""Reading rows of which some hold a text that is no UTF-8 any more.

In: a connection and a query. Out: its rows; such a text comes as the bytes that it is. The driver
refuses all rows for the sake of one, so those that it refuses are read a second time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["fetch_all", "is_unreadable", "shown", "text_or_bytes"]


def fetch_all(
    conn: sqlite3.Connection,
    sql: str,
    values: Sequence[Any] = (),
    *,
    otherwise: Callable[[bytes], object] | None = None,
) -> list[tuple[Any, ...]]:
    """Return all rows of a query; `otherwise` makes something else than bytes of such a text."""
    try:
        return conn.execute(sql, values).fetchall()
    except sqlite3.OperationalError as error:
        if not is_unreadable(error):
            raise
    strict = conn.text_factory
    conn.text_factory = otherwise or text_or_bytes
    try:
        return conn.execute(sql, values).fetchall()
    finally:
        conn.text_factory = strict


def is_unreadable(error: sqlite3.Error) -> bool:
    """Return whether the driver complains of a text; the error is its own and has no code."""
    return "Could not decode to UTF-8" in str(error)


def shown(value: object) -> str:
    """Return what is left of a text, with a sign in the place of what cannot be read."""
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def text_or_bytes(data: bytes) -> str | bytes:
    """Return a text, or what is there in the place of one."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
