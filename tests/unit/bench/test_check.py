"""The check of the bars: every promise is a row of a bench, and a miss is called one."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from bench import check, history, hooks, pace, paks, select
from bench.bars import AIMS, BARS, Promise, bar
from bench.check import Outcome, chosen, judged, measured
from bench.peer import PeerUnavailable
from bench.recall_report import Unit, by_pairs
from rich.console import Console
from tests.house.snippets import ROOT

PAGE = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
QUIET = Console(file=io.StringIO())


def promise(limit: float, *, at_least: bool = False, unit: Unit = Unit.TIMES) -> Promise:
    return Promise("a.b", "a", "row", 1, limit, "Section", at_least=at_least, unit=unit)


def test_every_bar_has_a_name_of_its_own_a_bench_and_a_section_of_the_page() -> None:
    there = (*BARS, *AIMS)
    assert len({one.name for one in there}) == len({(one.row, one.size) for one in there})
    assert len({one.name for one in there}) == len(there)
    assert {one.bench for one in there} == set(check.BENCHES)
    sections = set(re.findall(r"^## (.+)$", PAGE, re.MULTILINE))
    assert {one.section for one in BARS} <= sections


def test_the_rows_that_are_promised_are_rows_that_are_measured() -> None:
    rows = {
        "paks": {
            *(one.title for one in paks.operations(100_000)),
            "insert, one transaction each",
            *(f"insert in batches of {size:,}" for size in paks.BATCHES),
        },
        "select": {*(one.title for one in select.QUESTIONS), select.GROWTH},
    }
    for bench, titles in rows.items():
        assert {one.row for one in BARS if one.bench == bench} <= titles
    source = Path(hooks.__file__).read_text(encoding="utf-8")
    assert [one.row for one in BARS if one.bench == "hooks" and f'"{one.row}"' not in source] == []


@pytest.mark.parametrize(
    ("one", "value", "outcome"),
    [
        (promise(2.0), 2.0, Outcome.HOLDS),
        (promise(2.0), 2.09, Outcome.NOISE),
        (promise(2.0), 2.2, Outcome.MISSED),
        (promise(4.0, at_least=True), 3.9, Outcome.NOISE),
        (promise(4.0, at_least=True), 3.7, Outcome.MISSED),
        (promise(0.7, at_least=True, unit=Unit.SHARE), 0.699, Outcome.MISSED),
        (promise(2.0), None, Outcome.ABSENT),
    ],
)
def test_five_per_cent_are_noise_but_not_in_quality(
    one: Promise, value: float | None, outcome: Outcome
) -> None:
    assert judged(one, value).outcome is outcome


def test_an_aim_that_is_not_reached_is_no_broken_promise() -> None:
    aim, bar_of = AIMS[0], BARS[0]
    assert judged(aim, 1e9 if not aim.at_least else 0.0).outcome is Outcome.AHEAD
    assert judged(bar_of, 0.0 if bar_of.at_least else 1e9).outcome is Outcome.MISSED


def test_one_bar_or_all_of_a_bench_can_be_chosen() -> None:
    assert [one.name for one in chosen(["recall.1m"], quick=False)] == ["recall.1m"]
    assert {one.bench for one in chosen(["hooks"], quick=False)} == {"hooks"}
    assert chosen(["recall.1m"], quick=True) == []
    assert chosen([], quick=False) == list(BARS)
    assert [one.name for one in chosen(["words"], quick=False)] == ["words.1k"]
    with pytest.raises(SystemExit, match="Hint: there are paks"):
        chosen(["nonsense"], quick=False)


def test_a_peer_that_cannot_be_installed_is_said_and_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> check.Values:
        raise PeerUnavailable("Cannot install tokenpak.\nlong story")

    monkeypatch.setattr(check, "BENCHES", {**check.BENCHES, "paks": fails})
    rows = list(measured(chosen(["paks"], quick=False), QUIET))
    assert {row.outcome for row in rows} == {Outcome.ABSENT}
    assert {row.reason for row in rows} == {"Cannot install tokenpak."}


def test_a_bench_that_breaks_down_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> check.Values:
        raise RuntimeError("The two libraries answered differently.")

    hook = next(one for one in BARS if one.bench == "hooks")
    fine = {(hook.row, hook.size): hook.limit}
    monkeypatch.setattr(check, "BENCHES", {"paks": breaks, "hooks": lambda *_: fine})
    rows = {row.name: row for row in measured([BARS[0], hook], QUIET)}
    assert rows[BARS[0].name].outcome is Outcome.BROKEN
    assert rows[hook.name].outcome is Outcome.HOLDS


def test_a_miss_is_seen_by_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = BARS[0]
    for value, code in ((0.1, 1), (5.0, 0)):
        found = {(one.row, one.size): value}
        monkeypatch.setattr(check, "BENCHES", {"paks": lambda *_, found=found: found})
        monkeypatch.setattr("sys.argv", ["check", "--only", one.name, "--json"])
        with pytest.raises(SystemExit) as ended:
            check.main()
        assert int(ended.value.code or 0) == code
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        assert row["value"] == value


def test_a_bar_is_known_to_its_bench_at_its_size_only() -> None:
    assert bar("recall, 1 % in reach", 100_000) is not None
    assert bar("recall, 1 % in reach", 10_000) is None


def test_a_ratio_is_the_median_of_nine_pairs() -> None:
    # In three of nine blocks everything was slow, and ours more than the other's.
    ours = [1.0] * 12 + [90.0] * 6
    other = [2.0] * 12 + [9.0] * 6
    assert by_pairs(ours, other) == 0.5


def test_runs_are_kept_and_shown_over_time(tmp_path: Path) -> None:
    for day, value in ((1, 0.2), (2, 0.3)):
        run = history.facts(quick=False, others=0.0)
        row = {"name": "recall.100k", "value": value, "shown": f"{value}x", "outcome": "holds"}
        absent = {**row, "value": None}
        run |= {"taken_at": f"2026-11-0{day}T00:00:00Z", "rows": [row, absent]}
        path = history.keep(run, tmp_path)
        assert json.loads(path.read_text()) == run
    found = history.values_of("recall", tmp_path)
    assert [shown for _, _, _, shown, _ in found] == ["0.2x", "0.3x"]
    assert history.values_of("paks", tmp_path) == []


def test_what_is_kept_in_the_repository_can_be_read() -> None:
    for run in history.runs():
        assert {"taken_at", "commit", "machine", "versions", "rows"} <= set(run)
        assert {row["outcome"] for row in run["rows"]} <= {one.value for one in Outcome}


@pytest.mark.parametrize(
    ("one", "value", "outcome"),
    [
        (promise(1.0, unit=Unit.SECONDS), 1.9, Outcome.HOLDS),
        (promise(1.0, unit=Unit.SECONDS), 2.3, Outcome.MISSED),
        (promise(700, at_least=True, unit=Unit.RATE), 360, Outcome.HOLDS),
        (promise(700, at_least=True, unit=Unit.RATE), 300, Outcome.MISSED),
        (promise(1.0), 1.9, Outcome.MISSED),
        (promise(400, unit=Unit.MEGABYTES), 500, Outcome.MISSED),
    ],
)
def test_a_slow_moment_of_the_machine_excuses_seconds_and_rates_alone(
    one: Promise, value: float, outcome: Outcome
) -> None:
    row = judged(one, value, slowness=2.0)
    assert (row.outcome, row.value) == (outcome, value)


def test_the_pace_is_that_of_a_job_done_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "GOOD_MOMENT_S", 1e-9)
    with pace.Pace() as slow:
        pass
    monkeypatch.setattr(pace, "GOOD_MOMENT_S", 1e9)
    with pace.Pace() as quick:
        pass
    assert slow.slowness > 1.0
    assert quick.slowness == 1.0
