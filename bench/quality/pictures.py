"""Bars for people: what everybody finds of each set, drawn from what `bench.quality` measured.

Run `python -m bench.quality --json > run.json`, then `python -m bench.quality.pictures run.json
--out docs/pictures/quality.svg`. A second file, of a run with `--embedder`, adds its row. In: JSON.
Out: one SVG, the same bytes for the same numbers; nothing is fetched and no library draws.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from bench.quality.rows import OURS

__all__ = ["Bars", "bars_of", "drawn"]

_WIDTH, _LEFT, _RIGHT, _TOP, _LEGEND = 760, 170, 70, 26, 26
_BAR, _GAP, _BETWEEN = 11, 2, 14
# Ours stands out; the rest are shades that also differ in print.
_OURS, _MORE = "#0b6e4f", "#5bb89a"
_OTHERS = ("#3f4d63", "#7c8aa3", "#a9b3c4", "#cfd6e0")
_PAPER, _INK, _LINE = "#ffffff", "#1c2430", "#d9dee6"
_FONT = "font-family='Helvetica, Arial, sans-serif'"


@dataclass(frozen=True)
class Bars:
    """One set: how many questions, and everybody's share, ours first."""

    name: str
    questions: int
    shares: Mapping[str, float]


def bars_of(run: Mapping[str, Any], more: Sequence[Mapping[str, Any]] = ()) -> list[Bars]:
    """Return the bars of a run; our row of other runs is named after their embedder."""
    return [_bars(one, more) for one in run["sets"]]


def _bars(result: Mapping[str, Any], more: Sequence[Mapping[str, Any]]) -> Bars:
    shares = {row["name"]: row["metrics"]["recall@10"] for row in result["rows"]}
    ours = {OURS: shares.pop(OURS)}
    for run in more:
        for one in run["sets"]:
            if one["name"] == result["name"]:
                embedder = f"{OURS}, {run['embedder'].partition(':')[0]}"
                ours[embedder] = one["rows"][0]["metrics"]["recall@10"]
    return Bars(result["name"], result["questions"], ours | shares)


def drawn(bars: Sequence[Bars]) -> str:
    """Return the picture as SVG."""
    names = list(dict.fromkeys(name for one in bars for name in one.shares))
    names.sort(key=lambda name: not name.startswith(OURS))
    colours = dict(zip(names, _colours(names), strict=True))
    height = _TOP + _LEGEND + sum(_height(one) for one in bars)
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{height}'"
        f" viewBox='0 0 {_WIDTH} {height}' role='img' aria-label='recall@10 of each set'>",
        f"<rect width='{_WIDTH}' height='{height}' fill='{_PAPER}'/>",
        *_legend(colours),
        *_grid(height),
    ]
    top = _TOP + _LEGEND
    for one in bars:
        lines += _group(one, top, colours)
        top += _height(one)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _colours(names: Sequence[str]) -> Iterator[str]:
    others = iter(_OTHERS * len(names))
    for name in names:
        yield _OURS if name == OURS else _MORE if name.startswith(OURS) else next(others)


def _height(one: Bars) -> int:
    return len(one.shares) * (_BAR + _GAP) + _BETWEEN


def _legend(colours: Mapping[str, str]) -> Iterator[str]:
    left = 12
    for name, colour in colours.items():
        yield f"<rect x='{left}' y='12' width='11' height='11' fill='{colour}'/>"
        yield _text(left + 16, 22, name, size=12)
        left += 34 + 7 * len(name)


def _grid(height: int) -> Iterator[str]:
    for tenth in range(0, 11, 2):
        across = _across(tenth / 10)
        yield (
            f"<line x1='{across}' y1='{_TOP + 8}' x2='{across}' y2='{height - 6}'"
            f" stroke='{_LINE}' stroke-width='1'/>"
        )
        yield _text(across, _TOP + 18, f"{tenth / 10:.1f}", size=10, anchor="middle")


def _group(one: Bars, top: int, colours: Mapping[str, str]) -> Iterator[str]:
    middle = top + _height(one) // 2 - 2
    yield _text(_LEFT - 10, middle, f"{one.name} ({one.questions:,})", size=12, anchor="end")
    best = max(one.shares.values())
    for at, (name, share) in enumerate(one.shares.items()):
        across, down = _across(0.0), top + at * (_BAR + _GAP)
        length = _across(share) - across
        yield (
            f"<rect x='{across}' y='{down}' width='{length:.1f}' height='{_BAR}'"
            f" fill='{colours[name]}'><title>{escape(name)}: {share:.3f}</title></rect>"
        )
        weight = "bold" if share == best else "normal"
        shown = f"{share:.3f}".removeprefix("0")
        yield _text(across + length + 5, down + _BAR - 1, shown, size=10, weight=weight)


def _across(share: float) -> float:
    return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


def _text(
    x: float, y: float, text: str, *, size: int, anchor: str = "start", weight: str = "normal"
) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}'"
        f" font-weight='{weight}' fill='{_INK}' {_FONT}>{escape(text)}</text>"
    )


def main() -> None:
    """Draw the files that are named."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.pictures", description=__doc__)
    parser.add_argument("run", type=Path, help="what bench.quality --json printed")
    parser.add_argument("more", type=Path, nargs="*", help="the same with other embedders")
    parser.add_argument("--out", type=Path, required=True, metavar="SVG", help="where to draw")
    options = parser.parse_args()
    run, *more = (
        json.loads(path.read_text(encoding="utf-8")) for path in (options.run, *options.more)
    )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(drawn(bars_of(run, more)), encoding="utf-8")
    print(f"drawn to {options.out}")


if __name__ == "__main__":
    main()
