"""The one error tree. Every error has a stable `code` and a `hint` that says what to do next.

    RecollectError
    ├── StoreError                  something about the database file
    │   ├── StoreUnavailable        (OSError)          cannot be opened or reached
    │   │   ├── StoreOutdated                          must be migrated before it is read
    │   │   └── UnsupportedPlatform                    not on this operating system
    │   ├── StoreReadOnly           (PermissionError)  opened, but may not be written
    │   ├── StoreFull               (OSError)          no room left; the write was rolled back
    │   ├── StoreBusy               (TimeoutError)     another process kept the write lock
    │   ├── StoreReplaced           (OSError)          the path leads to another file by now
    │   ├── StoreClosed             (ValueError)       used after it was closed
    │   ├── StoreDamaged            (ValueError)       not a database, or a damaged one
    │   │   └── NotACatalogue                          a database with other tables than ours
    │   └── StoreTooNew             (RuntimeError)     written by a newer release
    ├── NotAllowed                  (PermissionError)  the principal may not do this
    │   ├── KeyNeeded                                  a server was shown no key that is good
    │   ├── OverQuota                                  the tenant has as much as it may
    │   └── WrongHost                                  a server does not answer for that name
    ├── ServerError                 a server cannot answer now
    │   ├── ServerFault                                something went wrong that should not
    │   ├── ServerBusy              (TimeoutError)     more is asked at once than can be answered
    │   ├── ServerTooSlow           (TimeoutError)     it took longer than the server waits
    │   ├── ServerUnreachable       (ConnectionError)  nothing answers, or no Recollect
    │   ├── TooManyRequests         (TimeoutError)     a key asks more often than it may
    │   └── ClientMissing           (ImportError)      the package that asks it is not installed
    ├── UnknownPak                  (LookupError)      a call names a memory that does not exist
    ├── EmbedderError               no usable vector could be had
    │   ├── EmbedderMissing         (ImportError)      a package or its data are not installed
    │   ├── EmbedderUnavailable     (ConnectionError)  it does not answer, or refuses to
    │   ├── EmbedderBadAnswer       (ValueError)       what it answered is no vector
    │   └── EmbedderMismatch        (ValueError)       the store was filled by another model
    ├── HookError                   something about hooks
    │   ├── HookConfigError         (ValueError)       hooks.toml, or a registration, is wrong
    │   └── HookDenied              (PermissionError)  a hook refused the operation
    └── InvalidInput                (ValueError)       an argument is not what the call takes
        ├── BadBody                                    a request's body cannot be read at all
        ├── BodyTooLarge                               a request's body is larger than is taken
        ├── BodyTooSlow                                a request's body does not come in time
        ├── NoSuchRoute             (LookupError)      a server has nothing at this path
        ├── WrongMethod                                a path takes other methods
        ├── UnknownGarden           (LookupError)      no such garden, or not for this principal
        ├── UnknownFrame            (LookupError)      no frame has this name
        ├── UnknownKey              (LookupError)      no living key has this prefix
        ├── UnknownReceipt          (LookupError)      none is kept, or it is another's
        ├── FrameExists                                registered before
        ├── FrameImmutable                             built in: can be extended, not changed
        ├── UnknownTemplate                            no template has this name
        ├── UnknownStore            (LookupError)      a node has no store of this name
        ├── StoreExists                                a node has a store of this name already
        ├── PakIdTaken                                 the id chosen for a memory is in use
        └── RequestIdReused                            a request id stands for another request

`RecallStore` raises an `UnknownPak` that is a `sqlite3.IntegrityError` too, as its callers expect;
that one is made where the driver is, in `recollect.paks.database`.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "BadBody",
    "BodyTooLarge",
    "BodyTooSlow",
    "ClientMissing",
    "EmbedderBadAnswer",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderMissing",
    "EmbedderUnavailable",
    "FrameExists",
    "FrameImmutable",
    "HookConfigError",
    "HookDenied",
    "HookError",
    "InvalidInput",
    "KeyNeeded",
    "NoSuchRoute",
    "NotACatalogue",
    "NotAllowed",
    "OverQuota",
    "PakIdTaken",
    "RecollectError",
    "RequestIdReused",
    "ServerBusy",
    "ServerError",
    "ServerFault",
    "ServerTooSlow",
    "ServerUnreachable",
    "StoreBusy",
    "StoreClosed",
    "StoreDamaged",
    "StoreError",
    "StoreExists",
    "StoreFull",
    "StoreOutdated",
    "StoreReadOnly",
    "StoreReplaced",
    "StoreTooNew",
    "StoreUnavailable",
    "TooManyRequests",
    "UnknownFrame",
    "UnknownGarden",
    "UnknownKey",
    "UnknownPak",
    "UnknownReceipt",
    "UnknownStore",
    "UnknownTemplate",
    "UnsupportedPlatform",
    "WrongHost",
    "WrongMethod",
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


class UnsupportedPlatform(StoreUnavailable):
    """Recollect does not run on this operating system."""

    code = "unsupported_platform"


class StoreReadOnly(StoreError, PermissionError):
    """The database can be read but not written."""

    code = "store_read_only"


class StoreFull(StoreError, OSError):
    """There is no room for the write; it was rolled back."""

    code = "store_full"


class StoreBusy(StoreError, TimeoutError):
    """Another process held the write lock for longer than the busy timeout."""

    code = "store_busy"


class StoreReplaced(StoreError, OSError):
    """The file was deleted or replaced while it was open; nothing was read or written."""

    code = "store_replaced"


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


class KeyNeeded(NotAllowed):
    """No key was shown, or none that is good: which of the two is not said."""

    code = "key_needed"


class WrongHost(NotAllowed):
    """The request names a host, or comes from a page, that this server does not serve."""

    code = "wrong_host"


class OverQuota(NotAllowed):
    """The tenant has as much as it may; nothing was written."""

    code = "over_quota"


class ServerError(RecollectError):
    """A server cannot answer now; `retry_after_s` says when to ask again."""

    code = "server_error"

    def __init__(self, message: str, *, hint: str = "", retry_after_s: float = 1.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ServerFault(ServerError):
    """Something went wrong that nobody foresaw; the log of the server has it."""

    code = "server_fault"


class ServerBusy(ServerError, TimeoutError):
    """More is asked at once than can be answered; nothing was begun."""

    code = "server_busy"


class ServerTooSlow(ServerError, TimeoutError):
    """It took longer than the server waits; what was begun may still be done."""

    code = "server_too_slow"


class ServerUnreachable(ServerError, ConnectionError):
    """Nothing answers at the address of a server, or nothing that is one."""

    code = "server_unreachable"


class ClientMissing(ServerError, ImportError):
    """The package that asks a server is not installed."""

    code = "client_missing"


class TooManyRequests(ServerError, TimeoutError):
    """The key asks more often than it may; nothing was begun."""

    code = "too_many_requests"


class BadBody(InvalidInput):
    """The body of a request cannot be read at all."""

    code = "bad_body"


class BodyTooLarge(InvalidInput):
    """The body of a request is larger than the server takes."""

    code = "body_too_large"


class BodyTooSlow(InvalidInput):
    """The body of a request did not come in time; nothing was begun."""

    code = "body_too_slow"


class NoSuchRoute(InvalidInput, LookupError):
    """There is nothing at this path."""

    code = "no_such_route"


class WrongMethod(InvalidInput):
    """The path takes other methods."""

    code = "wrong_method"


class UnknownPak(RecollectError, LookupError):
    """The call names a memory that does not exist; nothing was written."""

    code = "unknown_pak"


class UnknownGarden(InvalidInput, LookupError):
    """There is no such garden for this principal: whether it exists elsewhere is not said."""

    code = "unknown_garden"


class UnknownStore(InvalidInput, LookupError):
    """A node has no store of this name."""

    code = "unknown_store"


class StoreExists(InvalidInput):
    """A node has a store of this name already; it was left as it is."""

    code = "store_exists"


class UnknownKey(InvalidInput, LookupError):
    """No living key has this prefix."""

    code = "unknown_key"


class UnknownReceipt(InvalidInput, LookupError):
    """No receipt of this answer is kept, or it is not this principal's to read."""

    code = "unknown_receipt"


