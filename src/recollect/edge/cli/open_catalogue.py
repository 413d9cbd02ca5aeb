"""The catalogue as a command needs it: opened with care, read with its attachments.

In: the `--db` option. Out: an open store for the length of a `with`, and what it knows of Paks. A
missing file is an error here, never an empty catalogue made on the spot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from recollect.edge.cli.options import chosen_key, chosen_url, wants_read_only
from recollect.errors import NotAllowed, StoreOutdated, StoreReadOnly, StoreUnavailable
from recollect.paks import (
    PakListFilters,
    PakRow,
    RecallStore,
    RiskFlagEntry,
    UnknownPak,
    as_catalogue,
    default_recall_db_path,
)

if TYPE_CHECKING:
    from recollect.edge.wire import Dossier

__all__ = [
    "dossier",
    "file_of",
    "flags_of",
    "is_url",
    "locate",
    "need_file",
    "need_holder",
    "reading",
    "writable",
    "writing",
]


def need_holder(what: str) -> None:
    """Refuse what looks at all of a file to who acts by a key, or asks a server."""
    need_file(what)
    if chosen_key() is not None:
        raise NotAllowed(
            f"{what} is for whoever holds the file, not for a key.",
            hint="leave out --key, and RECOLLECT_KEY.",
        )


def need_file(what: str) -> None:
    """Refuse, with `--url`, what looks into a file: a server has verbs alone."""
    if chosen_url() is not None:
        raise NotAllowed(
            f"{what} needs the file, which a server does not give.",
            hint="run it beside the file, with --db and without --url and RECOLLECT_URL.",
        )


def locate(db: str | None) -> Path:
    """Return the database file to use; it must exist."""
    path = file_of(db)
    if path.is_dir():
        raise StoreUnavailable(
            f"{path} is a directory, not a database file.",
            hint=f"name a file in it, for example --db {path / 'recall.db'}.",
        )
    if not path.is_file():
        raise StoreUnavailable(
            f"There is no database at {path}.",
            hint="name one with --db PATH or RECOLLECT_DB; `recollect remember` starts one.",
        )
    return path


def file_of(db: str | None) -> Path:
    """Return the file that a path or a `sqlite:///` URL names, there or not."""
    need_file("this command")
    if db is None:
        return default_recall_db_path()
    if not is_url(db):
        return Path(db).expanduser()
    scheme, _, rest = db.partition("://")
    if scheme != "sqlite" or not rest.startswith("/"):
        raise StoreUnavailable(
            f"{scheme}:// names no database file.",
            hint="this command looks into a file: --db agent.db or --db sqlite:///agent.db.",
        )
    return Path(unquote(rest[1:])).expanduser()


def writable(db: str | None) -> Path:
    """Return the file that this command may write, there or not."""
    path = file_of(db)
    if wants_read_only():
        raise StoreReadOnly(
            f"{path} is to be read only, and this command writes.",
            hint="leave out --read-only, and RECOLLECT_READ_ONLY.",
        )
    return path


def is_url(db: str | None) -> bool:
    """Return whether a place is named by a URL, not by a path."""
    return db is not None and "://" in db


@contextmanager
def reading(db: str | None) -> Iterator[RecallStore]:
    """Open an existing catalogue that this command will not change."""
    need_holder("the catalogue")
    path = locate(db)
    with as_catalogue(path), _open_read_only(path) as store:
        # A database of a newer release opens, and refuses the first call: let that be this one.
        store.list_paks(PakListFilters(limit=1))
        yield store


@contextmanager
def writing(db: str | None) -> Iterator[RecallStore]:
    """Open an existing catalogue for changing it; an older one is brought up to date."""
    need_holder("the catalogue")
    path = writable(str(locate(db)))
    with as_catalogue(path), RecallStore.open(path) as store:
        store.list_paks(PakListFilters(limit=1))
        yield store


def dossier(store: RecallStore, pak_id: str) -> Dossier:
    """Return all that the catalogue knows of one Pak; it must be there."""
    pak = store.get_pak(pak_id) or _beginning(store, pak_id)
    if pak is None:
        raise UnknownPak(
            f"There is no Pak {pak_id!r} in {store.path}.",
            hint="`recollect paks list` and `recollect paks search` tell the ids there are.",
        )
    from recollect.edge.wire import Dossier

    return Dossier(
        pak,
        store.get_pak_reason_codes(pak.pak_id),
        store.get_pak_risk_flags(pak.pak_id),
        store.get_pak_anchors(pak.pak_id),
        store.get_pak_relations(pak.pak_id),
    )


def _beginning(store: RecallStore, given: str) -> PakRow | None:
    """Return the only Pak whose id begins so; several are an error that names them."""
    from recollect.edge.cli.open_memory import SHORTEST_BEGINNING, chosen

    if len(given) < SHORTEST_BEGINNING:
        return None
    found = {pak.pak_id: pak for pak in store.iter_paks() if pak.pak_id.startswith(given)}
    return found.get(chosen(given, sorted(found)))


def flags_of(store: RecallStore, paks: Iterable[PakRow]) -> dict[str, list[RiskFlagEntry]]:
    """Return the risk flags of each of these Paks, by id."""
    return {pak.pak_id: store.get_pak_risk_flags(pak.pak_id) for pak in paks}


def _open_read_only(path: Path) -> RecallStore:
    try:
        return RecallStore.open(path, read_only=True)
    except StoreOutdated as error:
        raise StoreOutdated(
            error.message,
            hint="if this is a catalogue of an older release or of tokenpak, bring it up to date"
            f" with `recollect paks repair --db {path}`; if it is not, check the path.",
        ) from error
