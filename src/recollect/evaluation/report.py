"""A run as one page of HTML: numbers with their bounds, plots, and what was missed.

In: a run and its numbers. Out: a file that needs nothing else: no script, no style or picture from
elsewhere. All words come from outside, and each of them is escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.evaluation.misses import FEW, Miss, misses
from recollect.evaluation.runner import Outcome, Run
from recollect.evaluation.summary import Estimate, Summary

__all__ = ["report", "write_report"]

_WIDTH, _ROW, _LABEL, _NUMBER = 640, 26, 170, 60
_SHOWN_MISSES = 200
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem;
  border-bottom: 1px solid #d8dee4; vertical-align: top; } td.n, th.n { text-align: right; }
svg { width: 100%; height: auto; } .bar { fill: #2f81f7; } .bound { stroke: #1b1f24; }
.axis { stroke: #d8dee4; } text { font-size: 12px; fill: currentColor; }
.note { color: #57606a; } .warning { background: #fff8c5; padding: .5rem .8rem; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; }
  .bound { stroke: #e6edf3; } .axis { stroke: #30363d; } th, td { border-color: #30363d; }
  .warning { background: #3a2f00; } .note { color: #9198a1; } }
"""


def write_report(run: Run, numbers: Summary, path: Path) -> None:
    """Write a run as a page of HTML."""
    try:
        path.write_text(report(run, numbers), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}.", hint="name a file in a folder of yours."
        ) from error


def report(run: Run, numbers: Summary) -> str:
    """Return a run as a page of HTML."""
    title = escape(f"Recall on {numbers.task}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy"'
        " content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n" + "\n".join(_sections(run, numbers)) + "\n</body>\n</html>\n"
    )


def _sections(run: Run, numbers: Summary) -> Iterator[str]:
    model = escape(numbers.model_id or "none")
    yield (
        f'<p class="note">{numbers.questions:,} questions, {numbers.memories:,} memories in'
        f" {numbers.stores:,} stores; vectors of {model}.</p>"
    )
    if numbers.questions < FEW:
        yield (
            f'<p class="warning">Only {numbers.questions:,} questions: one of them moves a mean by'
            f" {1 / numbers.questions:.2f}. Read the bounds, not the means.</p>"
        )
    yield "<h2>How much of the answer is among the first k</h2>"
    shares = [(f"recall@{k}", numbers.metrics[f"recall@{k}"]) for k in numbers.k]
    others = [("MRR", numbers.metrics["mrr"]), ("nDCG@10", numbers.metrics["ndcg@10"])]
    yield _bars([*shares, *others])
    if numbers.categories:
        yield f"<h2>recall@{max(numbers.k)} by category</h2>"
        yield _bars(_by_category(numbers))
    yield "<h2>Where the first right answer stands</h2>"
    yield _histogram(run.outcomes, max(run.k))
    yield "<h2>What an answer costs</h2>"
    yield _costs(numbers)
    yield from _missed(misses(run))


def _by_category(numbers: Summary) -> list[tuple[str, Estimate]]:
    metric = f"recall@{max(numbers.k)}"
    return [
        (f"{name} ({one.questions:,})", Estimate(one.metrics[metric], *[one.metrics[metric]] * 2))
        for name, one in numbers.categories.items()
    ]


def _bars(rows: Sequence[tuple[str, Estimate]]) -> str:
    """Return shares from 0 to 1 as bars, with a line for their bounds."""
    span = _WIDTH - _LABEL - _NUMBER
    parts = [f'<line class="axis" x1="{_LABEL}" y1="0" x2="{_LABEL}" y2="{len(rows) * _ROW}"/>']
    for number, (name, one) in enumerate(rows):
        top, middle = number * _ROW + 4, number * _ROW + _ROW / 2
        low, high = _LABEL + one.low * span, _LABEL + one.high * span
        parts += [
            f'<text x="{_LABEL - 8}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="bar" x="{_LABEL}" y="{top}" width="{one.mean * span:.1f}"'
            f' height="{_ROW - 8}" rx="2"/>',
            f'<line class="bound" x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" y2="{middle}"/>',
            f'<text x="{_WIDTH - _NUMBER + 8}" y="{middle + 4}">{one.mean:.3f}</text>',
        ]
    return _svg(parts, len(rows) * _ROW)


def _histogram(outcomes: Iterable[Outcome], deepest: int) -> str:
    """Return how many questions have their first right answer at each rank, or nowhere."""
    ranks = Counter(_first_rank(outcome, deepest) for outcome in outcomes)
    names = [*(str(rank) for rank in range(1, min(deepest, 10) + 1)), "later", "not there"]
    counts = [ranks.get(name, 0) for name in names]
    most, height, width = max(counts) or 1, 120, _WIDTH / len(names)
    parts = [f'<line class="axis" x1="0" y1="{height}" x2="{_WIDTH}" y2="{height}"/>']
    for number, (name, count) in enumerate(zip(names, counts, strict=True)):
        tall, left = (height - 16) * count / most, number * width
        middle = f"{left + width / 2:.1f}"
        parts += [
            f'<rect class="bar" x="{left + 4:.1f}" y="{height - tall:.1f}"'
            f' width="{width - 8:.1f}" height="{tall:.1f}"/>',
            f'<text x="{middle}" y="{height - tall - 4:.1f}" text-anchor="middle">{count:,}</text>',
            f'<text x="{middle}" y="{height + 15}" text-anchor="middle">{escape(name)}</text>',
        ]
    return _svg(parts, height + 22)


def _first_rank(outcome: Outcome, deepest: int) -> str:
    for rank, name in enumerate(outcome.ranked[deepest], start=1):
        if name in outcome.question.gold:
            return str(rank) if rank <= 10 else "later"
    return "not there"


def _costs(numbers: Summary) -> str:
    rows = "".join(
        f'<tr><td class="n">{k}</td><td class="n">{cost.p50_ms:.2f}</td>'
        f'<td class="n">{cost.p95_ms:.2f}</td><td class="n">{cost.tokens:,.0f}</td></tr>'
        for k, cost in numbers.costs.items()
    )
    heads = "".join(f'<th class="n">{name}</th>' for name in ("k", "p50 ms", "p95 ms", "tokens"))
    return f"<table><tr>{heads}</tr>{rows}</table>"


def _missed(found: Sequence[Miss]) -> Iterator[str]:
    yield f"<h2>Missed: {len(found):,}</h2>"
    if not found:
        yield '<p class="note">All answers are among the first ten.</p>'
        return
    rows = "".join(_missed_row(miss) for miss in found[:_SHOWN_MISSES])
    yield f"<table><tr><th>Question</th><th>Not found</th><th>Came first</th></tr>{rows}</table>"
    if len(found) > _SHOWN_MISSES:
        yield f'<p class="note">And {len(found) - _SHOWN_MISSES:,} more.</p>'


def _missed_row(miss: Miss) -> str:
    which = f"{miss.question_id}{f', {miss.category}' if miss.category else ''}"
    note = f'<br><span class="note">{escape(which)}{", in part" if miss.is_partial else ""}</span>'
    return (
        f"<tr><td>{escape(miss.question)}{note}</td><td>{escape(', '.join(miss.missing))}</td>"
        f"<td>{escape(', '.join(miss.came))}</td></tr>"
    )


def _svg(parts: Iterable[str], height: float) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">{"".join(parts)}</svg>'
