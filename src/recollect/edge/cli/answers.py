"""What people see of the engine's answers: recalls as tables, what was left out as sentences.

In: the engine's values. Out: drawn text, stored text shown and never obeyed. Degraded, empty and
left out are three different sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.drawing import plain
from recollect.model import (
    Dropped,
    Forgotten,
    FrameDefinition,
    FrameResult,
    Memory,
    RecallResponse,
    RecallResult,
    Weights,
)

__all__ = [
    "card",
    "erased",
    "facts",
    "frame_notes",
    "frames",
    "instructions",
    "makings",
    "notes",
    "nothing",
    "recipe",
    "refusal",
    "results",
]

_SHOWN_CHARS = 280
_SHOWN_IDS = 20
_BAR = 8


def results(answer: RecallResponse) -> Table:
    """Return an answer as a table: rank, score, text with its id and the reasons below."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", leading=1)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("Score", no_wrap=True, width=_BAR)
    table.add_column("Memory, and why", overflow="fold")
    for rank, result in enumerate(answer.results, start=1):
        fact = result.fact
        table.add_row(
            Text(str(rank), style="dim"),
            _scored(result.score),
            Text.assemble(
                _shortened(fact.content),
                *_careful(result),
                ("\n" + plain("; ".join(result.why)), "cyan"),
                ("\n" + plain(fact.pak_id), "dim"),
            ),
        )
    return table


def instructions(answer: RecallResponse) -> Group:
    """Return what tells a model what to do: never among the results, and said apart."""
    parts = [Text("Instructions", style="bold underline")]
    for one in answer.instructions:
        told = Text.assemble(_shortened(one.fact.content), *_careful(one))
        parts.append(Text.assemble(told, ("\n" + plain(one.fact.pak_id), "dim")))
    return Group(*parts)


def makings(result: RecallResult, weights: Weights) -> Group:
    """Return what one score is made of: each signal times its weight."""
    grid = _grid(6)
    shares = asdict(weights)
    for name, share in shares.items():
        value = getattr(result.signals, name)
        grid.add_row(
            Text(name),
            ProgressBar(total=1.0, completed=value, width=_BAR),
            Text(f"{value:.3f}", style="green"),
            Text(f"x {share:.2f}", style="dim"),
            Text(f"= {value * share:.3f}"),
            Text(_sources(result) if name == "similarity" else "", style="dim"),
        )
    grid.add_row("", "", "", Text("score", style="dim"), Text(f"= {result.score:.3f}", "bold"), "")
    title = Text.assemble(
        (plain(result.fact.pak_id), "bold"),
        *_careful(result),
        "\n",
        plain("; ".join(result.why)),
    )
    return Group(title, Padding(grid, (0, 0, 0, 2)))


def nothing(answer: RecallResponse, memories: int) -> str:
    """Say why an answer has no results."""
    if denied := refusal(answer.meta):
        return denied
    if memories == 0:
        return "This memory is empty: nothing was remembered in it yet."
    if any(one.stage == "budget" for one in answer.dropped):
        return "Nothing fits: there are matches, but none within the budget."
    return f"No match among {_counted(memories, 'memory', 'memories')}."


def refusal(meta: Mapping[str, Any]) -> str | None:
    """Return the sentence for an answer that a hook refused, None for any other."""
    for denied in meta.get("diagnostic", {}).values():
        return f"Denied by a hook ({denied['code']}): {plain(denied['reason'])}"
    return None


def notes(
    degraded: Sequence[str], dropped: Sequence[Dropped], meta: Mapping[str, Any]
) -> Iterator[Text]:
    """Say which sources and hooks were missing, and what was left out for which reason."""
    hooks = {run["hook"] for run in meta.get("hooks", ())}
    sources = [name for name in degraded if name not in hooks]
    failed = [name for name in degraded if name in hooks]
    if sources:
        yield Text.assemble(
            ("Degraded: ", "bold yellow"),
            f"{', '.join(sources)}. Not everything could be compared by meaning; words still"
            " count. `recollect stats` tells how many memories wait for a vector.",
        )
    if failed:
        yield Text.assemble(
            ("Degraded: ", "bold yellow"),
            f"{plain(', '.join(failed))}. A hook failed and was passed over; `recollect hooks"
            " doctor` tells why.",
        )
    if dropped:
        yield Text.assemble(("Left out: ", "bold"), "; ".join(_left_out(dropped)) + ".")


def frame_notes(result: FrameResult) -> Iterator[Text]:
    """Say how much a frame's text holds, and what it does not."""
    size = f"{result.tokens_used:,} of {result.token_budget:,} tokens"
    if result.blocks:
        count = _counted(len(result.blocks), "memory", "memories")
        yield Text(f"Frame {plain(result.frame_name)}: {count}, {size}.", style="dim")
    else:
        why = refusal(result.meta) or "nothing to show, so the text is empty."
        yield Text(f"Frame {plain(result.frame_name)}: {why}")
    if result.over_budget:
        yield Text.assemble(
            ("Over budget: ", "bold yellow"),
            f"guaranteed memories alone need {size}.",
        )
    yield from notes(result.degraded, result.dropped, result.meta)


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


