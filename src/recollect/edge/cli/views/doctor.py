"""Findings of `recollect doctor` as people read them: a line a client, and what its hooks did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.edge.cli.views.elements import plain

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.edge.agents.doctor import Finding

__all__ = ["draw_findings"]


def draw_findings(console: Console, found: Sequence[Finding], *, is_paused: bool) -> None:
    """Draw how clients are."""
    if is_paused:
        console.print("Paused: hooks keep nothing and show nothing. `recollect resume` ends that.")
    for one in found:
        for line in _lines(one):
            console.print(plain(line), soft_wrap=True)
    if not any(one.is_configured or one.problem for one in found):
        first = next((one.client for one in found if one.is_there), found[0].client)
        console.print(f"Next: `recollect install {first} --dry-run` shows what would be set up.")


def _lines(one: Finding) -> Iterator[str]:
    yield f"{one.client}: {', '.join(_state(one))}"
    if one.problem is not None:
        yield f"  {one.problem}"
    for fired in one.fired:
        took = "" if fired.ms is None else f", {fired.ms:.0f} ms"
        worse = "" if fired.degraded is None else f", degraded: {fired.degraded}"
        yield f"  {fired.event} last answered {fired.at}{took}{worse}"
    if one.given:
        yield f"  shown last, {one.given_at}: {one.tokens} tokens, {', '.join(one.given)}"


def _state(one: Finding) -> Iterator[str]:
    if not one.is_configured:
        yield "not set up" if one.is_there else "not here"
        return
    yield "set up"
    if one.connects is not None:
        yield "connects" if one.connects else "does not connect"
    if one.has_hooks:
        yield "hooks" if one.fired else "hooks, none fired yet"
