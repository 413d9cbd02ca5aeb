"""What people see of a remembered text: its id, what is like it, and whether it waits.

In: what the engine reports. Out: lines on a console.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from recollect.edge.cli.views.elements import plain
from recollect.model import Remembered

__all__ = ["draw_many", "draw_one", "draw_started"]


def draw_started(console: Console, place: Path | None) -> None:
    """Say where a new memory was begun, if one was."""
    if place is not None:
        console.print(f"Began a new memory at {plain(str(place))}.", soft_wrap=True)


def draw_one(console: Console, done: Remembered, complaint: str | None) -> None:
    """Say what became of one text."""
    pak_id = plain(done.pak_id)
    if done.created:
        console.print(f"Remembered {pak_id}", soft_wrap=True)
    else:
        console.print(f"{pak_id} was there already{_news(done)}.", soft_wrap=True)
    if done.unread:
        console.print("No time could be read from --occurred-at; it is kept as it is.")
    if done.near_duplicates:
        console.print(f"Nearly the same: {plain(', '.join(done.near_duplicates))}", soft_wrap=True)
    for word, names in (
        ("Takes the place of", done.superseded),
        ("Disputes", done.disputed),
        ("Says otherwise than", tuple(set(done.conflicts) - {*done.superseded, *done.disputed})),
    ):
        if names:
            console.print(f"{word}: {plain(', '.join(sorted(names)))}", soft_wrap=True)
    if done.linked:
        console.print(f"Linked to: {plain(', '.join(done.linked))}", soft_wrap=True)
    if done.state == "pending":
        console.print(_pending("it waits", complaint))


def _news(done: Remembered) -> str:
    """Say which fields of a text that was there are others now, and which stayed."""
    changed, kept = (", ".join(names) for names in (done.changed, done.kept))
    if changed and kept:
        return f"; changed: {changed}; kept: {kept}"
    if changed or kept:
        return f"; changed: {changed}" if changed else f"; kept: {kept}"
    return ""


def _pending(who: str, complaint: str | None) -> str:
    return (
        f"Pending: {who} for a vector, because the embedder failed. The text is safe and is found"
        f" by its words; the next `remember` tries again.\n{plain(complaint or '')}".rstrip()
    )


def draw_many(
    console: Console, count: int, *, created: int, pending: int, complaint: str | None
) -> None:
    """Say how many were remembered, and how many of them wait."""
    console.print(f"Remembered {count:,}, {created:,} of them new.")
    if pending:
        console.print(_pending(f"{pending:,} of them wait", complaint))
