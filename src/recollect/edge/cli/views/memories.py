"""What people see of one memory, and of memories that were erased.

In: the engine's values. Out: drawn text, stored text shown and never obeyed.
"""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Group
from rich.text import Text

from recollect.edge.cli.views.elements import count_of, facts, plain
from recollect.model import Forgotten, Memory

__all__ = ["card", "erasure"]

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
        facts({name: value for name, value in fields.items() if value not in (None, "", ())}),
    )


def erasure(target: str, gone: Forgotten) -> Text:
    """Say what was erased, and whether its bytes are gone as well."""
    if not gone:
        return Text(f"There was nothing to forget about {plain(target)}.")
    lines = [f"Forgot {plain(gone.pak_ids[0])}."]
    if gone.pak_ids != (target,):
        count = count_of(len(gone.pak_ids), "memory", "memories")
        lines = [f"Forgot {count} about {plain(target)}:"]
        lines += [f"  {plain(pak_id)}" for pak_id in gone.pak_ids[:_SHOWN_IDS]]
        if len(gone.pak_ids) > _SHOWN_IDS:
            lines.append(f"  and {len(gone.pak_ids) - _SHOWN_IDS:,} more; --json names them all")
    if gone.edges:
        lines.append(f"{count_of(gone.edges, 'link', 'links')} went along.")
    if not gone.wiped:
        lines.append(
            "Another process is reading the file: old bytes stay in its log until that is done."
        )
    return Text("\n".join(lines))
