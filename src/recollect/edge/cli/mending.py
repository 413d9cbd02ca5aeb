"""`recollect paks repair` in full: look, mend, look again, and tell the difference.

In: the `--db` option. Out: what was wrong before, what was done, what is left. Opening for writing
may itself bring an older catalogue up to date, so the first look is a read-only one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recollect.edge.cli import catalogue
from recollect.errors import NotACatalogue, StoreDamaged, StoreOutdated
from recollect.paks import CheckReport

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Mended", "draw", "mend"]


class Mended(NamedTuple):
    """What a repair found, did and left."""

    place: str
    before: tuple[str, ...]
    upgraded: bool
    removed: int
    added: int
    after: CheckReport


def mend(db: Path | None) -> Mended:
    """Repair the catalogue and check it before and after."""
    before, upgraded = _look(db)
    with catalogue.writing(db) as store:
        report = store.repair()
        return Mended(
            str(store.path), before, upgraded, report.removed, report.added, store.check()
        )


def draw(console: Console, done: Mended) -> None:
    """Tell a person what was found and done."""
    from recollect.edge.cli import drawing

    if done.before:
        console.print("Found:")
        drawing.problems(console, done.before)
    else:
        console.print("Found nothing wrong.")
    if done.upgraded:
        console.print("Brought the catalogue up to the newest schema.")
    console.print(
        f"Rebuilt the full-text table: {done.removed:,} rows removed, {done.added:,} added."
    )


def _look(db: Path | None) -> tuple[tuple[str, ...], bool]:
    """Return what is wrong, and whether the schema is of an older release."""
    try:
        with catalogue.reading(db) as store:
            return store.check().problems, False
    except StoreOutdated as error:
        return (error.message,), True
    except NotACatalogue:
        raise
    except StoreDamaged as error:
        return (error.message,), False
