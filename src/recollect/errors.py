"""The one error tree. Every error has a stable `code` and a `hint` that says what to do next.

    RecollectError
    ├── StoreError                  something about the database file
    │   ├── StoreUnavailable        (OSError)          cannot be opened or reached
    │   │   └── StoreOutdated                          must be migrated before it is read
    │   ├── StoreReadOnly           (PermissionError)  opened, but may not be written
    │   ├── StoreFull               (OSError)          no room left; the write was rolled back
    │   ├── StoreBusy               (TimeoutError)     another process kept the write lock
    │   ├── StoreClosed             (ValueError)       used after it was closed
    │   ├── StoreDamaged            (ValueError)       not a database, or a damaged one
    │   └── StoreTooNew             (RuntimeError)     written by a newer release
    ├── NotAllowed                  (PermissionError)  the principal may not do this
    ├── UnknownPak                  (LookupError)      a call names a Pak that does not exist
    └── InvalidInput                (ValueError)       an argument is not what the call takes
        ├── UnknownGarden           (LookupError)      no such garden, or not for this principal
        └── PakIdTaken                                 the id chosen for a Pak is in use

`RecallStore` raises an `UnknownPak` that is a `sqlite3.IntegrityError` too, as its callers expect;
that one is made where the driver is, in `recollect.paks.database`.
"""

from __future__ import annotations

__all__ = [
    "InvalidInput",
    "NotAllowed",
    "PakIdTaken",
    "RecollectError",
    "StoreBusy",
    "StoreClosed",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreOutdated",
    "StoreReadOnly",
    "StoreTooNew",
    "StoreUnavailable",
    "UnknownGarden",
    "UnknownPak",
]


class RecollectError(Exception):
    """Root of everything Recollect raises on purpose."""

    code = "recollect_error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} Hint: {self.hint}" if self.hint else self.message


class StoreError(RecollectError):
    """Something is wrong with the database file, not with the call."""

    code = "store_error"


class StoreUnavailable(StoreError, OSError):
    """The database file cannot be opened or reached."""

    code = "store_unavailable"


class StoreOutdated(StoreUnavailable):
    """The database has an older schema and was opened for reading only."""

    code = "store_outdated"


class StoreReadOnly(StoreError, PermissionError):
    """The database can be read but not written."""

    code = "store_read_only"


class StoreFull(StoreError, OSError):
    """There is no room for the write; it was rolled back."""

    code = "store_full"


class StoreBusy(StoreError, TimeoutError):
    """Another process held the write lock for longer than the busy timeout."""

    code = "store_busy"


class StoreClosed(StoreError, ValueError):
    """The memory was closed and cannot be used any more."""

    code = "store_closed"


class StoreDamaged(StoreError, ValueError):
    """The file is not a database, or is a damaged one."""

    code = "store_damaged"


class StoreTooNew(StoreError, RuntimeError):
    """The database was written by a newer release than this one."""

    code = "store_too_new"


class InvalidInput(RecollectError, ValueError):
    """An argument is not what the call takes; nothing was read or written."""

    code = "invalid_input"


class NotAllowed(RecollectError, PermissionError):
    """The principal may not do this; nothing was read or written."""

    code = "not_allowed"


class UnknownPak(RecollectError, LookupError):
    """The call names a Pak that does not exist; nothing was written."""

    code = "unknown_pak"


class UnknownGarden(InvalidInput, LookupError):
    """There is no such garden for this principal: whether it exists elsewhere is not said."""

    code = "unknown_garden"


class PakIdTaken(InvalidInput):
    """The id that was chosen for a Pak cannot be had."""

    code = "pak_id_taken"
