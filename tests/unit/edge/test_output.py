"""The bar that a person watches: how much is done, and how long the rest takes."""

from __future__ import annotations

import io

from rich.console import Console

from recollect.edge.cli.output import _bar


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
