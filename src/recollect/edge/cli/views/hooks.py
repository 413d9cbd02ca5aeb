"""What people see of hooks: tables of what is configured and how it is, and what an event met.

In: values of `recollect.hooks`. Out: drawn text; what a hook said is shown and never obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import plain
from recollect.hooks.chain import ChainResult
from recollect.hooks.doctor import Finding
from recollect.hooks.spec import HookSpec

__all__ = ["draw_problems", "draw_result", "findings", "table"]

_STATES = {"ready": "green", "failed": "bold red", "disabled": "dim"}


def table(hooks: Sequence[HookSpec]) -> Table:
    """Return the hooks as a table, with what their failure means."""
    table = _table("Hook", "Event", "Mode", "Priority", "If it fails")
    for hook in hooks:
        table.add_row(
            Text(plain(hook.name), style="bold" if hook.enabled else "dim"),
            hook.event.value + (f" in {plain(hook.namespace)}" if hook.namespace != "*" else ""),
            hook.mode if hook.enabled else "disabled",
            str(hook.priority),
            "goes on" if hook.fail_mode == "open" else "denies",
        )
    return table


def findings(found: Sequence[Finding]) -> Table:
    """Return how each hook is, with the latencies that were measured."""
    table = _table("Hook", "Event", "Mode", "State", "Said", "p50 ms", "max ms")
    for one in found:
        table.add_row(
            Text(plain(one.hook), style="bold"),
            one.event,
            one.mode,
            Text(one.state, style=_STATES[one.state]),
            one.action or "-",
            "-" if one.p50_ms is None else f"{one.p50_ms:.3f}",
            "-" if one.max_ms is None else f"{one.max_ms:.3f}",
        )
    return table


def draw_problems(console: Console, found: Sequence[Finding]) -> None:
    """Print what is wrong with those that failed."""
    for one in found:
        if one.problem is not None:
            console.print(
                Text.assemble((f"{plain(one.hook)}: ", "bold red"), plain(one.problem)),
                soft_wrap=True,
            )


def draw_result(console: Console, result: ChainResult) -> None:
    """Print what each hook did, and what came of it."""
    if not result.runs:
        console.print(f"No hook listens to {result.payload.event.value} here.")
        return
    table = _table("Hook", "Action", "ms")
    for run in result.runs:
        table.add_row(Text(plain(run.hook), style="bold"), run.action, f"{run.ms:.3f}")
    console.print(table)
    if result.denied is not None:
        denied = f"{result.denied.code}: {plain(result.denied.reason)}"
        console.print(Text.assemble(("Denied ", "bold red"), denied), soft_wrap=True)
    for ask in result.asks:
        console.print(Text.assemble(("Asks: ", "bold yellow"), plain(ask.prompt)), soft_wrap=True)
    for name, value in result.delta.items():
        console.print(Text.assemble((f"{name}: ", "bold"), plain(str(value))), soft_wrap=True)
    if result.degraded:
        console.print(
            Text.assemble(("Failed, and passed over: ", "bold yellow"), ", ".join(result.degraded))
        )


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading.endswith("ms") else "left")
    return table
