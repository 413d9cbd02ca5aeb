"""Measure every bar of `bench/bars.py`, and say which no longer holds.

Run `make bench-check`, or `python -m bench.check --quick` for the ratios that small stores show, or
`--only NAME` for one bar (a name, or its part before the dot). Ratios are medians of nine pairs
measured by turns, in CPU time where one process does both; five per cent are noise. Seconds and
rates are judged as they would be in a good moment of the machine (`bench.pace`). What cannot be
measured here is said, and not counted as held; a million memories, for one, are measured only if
`python -m bench.recall --million` built their store. The exit code is 1 when a bar does not hold;
aims, which are not promised yet, are measured by name.
A run of all bars is kept under `bench/history`.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from statistics import fmean, median

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench import (
    beside,
    history,
    hooks,
    http,
    inspector,
    mcp,
    opening,
    paks,
    recall,
    report,
    select,
    shell,
    writes,
)
from bench.bars import AIMS, BARS, Promise
from bench.clock import CPU, WALL
from bench.pace import Pace
from bench.peer import PeerUnavailable
from bench.peers import __main__ as peers
from bench.peers import corpora
from bench.peers.bm25 import BM25
from bench.peers.findings import OURS
from bench.quality.cost import ROW as EXTRA_COST
from bench.quality.cost import extra_cost
from bench.quality.fit import leave_one_out
from bench.quality.rows import BESIDE, WITH_MINILM, beside_simple
from bench.quality.rows import measured as measured_beside
from bench.quality.sets import SETS, found_sets
from bench.quality.table import left_out
from bench.recall_report import Finding, RecallRun, Unit
from bench.recall_stores import STORES, built, path_of
from bench.report import Comparison
from recollect.embed import EmbedderMissing
from recollect.evaluation import DEFAULT_K, Run, judge
from recollect.evaluation import run as evaluate

__all__ = ["NOISE", "Outcome", "Row", "chosen", "judged", "measured"]

NOISE = 0.05


def _erases_in_place(one: Finding) -> bool:
    """Return whether a row can be judged here: older full texts are merged to erase one word."""
    return not one.what.startswith("forget beside") or sqlite3.sqlite_version_info >= (3, 42)


ROOT = Path(__file__).parent.parent
LOCOMO = Path(os.environ.get("RECOLLECT_LOCOMO", SETS / "locomo-dev"))
# The nearest ones: the others are further behind and take many minutes; `make bench` has them all.
NEAREST = ("BM25 (textbook)", "SQLite FTS5 (porter)", "static table (cosine)", "lancedb (hybrid)")

Values = dict[tuple[str, int], float]


class Outcome(StrEnum):
    """What came of a bar."""

    HOLDS = "holds"
    NOISE = "holds within noise"
    MISSED = "NO LONGER HOLDS"
    AHEAD = "aimed at, not reached"
    ABSENT = "not measured"
    BROKEN = "BROKE DOWN"


@dataclass(frozen=True)
class Row:
    """A bar and what was measured; `reason` says why nothing was."""

    name: str
    what: str
    size: int
    bar: str
    value: float | None
    shown: str
    outcome: Outcome
    reason: str = ""
    slowness: float = 1.0


def judged(
    promise: Promise, value: float | None, reason: str = "", *, slowness: float = 1.0
) -> Row:
    """Set a value beside its bar; the machine was so many times slower than at its best."""
    if promise.unit not in (Unit.SECONDS, Unit.RATE):
        slowness = 1.0
    scale = slowness if promise.bar.at_least else 1 / slowness
    outcome = Outcome.ABSENT if value is None else _outcome(promise, value * scale)
    return Row(
        name=promise.name,
        what=promise.row.strip(),
        size=promise.size,
        bar=promise.bar.shown(promise.unit),
        value=None if value is None else float(f"{value:.4g}"),
        shown="-" if value is None else promise.unit.shown(value),
        outcome=outcome,
        reason=reason if value is None else "",
        slowness=float(f"{slowness:.3g}"),
    )


def _outcome(promise: Promise, value: float) -> Outcome:
    bar = promise.bar
    margin = value / bar.limit if bar.at_least else bar.limit / max(value, 1e-12)
    if margin >= 1:
        return Outcome.HOLDS
    # How good an answer is does not depend on the weather.
    noise = 0.0 if promise.unit is Unit.SHARE else NOISE
    if margin >= 1 - noise:
        return Outcome.NOISE
    return Outcome.AHEAD if promise in AIMS else Outcome.MISSED


def chosen(names: Sequence[str], *, quick: bool) -> list[Promise]:
    """Return the bars to measure, all that are promised if none is named; aims by their names."""
    there = (*BARS, *AIMS)
    wanted = [one for one in there if {one.name, one.name.partition(".")[0]} & {*names}]
    wanted = wanted if names else list(BARS)
    if not wanted:
        known = ", ".join(one.name for one in there)
        raise SystemExit(f"No bar is called {' or '.join(names)}. Hint: there are {known}.")
    return [one for one in wanted if one.quick or not quick]


def measured(promises: Sequence[Promise], console: Console) -> Iterator[Row]:
    """Measure bench by bench; what a bench lacks is the reason that its bars have no value."""
    for bench in dict.fromkeys(one.bench for one in promises):
        wanted = [one for one in promises if one.bench == bench]
        console.print(f"{bench}: {len(wanted)} bars", style="dim")
        reason = "what it needs is not on this machine"
        try:
            with Pace() as pace:
                values = BENCHES[bench](wanted, console)
        except PeerUnavailable as error:
            values, reason = {}, str(error).splitlines()[0]
        except (RuntimeError, subprocess.CalledProcessError) as error:
            console.print(f"{bench} broke down: {error}")
            yield from (
                replace(judged(one, None, str(error)), outcome=Outcome.BROKEN) for one in wanted
            )
            continue
        for one in wanted:
            value = values.get((one.row, one.size))
            row = judged(one, value, reason, slowness=pace.slowness)
            # The whole takes most of an hour: what is known is told as soon as it is.
            console.print(f"  {row.name}: {row.shown}, {row.bar}: {row.outcome}", style="dim")
            yield row


def _catalogue(_: Sequence[Promise], console: Console) -> Values:
    return _by_pairs(paks.measure((100_000,), console).comparisons)


def _selection(_: Sequence[Promise], console: Console) -> Values:
    return _by_pairs(select.measure((100_000,), console).comparisons)


def _recalls(wanted: Sequence[Promise], console: Console) -> Values:
    sizes = sorted({one.size for one in wanted})
    if recall.MILLION in sizes and not path_of(recall.MILLION).exists():
        console.print("The store of a million is not there; python -m bench.recall --million")
        sizes.remove(recall.MILLION)
    with _bench(sizes, CPU, console) as bench:
        return _found([one for size in sizes for one in bench.recall(size)])


def _beside_words(_: Sequence[Promise], console: Console) -> Values:
    with _bench([], CPU, console) as bench:
        return _found(bench.beside_words(recall.THOUSAND))


def _beside_work(wanted: Sequence[Promise], _: Console) -> Values:
    values: Values = {}
    if any(one.size == recall.TEN for one in wanted):
        values |= _found(beside.in_threads(recall.TEN))
    if any(one.size == recall.HUNDRED for one in wanted):
        values |= _found(beside.in_processes(recall.HUNDRED))
    return values


def _beside_elfmem(_: Sequence[Promise], console: Console) -> Values:
    with _bench([10_000], CPU, console) as bench:
        return _found(bench.beside_peer(10_000))


def _remembering(_: Sequence[Promise], console: Console) -> Values:
    with _bench([1_000, 100_000], WALL, console) as bench:
        return _found([*bench.remember(), *bench.remember_many(100_000)])


def _links(_: Sequence[Promise], console: Console) -> Values:
    with _bench([100_000], CPU, console) as bench:
        return _found(bench.remember())


def _opening(wanted: Sequence[Promise], console: Console) -> Values:
    """Take the ratio in CPU time, and the seconds without a cache file from the wall."""
    values: Values = {}
    for clock, rows in (
        (WALL, [one.row for one in wanted if one.name != "open.warm"]),
        (CPU, [one.row for one in wanted if one.name == "open.warm"]),
    ):
        if rows:
            with _bench([100_000], clock, console) as bench:
                found = _found(bench.open(100_000))
            values |= {key: value for key, value in found.items() if key[0] in rows}
    return values


def _first_opening(_: Sequence[Promise], __: Console) -> Values:
    with tempfile.TemporaryDirectory(prefix="recollect-check-") as folder:
        return {(opening.ROW, opening.SIZE): opening.measured(Path(folder))}


def _access(_: Sequence[Promise], __: Console) -> Values:
    return _found(_of_its_own_process("policy", lambda _: True))


def _neighbours(_: Sequence[Promise], __: Console) -> Values:
    return _found(_of_its_own_process("neighbours", _erases_in_place))


def _node(_: Sequence[Promise], __: Console) -> Values:
    return _found(_of_its_own_process("node", lambda _: True))


def _of_its_own_process(bench: str, rows: Callable[[Finding], bool]) -> list[Finding]:
    """Measure in a process of its own: which clock it reads is decided when it starts."""
    with tempfile.TemporaryDirectory(prefix="recollect-check-") as folder:
        result = Path(folder) / "found.json"
        subprocess.run(
            [sys.executable, "-m", f"bench.{bench}", "--json", str(result)],
            cwd=ROOT,
            env={**os.environ, **CPU},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return [one for one in RecallRun.read(result).findings if rows(one)]


def _writes(wanted: Sequence[Promise], _: Console) -> Values:
    """Measure each kind of text in a process of its own, at the sizes that are wanted."""
    values: Values = {}
    with tempfile.TemporaryDirectory(prefix="recollect-check-") as folder:
        result = Path(folder) / "writes.json"
        for kind in dict.fromkeys(one.row.partition(":")[0] for one in wanted):
            size = max(one.size for one in wanted if one.row.startswith(kind))
            how = (
                ["--kind", kind, "--sizes", f"5000,{size}"] if kind in writes.KINDS else ["--crowd"]
            )
            subprocess.run(
                [sys.executable, "-m", "bench.writes", *how, "--json", str(result)],
                cwd=ROOT,
                env={**os.environ, **CPU},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            told = json.loads(result.read_text(encoding="utf-8"))
            values |= {(what, size): value for what, size, value in told}
    return values


def _shell(_: Sequence[Promise], __: Console) -> Values:
    return {(what, 0): times for what, times in shell.measure().items()}


def _http(_: Sequence[Promise], __: Console) -> Values:
    return {(what, 0): value for what, value in http.measure().items()}


def _inspector(_: Sequence[Promise], __: Console) -> Values:
    return {(what, inspector.SIZE): value for what, value in inspector.measure().items()}


def _mcp(_: Sequence[Promise], __: Console) -> Values:
    return {(what, 0): value for what, value in mcp.measure().items()}


def _hooks(_: Sequence[Promise], __: Console) -> Values:
    return _found(hooks.measure().findings)


def _quality(wanted: Sequence[Promise], console: Console) -> Values:
    values: Values = {}
    names = {one.row.partition(",")[0] for one in wanted}
    for corpus in corpora.corpora(LOCOMO):
        if corpus.name not in names:
            continue
        found = evaluate(corpus.task)
        numbers = _locomo(found) if corpus.kind == "locomo" else _over_plain(corpus, found)
        values |= {(f"{corpus.name}, {what}", 0): value for what, value in numbers.items()}
        if any("peers behind" in one.row for one in wanted) and corpus.kind == "locomo":
            share = _share_behind(corpus, console)
            if share is not None:
                values[f"{corpus.name}, peers behind on recall@10", 0] = share
    return values


def _simple(wanted: Sequence[Promise], _: Console) -> Values:
    """Set ours beside the simple rows, on every set that a bar names and that is here."""
    names = {one.row.partition(",")[0] for one in wanted}
    values: Values = {}
    for task in found_sets(only=sorted(names)).tasks:
        result = measured_beside(task)
        values[f"{task.name}, {BESIDE}", 0] = beside_simple(result)
        values[f"{task.name}, recall@10", 0] = result.ours.metrics["recall@10"]
    return values


def _locomo(found: Run) -> dict[str, float]:
    several = [one for one in found.outcomes if one.question.category == "1 multi-hop"]
    return {
        **{name: _mean(found, name) for name in ("recall@5", "recall@10", "recall@20", "mrr")},
        "recall@10 of multi-hop questions": fmean(one.metrics["recall@10"] for one in several),
        "median recall, k = 10": median(one.seconds[10] for one in found.outcomes),
    }


def _over_plain(corpus: corpora.Corpus, found: Run) -> dict[str, float]:
    """Return how many times plain BM25's means ours are."""
    (only,) = corpus.task.collections
    plain = BM25({one.arguments["pak_id"]: corpora.as_text(one.arguments) for one in only.items})
    judgements = [
        judge(question.gold, {k: plain.search(question.text, k) for k in DEFAULT_K})
        for question in only.questions
    ]
    return {
        f"{name} over plain BM25's": _mean(found, name) / fmean(one[name] for one in judgements)
        for name in ("recall@10", "recall@20", "mrr")
    }


