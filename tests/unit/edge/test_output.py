"""The bar that a person watches: how much is done, and how long the rest takes."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from recollect.edge.cli import output
from recollect.edge.cli.output import Listening, Output, _bar, late_bar


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_left_is_that_of_the_pace_since_the_run_began() -> None:
    clock, screen = Clock(), io.StringIO()
    bar = _bar(Console(file=screen, width=120, force_terminal=True), clock)
    task = bar.add_task("Embedding", total=1_000)
    bar.update(task, completed=600)  # an earlier run did these
    assert bar.tasks[0].time_remaining is None
    clock.now = 50.0
    bar.update(task, completed=650)
    clock.now = 150.0  # a slow model is not heard of for long
    bar.update(task, completed=750)
    assert bar.tasks[0].time_remaining == 250
    with bar:
        bar.refresh()
    assert "0:04:10" in screen.getvalue()


def drawn(patch: pytest.MonkeyPatch, *told: tuple[int, int], out: Output | None = None) -> str:
    """Return what a late bar draws for a person who watches."""
    screen = io.StringIO()
    patch.setattr(
        output,
        "console",
        lambda **_: Console(file=screen, width=120, force_terminal=True),
    )
    patch.setattr(Listening, "out", out or Output())
    with late_bar("Reading") as tell:
        for done, total in told:
            tell(done, total)
    return screen.getvalue()


def test_much_to_read_is_drawn_and_little_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Reading" in drawn(monkeypatch, (8_192, 100_000), (100_000, 100_000), (100_000, 100_000))
    assert drawn(monkeypatch, (2, 2)) == ""


def test_a_program_or_another_bar_is_not_drawn_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, (8_192, 100_000), out=Output(as_json=True)) == ""
    assert drawn(monkeypatch, (8_192, 100_000), out=Output(is_drawing=True)) == ""
