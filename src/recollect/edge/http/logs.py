"""What a server says while it runs: a line a request, as JSON or for people.

In: what is known of a request once it was answered. Out: lines on standard error. No text of a
memory, no question and no secret is in them; a query string is, if texts were asked for.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any

from recollect.edge.http.options import LogForm, ServerOptions

__all__ = ["Log", "hear_libraries", "log_like"]


class Log:
    """Where lines go."""

    def __init__(self, form: LogForm, *, texts: bool = False) -> None:
        self._is_json = form == "json"
        self._is_quiet = form == "quiet"
        self._texts = texts

    def request(self, *, query: str, **known: Any) -> None:
        """Write the line of a request."""
        if self._is_quiet:
            return
        if self._texts and query:
            known["query"] = query
        self._write("request", known)

    def event(self, what: str, **known: Any) -> None:
        """Write that something happened beside requests."""
        self._write(what, known)

    def fault(self, error: BaseException, **known: Any) -> None:
        """Write where something went wrong that nobody foresaw; what it says may hold a text."""
        told = traceback.format_exception(error) if self._texts else _without_words(error)
        self._write("fault", {**known, "error": "".join(told)})

    def _write(self, what: str, known: dict[str, Any]) -> None:
        at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds")
        told = {name: one for name, one in known.items() if one is not None and one != ""}
        if self._is_json:
            line = json.dumps({"time": at, "event": what, **told}, ensure_ascii=False)
        else:
            words = [f"{name}={_plain(one)}" for name, one in told.items()]
            line = " ".join([at, what, *words])
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _without_words(error: BaseException) -> list[str]:
    """Return the way that an error took, and its class: a message may quote what it was given."""
    return [*traceback.format_tb(error.__traceback__), type(error).__qualname__]


def _plain(value: object) -> str:
    text = str(value)
    return json.dumps(text) if not text.isprintable() or " " in text else text


# What uvicorn says of an error that the application passed on: it was logged with its request.
_LOGGED_ALREADY = "Exception in ASGI application"


class _Lines(logging.Handler):
    """Puts what libraries report among the lines."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        if record.getMessage().startswith(_LOGGED_ALREADY):
            return
        error = None
        if record.exc_info and record.exc_info[0] is not None:
            error = logging.Formatter().formatException(record.exc_info)
        self._log.event(record.levelname.lower(), said=record.getMessage(), error=error)


def log_like(options: ServerOptions) -> Log:
    """Return the log that a server was asked for."""
    return Log(options.log, texts=options.log_texts)


def hear_libraries(log: Log) -> None:
    """Let what the server is made of write to its log too: for a process that does nothing else."""
    for name in ("uvicorn.error", "recollect"):
        logger = logging.getLogger(name)
        logger.handlers = [_Lines(log)]
        logger.propagate = False