def _share_behind(corpus: corpora.Corpus, console: Console) -> float | None:
    which = [one for one in peers.PEERS if one.name in (OURS, *NEAREST)]
    with (
        tempfile.TemporaryDirectory(prefix="recollect-check-") as folder,
        Progress(console=console, transient=True) as progress,
    ):
        rows, absent = peers.measure(which, [corpus], Path(folder), progress)
    missing = [f"{one.peer}: {one.reason}" for one in absent if one.peer in NEAREST]
    if missing:
        console.print("\n".join(missing))
        return None
    ahead = [one.ahead for one in rows if one.ahead is not None]
    return fmean(one > 0 for one in ahead)


def _mean(found: Run, name: str) -> float:
    return fmean(one.metrics[name] for one in found.outcomes)


def _transformer(wanted: Sequence[Promise], _: Console) -> Values:
    """Measure with the model of the extra, where it is installed."""
    names = sorted({one.row.partition(",")[0] for one in wanted})
    values: Values = {}
    try:
        if any(one.row == EXTRA_COST for one in wanted):
            values[EXTRA_COST, 0] = extra_cost()
        for task in found_sets(only=names).tasks:
            result = measured_beside(task, embedder="minilm", simply_too=False)
            values[f"{task.name}, {WITH_MINILM}", 0] = result.ours.metrics["recall@10"]
    except EmbedderMissing as error:
        raise PeerUnavailable(str(error)) from error
    return values


