"""The only reader of the environment. Everything else gets what it needs as arguments.

In: environment variables, at the moment a function here is called, never at import.
Out: plain values.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from recollect.errors import InvalidInput, UnsupportedPlatform
from recollect.values import dataclass

__all__ = [
    "RECEIPT_DAYS",
    "EmbedderSettings",
    "OpeningSettings",
    "check_platform",
    "child_environment",
    "clients_folders",
    "default_editor",
    "default_embedder",
    "default_hooks_path",
    "default_opening",
    "default_recall_db_path",
    "environment_with",
    "home_directory",
    "one_blas_thread",
    "own_variables",
    "pipe_columns",
    "serve_options",
    "share_counts",
    "tell_workers",
]

# For so long a receipt is kept unless somebody says otherwise.
RECEIPT_DAYS = 30.0

_FOR_CHILDREN = ("PATH", "LANG", "HOME")
_OF_CLIENTS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME")
_SERVE = "_RECOLLECT_SERVE"
_COUNTS = "PROMETHEUS_MULTIPROC_DIR"
# Who sets one of these wants a pipe to be drawn like a terminal, or says that it is none.
_LIKE_A_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JUPYTER_COLUMNS")
_UTF_8 = ("utf-8", "utf8")
_COLUMNS = 80
_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """Which embedder to use when the caller names none, and how to reach a remote one.

    Without a spec, a memory opens with the embedder that it was filled with.
    """

    spec: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)


def check_platform() -> None:
    """Refuse Windows: it lacks the file locks, signals and process groups that we count on."""
    if sys.platform.startswith(("win", "cygwin")):
        raise UnsupportedPlatform(
            f"Recollect does not run on {sys.platform}.",
            hint="Use it on Linux or macOS; the Windows Subsystem for Linux is Linux.",
        )


def home_directory() -> Path:
    """Return where Recollect keeps its files: `RECOLLECT_HOME`, else `~/.recollect`."""
    return _path_from("RECOLLECT_HOME") or Path.home() / ".recollect"


def default_recall_db_path() -> Path:
    """Return the catalogue's path when the caller names none.

    `TOKENPAK_RECALL_DB` is honoured so that code written for tokenpak finds its database.
    """
    return (
        _path_from("RECOLLECT_DB")
        or _path_from("TOKENPAK_RECALL_DB")
        or home_directory() / "companion" / "recall.db"
    )


def default_embedder() -> EmbedderSettings:
    """Return `RECOLLECT_EMBEDDER`, `RECOLLECT_EMBEDDER_URL` and `RECOLLECT_EMBEDDER_KEY`."""
    return EmbedderSettings(
        spec=os.environ.get("RECOLLECT_EMBEDDER") or None,
        base_url=os.environ.get("RECOLLECT_EMBEDDER_URL") or None,
        api_key=os.environ.get("RECOLLECT_EMBEDDER_KEY") or None,
    )


def default_hooks_path() -> Path | None:
    """Return the file of hooks: `RECOLLECT_HOOKS`, else `hooks.toml` at home if it is there."""
    usual = home_directory() / "hooks.toml"
    return _path_from("RECOLLECT_HOOKS") or (usual if usual.is_file() else None)


@dataclass(frozen=True, slots=True)
class OpeningSettings:
    """How the command line opens a memory, beside what its options say."""

    read_only: bool
    any_filesystem: bool
    key: str | None = None
    url: str | None = None
    receipts: bool = False
    receipt_days: float = RECEIPT_DAYS


def default_opening() -> OpeningSettings:
    """Return how to open a memory.

    `RECOLLECT_READ_ONLY`, `RECOLLECT_ANY_FILESYSTEM` and `RECOLLECT_RECEIPTS` (1 is yes),
    `RECOLLECT_KEY`, `RECOLLECT_URL` and `RECOLLECT_RECEIPT_DAYS`.
    """
    return OpeningSettings(
        read_only=_is_on("RECOLLECT_READ_ONLY"),
        any_filesystem=_is_on("RECOLLECT_ANY_FILESYSTEM"),
        key=os.environ.get("RECOLLECT_KEY") or None,
        url=os.environ.get("RECOLLECT_URL") or None,
        receipts=_is_on("RECOLLECT_RECEIPTS"),
        receipt_days=_days("RECOLLECT_RECEIPT_DAYS"),
    )


def own_variables() -> dict[str, str]:
    """Return what a client must pass on, so that a server it starts finds the same files."""
    return {name: os.environ[name] for name in ("RECOLLECT_HOME",) if os.environ.get(name)}


def clients_folders() -> dict[str, Path]:
    """Return the folders that variables of coding agents' own name, by those variables.

    An empty one names none; nor does an `XDG_CONFIG_HOME` that is not absolute, as its makers say.
    """
    told = {name: Path(os.environ[name]) for name in _OF_CLIENTS if os.environ.get(name)}
    return {
        name: place.absolute()
        for name, place in told.items()
        if place.is_absolute() or name != "XDG_CONFIG_HOME"
    }


def environment_with(more: Mapping[str, str]) -> dict[str, str]:
    """Return our environment with more in it: what a client's server would be started with."""
    return {**os.environ, **more}


def default_editor() -> str:
    """Return the command that edits a text: `VISUAL`, `EDITOR`, else vi."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


def serve_options() -> str:
    """Return what `tell_workers` was told, in a process that a server started."""
    return os.environ[_SERVE]


def tell_workers(options: str) -> None:
    """Leave a text for the processes that a server starts."""
    os.environ[_SERVE] = options


def share_counts(folder: str) -> None:
    """Let this process and those it starts count in files of one folder: before counters are made.

    The name is what prometheus-client looks for when it is loaded.
    """
    os.environ[_COUNTS] = folder


def pipe_columns() -> int | None:
    """Return how many columns a pipe's text has; None for a terminal, and for what is like one.

    The rule is Rich's: `COLUMNS`, else as wide as the terminal that we were started from, else 80.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if sys.stdout.isatty() or encoding.lower() not in _UTF_8:
        return None
    if any(name in os.environ for name in _LIKE_A_TERMINAL):
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit():
        return int(columns)
    for stream in range(3):
        try:
            return os.get_terminal_size(stream).columns or _COLUMNS
        except OSError:
            continue
    return _COLUMNS


def child_environment() -> dict[str, str]:
    """Return the little of our environment that a hook's process may see."""
    return {name: os.environ[name] for name in _FOR_CHILDREN if name in os.environ}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let numpy start no threads if the body loads it; what was set by hand counts.

    Starting them takes longer than most recalls. Whoever is started later need not know.
    """
    if _BLAS_THREADS in os.environ:
        yield
        return
    os.environ[_BLAS_THREADS] = "1"
    try:
        yield
    finally:
        os.environ.pop(_BLAS_THREADS, None)


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "") not in ("", "0")


def _days(variable: str) -> float:
    given = os.environ.get(variable) or RECEIPT_DAYS
    try:
        return float(given)
    except ValueError:
        raise InvalidInput(
            f"{variable} is no number of days: {given!r:.60}.", hint="write days, such as 30."
        ) from None


def _path_from(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else None
