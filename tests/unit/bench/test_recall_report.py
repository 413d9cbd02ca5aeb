from __future__ import annotations

import io
from pathlib import Path

import pytest
from bench.recall_report import (
    Bar,
    Finding,
    Growth,
    RecallRun,
    Unit,
    markdown,
    middle_half,
    ratio,
    show,
    single,
)
from bench.report import Verdict
from rich.console import Console


def a_run(*findings: Finding) -> RecallRun:
    return RecallRun(
        taken_at="2026-05-11T12:00:00Z",
        commit="abc123",
        others=0.1,
        machine={"cpu": "Some CPU"},
        versions={"recollect": "0.1.0", "elfmem": "0.20.0"},
        findings=findings,
        growth=(Growth(1000, 0.001, 0.0001, 900.0),),
    )


def beside_pass(recall_s: float, bar: Bar | None = None) -> Finding:
    recalls, passes = [recall_s] * 3, [0.010] * 3
    return ratio("recall", 100_000, recalls, passes, ours=recalls, beside=("pass", passes), bar=bar)


@pytest.mark.parametrize(
    ("bar", "value", "verdict"),
    [
        (Bar(2.0), 2.01, Verdict.MISSED),
        (Bar(2.0), 1.99, Verdict.NEAR),
        (Bar(2.0), 1.5, Verdict.HOLDS),
        (Bar(2.0), 0.0, Verdict.HOLDS),
        (Bar(700, at_least=True), 699, Verdict.MISSED),
        (Bar(700, at_least=True), 701, Verdict.NEAR),
        (Bar(700, at_least=True), 900, Verdict.HOLDS),
    ],
)
def test_a_bar_is_missed_held_or_held_narrowly(bar: Bar, value: float, verdict: Verdict) -> None:
    assert bar.verdict(value) is verdict


def test_a_ratio_is_the_median_of_pairs_and_its_spread_that_of_neighbours() -> None:
    ours, theirs = [1.0, 2.0, 9.0], [2.0, 2.0, 3.0]

    finding = ratio("recall", 10, ours, theirs, ours=ours, beside=("pass", theirs))

    assert finding.value == 1.0
    assert finding.middle_half == (0.75, 2.0)
    assert finding.verdict is Verdict.NO_BAR


def test_one_value_has_no_spread() -> None:
    assert middle_half([3.0]) == (3.0, 3.0)


@pytest.mark.parametrize(
    ("unit", "value", "text", "bar"),
    [
        (Unit.TIMES, 0.254, "0.25x", "<= 2x"),
        (Unit.RATE, 3123.4, "3,123/s", "<= 2/s"),
        (Unit.SECONDS, 0.0301, "30.1 ms", "<= 2 s"),
        (Unit.MEGABYTES, 312.4, "312 MB", "<= 2 MB"),
    ],
)
def test_values_and_bars_have_their_unit(unit: Unit, value: float, text: str, bar: str) -> None:
    assert unit.shown(value) == text
    assert Bar(2.0).shown(unit) == bar


def test_a_loss_is_printed_as_one() -> None:
    printed = io.StringIO()

    show(a_run(beside_pass(0.050, Bar(2.0))), Console(file=printed, width=160))

    assert "5.00x" in printed.getvalue()
    assert "MISSED" in printed.getvalue()
    assert "abc123" in printed.getvalue()


def test_the_markdown_says_the_same_as_the_tables() -> None:
    run = a_run(beside_pass(0.005, Bar(2.0)), single("remember", 1000, [800.0, 900.0], Unit.RATE))

    lines = markdown(run).splitlines()

    assert lines[2] == (
        "| recall | 100,000 | 5.00 ms | 10.0 ms pass | 0.50x | 0.50x - 0.50x | <= 2x | HOLDS |"
    )
    assert lines[3] == "| remember | 1,000 | 850/s | - | 850/s | 825/s - 875/s | - | - |"
    assert "| 1,000 | 1.00 ms | 100 µs | 10.0x | 900/s |" in lines
    assert lines[-1].startswith("2026-05-11T12:00:00Z, commit abc123; other jobs kept 0.10 cores")


def test_a_run_survives_being_written_and_read(tmp_path: Path) -> None:
    run = a_run(beside_pass(0.005, Bar(2.0)), single("remember", 1000, [800.0], Unit.RATE))
    path = tmp_path / "new" / "recall.json"

    run.write(path)

    assert RecallRun.read(path) == run
