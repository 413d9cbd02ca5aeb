"""What people see of a recall: answers as tables, what was left out as sentences.

In: the engine's values. Out: drawn text, stored text shown and never obeyed. Degraded, empty and
left out are three different sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import bar, count_of, empty_grid, plain, shortened
from recollect.edge.cli.views.piped import BAR
from recollect.edge.cli.views.words import (
    CLOSEST,
    SHOWN_CHARS,
    careful,
    is_all_weak,
    left_out,
    marks,
    told,
)
from recollect.model import Dropped, RecallResponse, RecallResult, Weights

__all__ = [
    "CLOSEST",
    "instructions",
    "is_all_weak",
    "kept",
    "notes",
    "nothing",
    "refusal",
    "results",
    "signal_parts",
]

# What an answer declares to write, and what is said when that could not be written.
_NOT_WRITTEN = {
    "reinforcement": "That these memories were used could not be counted.",
    "receipt": "No receipt of this answer could be kept.",
}


def results(answer: RecallResponse) -> Table:
    """Return an answer as a table: rank, score, text with its id and the reasons below."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", leading=1)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("Score", no_wrap=True, width=BAR)
    table.add_column("Memory, and why", overflow="fold")
    for rank, result in enumerate(answer.results, start=1):
        table.add_row(
            Text(str(rank), style="dim"),
            _scored(result.score),
            Text.assemble(*told(result)),
        )
    return table


def instructions(answer: RecallResponse) -> Group:
    """Return what tells a model what to do: never among the results, and said apart."""
    parts = [Text("Instructions", style="bold underline")]
    for one in answer.instructions:
        told = Text.assemble(shortened(one.fact.content, SHOWN_CHARS), *careful(one))
        parts.append(Text.assemble(told, ("\n" + plain(one.fact.pak_id), "dim")))
    return Group(*parts)


def kept(recall_id: str) -> Text:
    """Say by which id an answer can be looked at again."""
    return Text(f"Receipt: recollect why {plain(recall_id)}", style="dim")


def signal_parts(result: RecallResult, weights: Weights) -> Group:
    """Return what one score is made of: each signal times its weight."""
    grid = empty_grid(6)
    shares = asdict(weights)
    for name, share in shares.items():
        value = getattr(result.signals, name)
        grid.add_row(
            Text(name),
            bar(value, width=BAR),
            Text(f"{value:.3f}", style="green"),
            Text(f"x {share:.2f}", style="dim"),
            Text(f"= {value * share:.3f}"),
            Text(_sources(result) if name == "similarity" else "", style="dim"),
        )
    grid.add_row("", "", "", Text("score", style="dim"), Text(f"= {result.score:.3f}", "bold"), "")
    title = Text.assemble(
        (plain(result.fact.pak_id), "bold"),
        *marks(result),
        *careful(result),
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
    if any(one.stage == "min_score" for one in answer.dropped):
        return "Nothing fits: there are matches, but none scores enough."
    if any(one.stage == "min_match" for one in answer.dropped):
        return "Nothing matches well: there are memories, but none fits as well as was asked for."
    if any(one.stage == "budget" for one in answer.dropped):
        return "Nothing fits: there are matches, but none within the budget."
    return f"No match among {count_of(memories, 'memory', 'memories')}."


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
    sources = [name for name in degraded if name not in (*hooks, *_NOT_WRITTEN)]
    failed = [name for name in degraded if name in hooks]
    if sources:
        yield Text.assemble(
            ("Degraded: ", "bold yellow"),
            f"{', '.join(sources)}. Not everything could be compared by meaning; words still"
            " count. `recollect stats` tells how many memories wait for a vector.",
        )
    for name, lost in _NOT_WRITTEN.items():
        if name in degraded:
            yield Text.assemble(("Degraded: ", "bold yellow"), f"{name}. {lost}")
    if failed:
        yield Text.assemble(
            ("Degraded: ", "bold yellow"),
            f"{plain(', '.join(failed))}. A hook failed and was passed over; `recollect hooks"
            " doctor` tells why.",
        )
    if dropped:
        yield Text.assemble(("Left out: ", "bold"), left_out(dropped))


def _scored(score: float) -> RenderableType:
    return Group(Text(f"{score:.3f}", style="green"), bar(score, width=BAR))


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
