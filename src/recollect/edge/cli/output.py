"""Where answers go: to people in colour, to programs as JSON.

In: an object for programs and a way to draw it for people. Out: text on stdout or stderr. Rich is
imported only when something is drawn, so that `--json` stays quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from recollect.errors import RecollectError
from recollect.settings import pipe_columns
from recollect.values import dataclass

if TYPE_CHECKING:
    import typer
    from rich.console import Console
    from rich.progress import Progress

    from recollect.edge import wire

__all__ = ["Listening", "Output", "console", "late_bar", "of"]

_HOUR_S = 3600.0
# Fewer memories are read before anybody would have seen a bar.
_WORTH_A_BAR = 20_000


@dataclass(slots=True)
class Output:
    """Who is listening: a person, or a program that asked for JSON."""

    as_json: bool = False
    is_drawing: bool = False

    def show(
        self,
        answer: wire.Object | Callable[[], wire.Object],
        draw: Callable[[Console], None],
        *,
        piped: Callable[[int], str | None] = lambda _: None,
    ) -> None:
        """Show the answer: `answer` to a program, what `draw` draws to a person.

        An answer that takes time to put together may be a function: a person does not wait for it.
        What `draw` would draw into a pipe of so many columns, `piped` may know without Rich.
        """
        if self.as_json:
            _print_json(answer() if callable(answer) else answer)
            return
        columns = pipe_columns()
        text = None if columns is None else piped(columns)
        if text is None:
            draw(console())
        else:
            sys.stdout.write(text)

    def report(self, error: RecollectError) -> None:
        """Say what went wrong and what to do: on stdout to a program, on stderr to a person."""
        from recollect.edge.cli.hints import in_shell

        hint = in_shell(error.hint or "")
        if self.as_json:
            from recollect.edge import wire

            _print_json(wire.error(error, hint=hint or None))
            return
        from rich.text import Text

        from recollect.edge.cli.views.elements import plain

        lines = [Text.assemble(("Error: ", "bold red"), plain(error.message))]
        if hint:
            lines.append(Text.assemble(("Hint:  ", "bold cyan"), plain(hint)))
        console(stderr=True).print(*lines, sep="\n", soft_wrap=True)

    @contextmanager
    def progress(self, doing: str, total: int) -> Iterator[Callable[[int, int], None]]:
        """Draw a bar on stderr while the body runs, if a person watches; yield what moves it."""
        screen = None if self.as_json else console(stderr=True)
        if screen is None or not screen.is_terminal:
            yield lambda _done, _total: None
            return
        self.is_drawing = True
        try:
            with _bar(screen) as bar:
                task = bar.add_task(doing, total=total)
                yield lambda done, total: bar.update(task, completed=done, total=total)
        finally:
            self.is_drawing = False


class Listening:
    """Who listens to this process: one of them a process."""

    out = Output()


@contextmanager
def late_bar(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what draws a bar on stderr once there is much to do, if a person watches."""
    out = Listening.out
    with ExitStack() as until_done:
        moves: list[Callable[[int, int], None]] = []

        def tell(done: int, total: int) -> None:
            if not moves and total >= _WORTH_A_BAR and not out.is_drawing:
                moves.append(until_done.enter_context(out.progress(doing, total)))
            for move in moves:
                move(done, total)
            if done >= total:
                until_done.close()
                moves.clear()

        yield tell


def _bar(screen: Console, clock: Callable[[], float] | None = None) -> Progress:
    """Return a bar that tells the time left; the clock is the system's unless one is given."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeLeft(),
        TextColumn("left"),
    )
    # A slow model is heard of every minute or so: each time counts, not those of half a minute.
    return Progress(
        *columns, console=screen, transient=True, speed_estimate_period=_HOUR_S, get_time=clock
    )


def console(*, stderr: bool = False) -> Console:
    """Return a console; rich itself heeds NO_COLOR and whether there is a terminal."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def of(context: typer.Context) -> Output:
    """Return the output of the running command."""
    return context.ensure_object(Output)


def _print_json(answer: wire.Object) -> None:
    import json

    # ASCII only: the same bytes whatever the terminal's encoding.
    sys.stdout.write(json.dumps(answer, indent=2) + "\n")