def _left_out(wanted: Sequence[Promise], _: Console) -> Values:
    """Fit on four conversations, measure the fifth; with the model too if that is asked for."""
    values: Values = {}
    for model in ("", ", with minilm"):
        rows = [one.row for one in wanted if one.row.endswith(", with minilm") is bool(model)]
        for task in found_sets(only=["locomo-dev"] if rows else ["none"]).tasks:
            try:
                fitted = list(leave_one_out(task, "minilm" if model else None))
            except EmbedderMissing:
                continue
            for what, metric, kind in (
                ("recall@10", "recall@10", None),
                ("mrr", "mrr", None),
                ("recall@10 of multi-hop questions", "recall@10", "1 multi-hop"),
            ):
                row = f"{task.name}, left one out, {what}{model}"
                values[row, 0] = left_out(fitted, metric, kind)
    return values


BENCHES: Mapping[str, Callable[[Sequence[Promise], Console], Values]] = {
    "paks": _catalogue,
    "select": _selection,
    "recall": _recalls,
    "words": _beside_words,
    "beside": _beside_work,
    "elfmem": _beside_elfmem,
    "remember": _remembering,
    "links": _links,
    "open": _opening,
    "opening": _first_opening,
    "shell": _shell,
    "http": _http,
    "inspector": _inspector,
    "mcp": _mcp,
    "policy": _access,
    "writes": _writes,
    "neighbours": _neighbours,
    "node": _node,
    "hooks": _hooks,
    "quality": _quality,
    "simple": _simple,
    "transformer": _transformer,
    "left-out": _left_out,
}


