"""What people see of one memory, and of memories that were erased.

In: the engine's values. Out: drawn text, stored text shown and never obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Group
from rich.text import Text

from recollect.edge.cli.views.elements import count_of, facts, plain
from recollect.index.evidence import Searched
from recollect.model import Forgotten, Memory

__all__ = ["card", "erasure", "evidence"]

_SHOWN_IDS = 20


def card(memory: Memory) -> Group:
    """Return everything about one memory: its text first."""
    shown = ("pak_id", "content", "title", "place")
    fields = {name: value for name, value in asdict(memory).items() if name not in shown}
    return Group(
        Text(plain(memory.title), style="bold"),
        Text(plain(memory.pak_id), style="dim"),
        Text(""),
        Text(plain(memory.content)),
        Text(""),
        facts({name: value for name, value in fields.items() if value not in (None, "", (), {})}),
    )


def erasure(target: str, gone: Forgotten) -> Text:
    """Say what was erased, and whether its bytes are gone as well."""
    if not gone:
        return Text(f"There was nothing to forget about {plain(target)}.")
    forgot = "Would forget" if gone.dry_run else "Forgot"
    lines = []
    if gone.pak_ids == (target,):
        lines = [f"{forgot} {plain(target)}."]
    elif gone.pak_ids:
        count = count_of(len(gone.pak_ids), "memory", "memories")
        lines = [f"{forgot} {count} about {plain(target)}:"]
        lines += [f"  {plain(pak_id)}" for pak_id in gone.pak_ids[:_SHOWN_IDS]]
        if len(gone.pak_ids) > _SHOWN_IDS:
            lines.append(f"  and {len(gone.pak_ids) - _SHOWN_IDS:,} more; --json names them all")
    if gone.edges:
        lines.append(f"{count_of(gone.edges, 'link', 'links')} went along.")
    if gone.versions:
        count = count_of(gone.versions, "earlier version", "earlier versions")
        lines.append(f"{forgot} {count} of memories that stay.")
    if gone.receipts:
        count = count_of(gone.receipts, "receipt", "receipts")
        lines.append(f"{forgot} {count} of answers.")
    lines += [f"{plain(pak_id)} may be in answers again." for pak_id in gone.returns[:_SHOWN_IDS]]
    lines += [f"{plain(one.name)}: {plain(one.how)}." for one in gone.proof if not one.is_clean]
    return Text("\n".join(lines))


def evidence(searched: Sequence[Searched]) -> Text:
    """Say in which files which words were found, by the lines on which they came."""
    lines = []
    for one in searched:
        found = ", ".join(map(str, one.found))
        said = f"holds the words of lines {found}" if found else "holds none of the words"
        lines.append(f"{plain(one.name)} ({one.size:,} bytes) {said}.")
    return Text("\n".join(lines))