def erased(target: str, gone: Forgotten) -> Text:
    """Say what was erased, and whether its bytes are gone as well."""
    if not gone:
        return Text(f"There was nothing to forget about {plain(target)}.")
    lines = [f"Forgot {plain(gone.pak_ids[0])}."]
    if gone.pak_ids != (target,):
        count = _counted(len(gone.pak_ids), "memory", "memories")
        lines = [f"Forgot {count} about {plain(target)}:"]
        lines += [f"  {plain(pak_id)}" for pak_id in gone.pak_ids[:_SHOWN_IDS]]
        if len(gone.pak_ids) > _SHOWN_IDS:
            lines.append(f"  and {len(gone.pak_ids) - _SHOWN_IDS:,} more; --json names them all")
    if gone.edges:
        lines.append(f"{_counted(gone.edges, 'link', 'links')} went along.")
    if not gone.wiped:
        lines.append(
            "Another process is reading the file: old bytes stay in its log until that is done."
        )
    return Text("\n".join(lines))


def facts(fields: Mapping[str, object]) -> Table:
    """Return names and values, one a line."""
    grid = _grid(2)
    for name, value in fields.items():
        grid.add_row(Text(name, style="dim"), Text(plain(_worded(value))))
    return grid


def frames(definitions: Iterable[FrameDefinition]) -> Table:
    """Return the frames as a table; the five weights stand in the order of the formula."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("Frame", overflow="fold")
    table.add_column("Sim  Conf Rec  Cent Reinf", no_wrap=True)
    table.add_column("Tokens", justify="right", no_wrap=True)
    table.add_column("Tags", overflow="fold")
    for one in definitions:
        table.add_row(
            Text.assemble((plain(one.name), "bold"), "\n", (one.source, "dim")),
            Text(" ".join(f"{share:.2f}" for share in asdict(one.weights).values()), "green"),
            Text(f"{one.token_budget:,}"),
            Text(
                plain(
                    "\n".join(
                        [
                            *(f"only {pattern}" for pattern in one.filters.tag_patterns),
                            *(f"always {pattern}" for pattern in one.guarantees),
                        ]
                    )
                )
            ),
        )
    return table


def recipe(one: FrameDefinition, extends: str | None) -> Group:
    """Return one frame in full."""
    grid = _grid(3)
    for name, share in asdict(one.weights).items():
        bar = ProgressBar(total=1.0, completed=share, width=_BAR)
        grid.add_row(Text(name), bar, Text(f"{share:.2f}", style="green"))
    window = one.filters.search_window_hours
    rest = {
        "extends": extends or "-",
        "template": one.template,
        "token_budget": f"{one.token_budget:,}",
        "guarantees": one.guarantees,
        "tag_patterns": one.filters.tag_patterns,
        "categories": one.filters.categories,
        "window": "none" if window is None else f"{window:g} active hours",
        "cache": f"{one.cache.ttl_seconds:,} s" if one.cache else "none",
        "ends_cache": one.cache.invalidate_on if one.cache else (),
    }
    return Group(
        Text.assemble((plain(one.name), "bold"), "  ", (one.source, "dim")),
        Padding(grid, (1, 0, 1, 2)),
        Padding(facts(rest), (0, 0, 0, 2)),
    )


def _careful(result: RecallResult) -> list[tuple[str, str]]:
    """Return a line that names what is suspicious about a text, if anything is."""
    if not result.risk:
        return []
    return [(f"\nCareful, read it as data: {', '.join(result.risk)}", "bold yellow")]


def _scored(score: float) -> RenderableType:
    bar = ProgressBar(total=1.0, completed=min(score, 1.0), width=_BAR)
    return Group(Text(f"{score:.3f}", style="green"), bar)


def _sources(result: RecallResult) -> str:
    signals = result.signals
    parts = [
        ("words", signals.lexical),
        ("meaning", signals.semantic),
        ("nearby", signals.nearby),
        ("thread", signals.thread),
        ("speaker", signals.speaker),
        ("date", signals.date),
        ("time words", signals.time_words),
    ]
    return ", ".join(f"{name} {value:.3f}" for name, value in parts if value is not None)


def _left_out(dropped: Sequence[Dropped]) -> Iterator[str]:
    """Count those with the same reason; one alone is named."""
    reasons = Counter((one.stage, one.reason) for one in dropped)
    for (stage, reason), count in reasons.items():
        if count > 1:
            yield f"{count} {plain(reason)}"
        else:
            alone = next(one for one in dropped if (one.stage, one.reason) == (stage, reason))
            yield f"{plain(alone.pak_id)}, {plain(reason)}"


def _shortened(text: str) -> str:
    line = plain(" ".join(text[: 2 * _SHOWN_CHARS].split()))
    return line if len(line) <= _SHOWN_CHARS else line[:_SHOWN_CHARS].rsplit(" ", 1)[0] + " …"


def _worded(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, float):
        return f"{value:g}"
    return "-" if value is None else str(value)


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, 2))
    for _ in range(columns):
        grid.add_column(overflow="fold")
    return grid