class PakIdTaken(InvalidInput):
    """The id that was chosen for a memory cannot be had."""

    code = "pak_id_taken"


class RequestIdReused(InvalidInput):
    """A request id stands for another request, or for one whose memories were forgotten since."""

    code = "request_id_reused"


class NotACatalogue(StoreDamaged):
    """The file is a database, but its tables are not those of a catalogue."""

    code = "store_not_a_catalogue"


class EmbedderError(RecollectError):
    """No usable vector could be had; the text itself is not at fault."""

    code = "embedder_error"


class EmbedderMissing(EmbedderError, ImportError):
    """A package that the embedder needs, or a data file of it, is not installed."""

    code = "embedder_missing"


class EmbedderUnavailable(EmbedderError, ConnectionError):
    """The embedder does not answer, or refuses to."""

    code = "embedder_unavailable"


class EmbedderBadAnswer(EmbedderError, ValueError):
    """The embedder answered with something that is not one finite vector for each text."""

    code = "embedder_bad_answer"


class EmbedderMismatch(EmbedderError, ValueError):
    """The stored vectors were made by another model; comparing them would be meaningless."""

    code = "embedder_mismatch"


class HookError(RecollectError):
    """Something is wrong with a hook or its configuration."""

    code = "hook_error"


class HookConfigError(HookError, ValueError):
    """A hook is configured wrongly; whatever was loaded before is still in force."""

    code = "hook_config"

    def __init__(
        self,
        problem: str,
        *,
        path: Path | None = None,
        line: int | None = None,
        field: str | None = None,
        hint: str = "",
    ) -> None:
        where = [str(path)] if path else []
        where += [f"line {line}"] if line else []
        where += [f"field {field}"] if field else []
        super().__init__(f"{', '.join(where)}: {problem}" if where else problem, hint=hint)
        self.path, self.line, self.field = path, line, field


class HookDenied(HookError, PermissionError):
    """A hook refused the operation; nothing was written."""

    code = "hook_denied"

    def __init__(self, event: str, reason: str, status: int, *, where: str = "") -> None:
        super().__init__(
            f"{where}{': ' if where else ''}{event} was denied ({status}): {reason}",
            hint="`recollect hooks list` shows the hooks; the one that denied gave the reason.",
        )
        self.event, self.reason, self.status = event, reason, status


class UnknownFrame(InvalidInput, LookupError):
    """No frame has this name."""

    code = "unknown_frame"


class FrameExists(InvalidInput):
    """A frame of this name was registered before."""

    code = "frame_exists"


class FrameImmutable(InvalidInput):
    """Built-in frames can be extended, but neither changed nor deleted."""

    code = "frame_immutable"


class UnknownTemplate(InvalidInput):
    """No template has this name."""

    code = "unknown_template"
