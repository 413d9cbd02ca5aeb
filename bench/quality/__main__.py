"""Recall quality on every set that is here, beside bm25s, stemmed BM25, the static cosine, both.

Run `python -m bench.quality`, with `--only SET` for one of them. Sets are the repository's notes
and pages, and those in the folder that `--sets` or RECOLLECT_SETS names. The exit code is 1 where a
simple row is ahead of us by more than .01 or one question, whichever is more. `--leave-one-out`,
`--choose` and `--ablate` take ours apart and judge nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from bench import report
from bench.quality.ablate import ablated
from bench.quality.choose import chosen
from bench.quality.fit import leave_one_out
from bench.quality.match import matches
from bench.quality.rows import SetResult, keeps_up, measured
from bench.quality.sets import CONVERSATIONS, SETS, found_sets
from bench.quality.table import show, show_ablated, show_chosen, show_left_out
from recollect.evaluation import Task


def main() -> None:
    """Measure, print, and say by the exit code whether we kept up."""
    options = _options()
    screen = Console() if sys.stdout.isatty() else Console(width=140)
    found = found_sets(options.sets, options.only)
    if options.match:
        matches(found.tasks)
        return
    if options.choose:
        show_chosen(list(chosen(found.tasks)), screen)
        return
    if options.leave_one_out or options.ablate:
        _taken_apart(options, found.tasks, screen)
        return
    results: list[SetResult] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        todo = progress.add_task("start", total=len(found.tasks))
        for task in found.tasks:
            progress.update(todo, description=task.name)
            results.append(measured(task, embedder=options.embedder, simply_too=not options.alone))
            progress.advance(todo)
    if options.json:
        print(json.dumps(_kept(results, found.absent, options.embedder), indent=1))
    else:
        show(results, screen)
        for name in found.absent:
            print(f"{name} is not here: it was looked for in {options.sets}")
    sys.exit(not all(map(keeps_up, results)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("--sets", type=Path, default=SETS, metavar="DIR", help="where sets are")
    parser.add_argument("--only", action="append", default=[], metavar="SET", help="only this set")
    parser.add_argument("--embedder", metavar="SPEC", help="ours with this embedder")
    parser.add_argument("--match", action="store_true", help="how good a first answer is")
    parser.add_argument("--alone", action="store_true", help="ours without the simple rows")
    parser.add_argument("--json", action="store_true", help="print the run as JSON")
    parser.add_argument(
        "--leave-one-out",
        action="store_true",
        help="fit the table of turns on all conversations of a set but one, measure that one",
    )
    parser.add_argument(
        "--choose",
        action="store_true",
        help="choose the shares of notes and messages on all sets but one, measure that one",
    )
    parser.add_argument("--ablate", action="store_true", help="measure without each stage")
    return parser.parse_args()


def _taken_apart(options: argparse.Namespace, tasks: Sequence[Task], screen: Console) -> None:
    """Say what is found with tables of other conversations, or without each stage."""
    for task in tasks:
        if options.ablate:
            show_ablated(task.name, list(ablated(task)), screen)
        elif task.name in CONVERSATIONS:
            show_left_out(task.name, list(leave_one_out(task, options.embedder)), screen)


def _kept(
    results: list[SetResult], absent: tuple[str, ...], embedder: str | None
) -> dict[str, Any]:
    return {
        "bench": "quality",
        "taken_at": report.now(),
        "commit": report.commit(),
        "embedder": embedder or "static",
        "sets": [one.to_dict() for one in results],
        "absent": list(absent),
    }


if __name__ == "__main__":
    main()
