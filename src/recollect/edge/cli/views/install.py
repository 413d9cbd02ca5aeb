"""A plan for a client as people read it: commands, then a diff of each file, then what is kept.

In: a plan and whether it was done. Out: lines on a console. Files that others wrote may hold
secrets: lines of theirs are shown only where they stand beside ours.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.edge.cli.views.elements import plain
from recollect.policy.redact import redact

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.edge.agents.setup import Change, Plan

__all__ = ["draw_plan"]

_KEPT = (
    "What you type and what the agent says last is kept in {place}, word for word but for secrets,",
    "with time, session and project; before a prompt, what fits it is shown to the model.",
    "`recollect pause` stops both for a while; so do the words off the record in a prompt, and",
    "capture = false in a .recollect.toml. `recollect doctor` says whether it works.",
)


def draw_plan(
    console: Console,
    plan: Plan,
    copies: Sequence[Path],
    *,
    is_dry: bool,
    kept_in: str | None,
) -> None:
    """Draw what is or would be done for a client."""
    title = plan.client.title
    if plan.is_empty:
        state = "is set up already" if plan.is_install else "has nothing of ours"
        console.print(f"{title} {state}.", soft_wrap=True)
    for words in plan.commands:
        console.print(
            f"{'Would run' if is_dry else 'Ran'}: {plain(' '.join(words))}", soft_wrap=True
        )
    for change in plan.changes:
        for line in _diff(change):
            console.print(plain(line), soft_wrap=True)
    if not plan.is_empty and is_dry:
        console.print("Nothing was changed: this was a dry run.")
    elif not plan.is_empty:
        done = "is set up. Start it anew" if plan.is_install else "is as it was. Start it anew"
        console.print(f"{title} {done}.", soft_wrap=True)
    for copy in copies:
        console.print(f"What was there before: {plain(str(copy))}", soft_wrap=True)
    if kept_in is not None:
        for line in _KEPT:
            console.print(line.format(place=plain(kept_in)), soft_wrap=True)


def _diff(change: Change) -> Iterator[str]:
    before, after = _lines(change.before), _lines(change.after)
    names = (str(change.path), str(change.path))
    marks = ("", " (new)") if change.before is None else ("", "")
    if change.after is None:
        marks = ("", " (deleted)")
    for line in difflib.unified_diff(
        before, after, names[0] + marks[0], names[1] + marks[1], n=1, lineterm=""
    ):
        yield redact(line)


def _lines(held: bytes | None) -> list[str]:
    return (held or b"").decode("utf-8", "replace").splitlines()
