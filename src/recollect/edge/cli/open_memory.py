"""The engine as a command needs it: opened with care, with the embedder that was asked for.

In: the options `--db` and `--embedder`. Out: an open memory for the length of a `with`. Only
`remember` may start a new file; for every other command a missing one is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from recollect.edge.cli import open_catalogue
from recollect.edge.cli.given import chosen_key, chosen_url, wants_read_only
from recollect.edge.cli.output import late_bar
from recollect.embed import load_embedder
from recollect.errors import InvalidInput
from recollect.paks import UnknownPak, as_catalogue
from recollect.settings import (
    default_embedder,
    default_hooks_path,
    default_opening,
    one_blas_thread,
)

if TYPE_CHECKING:
    from recollect.engine import Recollect
    from recollect.hooks import AskUser
    from recollect.model import Memory
    from recollect.ports.embedder import Embedder

__all__ = [
    "SHORTEST_BEGINNING",
    "chosen",
    "embedder_for",
    "existing",
    "known",
    "new_or_existing",
    "on_server",
    "unknown",
    "whole_id",
    "will_start",
]

# Less of an id could mean anything, and would be forgotten by mistake.
SHORTEST_BEGINNING = 4
_SHOWN_IDS = 8


@contextmanager
def existing(
    db: str | None, embedder: str | None, *, receipts: bool = False
) -> Iterator[Recollect]:
    """Open a memory whose file must be there; with `receipts`, it keeps them of its answers."""
    if (url := _asked_server(db)) is not None:
        with on_server(url) as there:
            yield there
        return
    place = _other_store(db) or open_catalogue.locate(db)
    with _opened(place, embedder, receipts=receipts) as memory:
        yield memory


@contextmanager
def new_or_existing(db: str | None, embedder: str | None) -> Iterator[Recollect]:
    """Open a memory, starting a new file if there is none."""
    if (url := _asked_server(db)) is not None:
        with on_server(url) as there:
            yield there
        return
    with _opened(_other_store(db) or _new_or_existing_file(db), embedder) as memory:
        yield memory


def will_start(db: str | None) -> Path | None:
    """Return the file that `new_or_existing` would begin, None if it is there, or is none."""
    if chosen_url() is not None or _other_store(db):
        return None
    path = open_catalogue.file_of(db)
    return None if path.exists() else path.absolute()


def _asked_server(db: str | None) -> str | None:
    """Return the address of the server that is asked in place of a file, if one is."""
    url = chosen_url()
    if url is not None and db is not None:
        raise InvalidInput("--db and --url name two memories.", hint="leave one of them out.")
    return url


@contextmanager
def on_server(url: str) -> Iterator[Recollect]:
    """Ask a server: what it gives has the verbs of a memory, and no file."""
    with one_blas_thread():
        from recollect.edge.cli.on_a_server import OnAServer

    with OnAServer(url, chosen_key()) as there:
        # The same verbs with the same signatures: what it lacks is refused when it is asked for.
        yield cast("Recollect", there)


def _other_store(db: str | None) -> str | None:
    """Return the URL of a store that is no file; what it means, the engine knows."""
    return db if open_catalogue.is_url(db) and not str(db).startswith("sqlite:///") else None


def _new_or_existing_file(db: str | None) -> Path:
    path = open_catalogue.file_of(db)
    return open_catalogue.locate(db) if path.exists() else path


def embedder_for(spec: str | None) -> Embedder | None:
    """Return the embedder of a spec, or of the environment; its URL and key come from there.

    None means that neither names one: the memory then opens with its own.
    """
    given = default_embedder()
    chosen = spec or given.spec
    if chosen is None:
        return None
    return load_embedder(chosen, base_url=given.base_url, api_key=given.api_key)


def known(memory: Recollect, pak_id: str) -> Memory:
    """Return one memory by its id, or by how that begins; it must be there."""
    found = memory.get(whole_id(memory, pak_id))
    if found is None:
        raise unknown(pak_id)
    return found


def whole_id(memory: Recollect, given: str) -> str:
    """Return the id that somebody meant: as it was given, or the only one that begins so.

    What no id begins with is returned as it is, for the verb to refuse.
    """
    if len(given) < SHORTEST_BEGINNING or memory.get(given) is not None:
        return given
    return chosen(given, memory.ids(given, limit=_SHOWN_IDS + 1))


def chosen(given: str, found: Sequence[str]) -> str:
    """Return the one of these ids that somebody meant by its beginning."""
    if given in found or not found:
        return given
    if len(found) > 1:
        named = ", ".join(found[:_SHOWN_IDS]) + (", …" if len(found) > _SHOWN_IDS else "")
        raise InvalidInput(
            f"{given!r} is how several ids begin: {named}.", hint="write more of the one you mean."
        )
    return found[0]


def unknown(pak_id: str) -> UnknownPak:
    """Return the error for an id that no memory has, in the words of every door."""
    from recollect.edge.verbs.memories import unknown as by_every_door

    return by_every_door(pak_id)


@contextmanager
def _opened(
    place: Path | str, embedder: str | None, *, receipts: bool = False
) -> Iterator[Recollect]:
    # Loaded only now: a path that leads nowhere is an error that need not wait for it.
    with one_blas_thread():
        from recollect.engine import Recollect

    hooks, opening = default_hooks_path(), default_opening()
    with (
        as_catalogue(place),
        late_bar("Reading memories into the index") as progress,
        Recollect.open(
            place,
            embedder=embedder_for(embedder),
            hooks=hooks,
            read_only=wants_read_only(),
            any_filesystem=opening.any_filesystem,
            receipts=receipts or opening.receipts,
            receipt_days=opening.receipt_days,
            progress=progress,
        ) as memory,
    ):
        if hooks is not None and sys.stdin is not None and sys.stdin.isatty():
            memory.hooks.on_ask(_ask)
        key = chosen_key()
        yield memory if key is None else memory.as_principal(memory.keys.principal_for(key))


def _ask(question: AskUser) -> str:
    """Put a hook's question to the person at the terminal."""
    import typer

    from recollect.edge.cli.views.elements import plain

    words = f"{plain(question.prompt)} ({'/'.join(map(plain, question.options))})"
    return str(typer.prompt(words, default=question.default or question.options[-1], err=True))