@contextmanager
def _bench(
    sizes: Sequence[int], clock: Mapping[str, str], console: Console
) -> Iterator[recall.Bench]:
    with Progress(console=console, transient=True, refresh_per_second=1) as progress:
        stores = {size: built(size) for size in sizes}
        STORES.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="recollect-check-", dir=STORES) as scratch:
            yield recall.Bench(stores, Path(scratch), progress, clock)


def _by_pairs(comparisons: Sequence[Comparison]) -> Values:
    return {(one.operation, one.size): one.quartiles[1] for one in comparisons}


def _found(findings: Sequence[Finding] | Iterator[Finding]) -> Values:
    return {(one.what, one.size): one.value for one in findings}


def show(rows: Sequence[Row], console: Console) -> None:
    """Print the table, worst news last, and a line that sums it up."""
    styles = {
        Outcome.MISSED: "bold red",
        Outcome.BROKEN: "bold red",
        Outcome.ABSENT: "dim",
        Outcome.AHEAD: "yellow",
        Outcome.NOISE: "yellow",
    }
    table = Table(title="Every bar that was promised")
    numbers = ("size", "measured", "machine")
    for heading in ("bar", "what", "size", "promised", "measured", "machine", "verdict"):
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for row in rows:
        verdict = (
            f"{row.outcome}: {row.reason}" if row.reason and row.value is None else row.outcome
        )
        machine = f"{row.slowness:.2f}x slow" if row.slowness > 1 else ""
        cells = (row.name, row.what, f"{row.size:,}", row.bar, row.shown, machine, verdict)
        table.add_row(*cells, style=styles.get(row.outcome, ""))
    console.print(table)
    counts = {outcome: sum(row.outcome is outcome for row in rows) for outcome in Outcome}
    console.print(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count))


def main() -> None:
    """Measure, print, keep; the exit code says whether every measured bar holds."""
    parser = argparse.ArgumentParser(prog="python -m bench.check", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="ratios of small stores only")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this bar")
    parser.add_argument("--json", action="store_true", help="print the run as JSON")
    options = parser.parse_args()
    promises = chosen(options.only, quick=options.quick)
    others = recall.OtherJobs()
    rows = list(measured(promises, Console(stderr=True)))
    left_out = [one for one in chosen(options.only, quick=False) if one not in promises]
    rows += [judged(one, None, "left out of a quick check") for one in left_out]
    kept = history.facts(quick=options.quick, others=others.cores())
    kept["rows"] = [asdict(row) for row in rows]
    if not options.only:
        print(f"kept as {history.keep(kept)}", file=sys.stderr)
    if options.json:
        print(json.dumps(kept, indent=1))
    else:
        show(rows, Console() if sys.stdout.isatty() else Console(width=170))
        print(f"{report.now()}; other jobs kept {kept['others']:.2f} cores busy meanwhile")
    sys.exit(any(row.outcome in (Outcome.MISSED, Outcome.BROKEN) for row in rows))


if __name__ == "__main__":
    main()
