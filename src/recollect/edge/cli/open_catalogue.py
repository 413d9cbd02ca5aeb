"""The catalogue as a command needs it: opened with care, read with its attachments.

In: the `--db` option. Out: an open store for the length of a `with`, and what it knows of Paks. A
missing file is an error here, never an empty catalogue made on the spot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from recollect.edge.cli.given import chosen_key, chosen_url, wants_read_only
from recollect.errors import NotAllowed, StoreOutdated, StoreReadOnly, StoreUnavailable
from recollect.paks import (
    PakHit,
    PakListFilters,
    PakListResult,
    PakRow,
    RecallStore,
    RiskFlagEntry,
    UnknownPak,
    as_catalogue,
    default_recall_db_path,
)

if TYPE_CHECKING:
    from recollect.edge.wire import Dossier, Flags
    from recollect.verbs.catalogue import CatalogueHit, CatalogueRow, ViewedCatalogue

__all__ = [
    "dossier_of",
    "file_of",
    "hits_of",
    "is_url",
    "is_viewed",
    "locate",
    "need_file",
    "need_holder",
    "page_of",
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


def is_viewed() -> bool:
    """Return whether somebody in particular asks: then the catalogue is what that may read."""
    return chosen_key() is not None or chosen_url() is not None


def page_of(db: str | None, wanted: PakListFilters) -> tuple[PakListResult, Flags]:
    """Return one page of Paks, and the risk flags of each."""
    if not is_viewed():
        with reading(db) as store:
            page = store.list_paks(wanted)
            return page, flags_of(store, page.items)
    with _viewed(db) as catalogue:
        seen = catalogue.list(**wanted._asdict())
    rows = [one.pak for one in seen.items]
    more = seen.next_cursor is not None
    return PakListResult(rows, seen.next_cursor, seen.limit, more), _flags(seen.items)


def hits_of(db: str | None, text: str, **narrowed: Any) -> tuple[list[PakHit], Flags]:
    """Return the Paks that words find, best first, and the risk flags of each."""
    if not is_viewed():
        with reading(db) as store:
            found = store.search(text, **narrowed)
            return found, flags_of(store, [hit.pak for hit in found])
    with _viewed(db) as catalogue:
        seen = catalogue.search(text, **narrowed)
    return [PakHit(one.pak, one.score) for one in seen], _flags(seen)


def dossier_of(db: str | None, pak_id: str) -> Dossier:
    """Return all that the catalogue knows of one Pak; it must be there."""
    from recollect.edge.wire import Dossier

    if not is_viewed():
        with reading(db) as store:
            return dossier(store, pak_id)
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, None) as memory:
        name = open_memory.whole_id(memory, pak_id)
        found = memory.catalogue.get(name)
    if found is None:
        raise open_memory.unknown(name)
    return Dossier(found.pak, found.reason_codes, found.risk_flags, found.anchors, found.relations)


@contextmanager
def _viewed(db: str | None) -> Iterator[ViewedCatalogue]:
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, None) as memory:
        yield memory.catalogue


def _flags(rows: Iterable[CatalogueRow | CatalogueHit]) -> Flags:
    return {one.pak.pak_id: list(one.risk_flags) for one in rows}


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
    return store.get_pak_risk_flags_of_each(pak.pak_id for pak in paks)


def _open_read_only(path: Path) -> RecallStore:
    try:
        return RecallStore.open(path, read_only=True)
    except StoreOutdated as error:
        raise StoreOutdated(
            error.message,
            hint="if this is a catalogue of an older release or of tokenpak, bring it up to date"
            f" with `recollect paks repair --db {path}`; if it is not, check the path.",
        ) from error
