from __future__ import annotations

import io
from pathlib import Path

import pytest
from bench.report import (
    Block,
    Comparison,
    Run,
    Verdict,
    duration,
    joined,
    machine,
    markdown,
    show,
    times,
)
from rich.console import Console


def compare(*, ours_s: float, peer_s: float, bar: float | None) -> Comparison:
    return Comparison(
        "delete a Pak",
        100_000,
        ours=(Block(ours_s, 1), Block(ours_s, 1)),
        peer=(Block(peer_s, 1), Block(peer_s, 1)),
        bar=bar,
    )


def a_run(*comparisons: Comparison) -> Run:
    return Run(
        bench="paks",
        peer="tokenpak",
        taken_at="2026-05-11T12:00:00Z",
        commit="abc123",
        machine={"cpu": "Some CPU", "cores": "2"},
        versions={"recollect": "0.1.0", "tokenpak": "1.31.0"},
        comparisons=comparisons,
    )


def test_the_ratio_weighs_every_operation_alike_whatever_the_size_of_its_block() -> None:
    comparison = Comparison(
        "update",
        10_000,
        ours=(Block(1.0, 100), Block(3.0, 100)),
        peer=(Block(2.0, 1), Block(6.0, 3)),
    )

    assert comparison.ours_each_s == 0.02
    assert comparison.peer_each_s == 2.0
    assert comparison.ratio == 100.0


def test_the_spread_is_that_of_blocks_measured_side_by_side() -> None:
    comparison = Comparison(
        "update",
        10_000,
        ours=tuple(Block(1.0, 1) for _ in range(5)),
        peer=tuple(Block(cpu_s, 1) for cpu_s in (5.0, 1.0, 3.0, 2.0, 4.0)),
    )

    assert comparison.quartiles == (2.0, 3.0, 4.0)


def test_a_single_block_has_no_spread() -> None:
    comparison = Comparison("load", 10_000, ours=(Block(1.0, 10),), peer=(Block(4.0, 10),))

    assert comparison.quartiles == (4.0, 4.0, 4.0)


@pytest.mark.parametrize(
    ("peer_s", "verdict"),
    [
        (49.0, Verdict.MISSED),
        (50.0, Verdict.NEAR),
        (57.0, Verdict.NEAR),
        (58.0, Verdict.HOLDS),
    ],
)
def test_a_bar_is_missed_held_or_held_narrowly(peer_s: float, verdict: Verdict) -> None:
    assert compare(ours_s=1.0, peer_s=peer_s, bar=50).verdict is verdict


def test_without_a_bar_there_is_no_verdict() -> None:
    assert compare(ours_s=1.0, peer_s=0.1, bar=None).verdict is Verdict.NO_BAR


def test_a_loss_is_printed_as_one() -> None:
    printed = io.StringIO()

    show(a_run(compare(ours_s=2.0, peer_s=1.0, bar=0.9)), Console(file=printed, width=160))

    assert "0.50x" in printed.getvalue()
    assert "MISSED" in printed.getvalue()
    assert "abc123" in printed.getvalue()


def test_the_markdown_says_the_same_as_the_table() -> None:
    lines = markdown(a_run(compare(ours_s=0.0002, peer_s=0.05, bar=50))).splitlines()

    assert lines[2] == (
        "| delete a Pak | 100,000 | 200 µs | 50.0 ms | 250x | 250x - 250x | >= 50x | HOLDS |"
    )
    assert lines[-1].startswith("2026-05-11T12:00:00Z, commit abc123; recollect 0.1.0, tokenpak")


def test_a_run_survives_being_written_and_read(tmp_path: Path) -> None:
    run = a_run(compare(ours_s=1.0, peer_s=60.0, bar=50))
    path = tmp_path / "new" / "paks.json"

    run.write(path)

    assert Run.read(path) == run


def test_neighbouring_blocks_add_up() -> None:
    blocks = [Block(1.0, 10), Block(2.0, 10), Block(3.0, 10), Block(4.0, 10)]

    assert joined(blocks, 2) == [Block(3.0, 20), Block(7.0, 20)]
    assert joined(blocks, 4) == blocks


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.50 s"), (0.0301, "30.1 ms"), (0.0004512, "451 µs"), (0.0000425, "42.5 µs")],
)
def test_a_duration_has_a_fitting_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("ratio", "text"), [(0.894, "0.89x"), (15.04, "15.0x"), (222.2, "222x")])
def test_a_ratio_has_three_digits(ratio: float, text: str) -> None:
    assert times(ratio) == text


def test_the_machine_is_described_without_blanks() -> None:
    assert all(machine().values())
