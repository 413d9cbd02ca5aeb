"""A worker reads hooks again when another was asked to, and nobody is answered by the old ones."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from recollect.edge.http.reloading import Reloads

PATIENCE_S = 30.0


class Hooks:
    """Counts how often it was read; each reading may be held up."""

    def __init__(self) -> None:
        self.read = 0
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.is_reading = threading.Event()

    @property
    def hooks(self) -> Hooks:
        return self

    def reload(self) -> None:
        self.is_reading.set()
        assert self.may_go_on.wait(PATIENCE_S)
        self.read += 1


def test_what_one_worker_was_asked_the_others_do_once(tmp_path: Path) -> None:
    asked, other = Reloads(str(tmp_path)), Reloads(str(tmp_path))
    mine, theirs = Hooks(), Hooks()
    for times in (1, 2):
        asked.reload(mine)  # type: ignore[arg-type]
        for _ in range(3):
            asked.follow(mine)  # type: ignore[arg-type]
            other.follow(theirs)  # type: ignore[arg-type]
        assert (mine.read, theirs.read) == (times, times)


def test_a_worker_that_was_starting_meanwhile_reads_again(tmp_path: Path) -> None:
    starting, hooks = Reloads(str(tmp_path)), Hooks()
    # The hooks of the starting one were read here, before somebody asked another worker.
    Reloads(str(tmp_path)).reload(Hooks())  # type: ignore[arg-type]
    starting.follow(hooks)  # type: ignore[arg-type]
    assert hooks.read == 1


def test_nobody_is_answered_while_hooks_are_read_again(tmp_path: Path) -> None:
    worker, hooks = Reloads(str(tmp_path)), Hooks()
    Reloads(str(tmp_path)).reload(Hooks())  # type: ignore[arg-type]
    hooks.may_go_on.clear()
    seen: list[int] = []

    def answer() -> None:
        worker.follow(hooks)  # type: ignore[arg-type]
        seen.append(hooks.read)

    threads = [threading.Thread(target=answer) for _ in range(3)]
    threads[0].start()
    assert hooks.is_reading.wait(PATIENCE_S)
    for one in threads[1:]:
        one.start()
    for one in threads[1:]:
        one.join(0.1)
    assert seen == []
    hooks.may_go_on.set()
    for one in threads:
        one.join(PATIENCE_S)
    assert seen == [1, 1, 1]


def test_a_mark_that_another_leaves_at_the_same_time_is_followed(
    tmp_path: Path, monkeypatch: Any
) -> None:
    one, other, hooks = Reloads(str(tmp_path)), Reloads(str(tmp_path)), Hooks()
    replace = Path.replace

    def outrun(draft: Path, mark: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        done = replace(draft, mark)
        monkeypatch.setattr(os, "getpid", lambda: 1)
        other.reload(Hooks())  # type: ignore[arg-type]
        return done

    monkeypatch.setattr(Path, "replace", outrun)
    one.reload(hooks)  # type: ignore[arg-type]
    one.follow(hooks)  # type: ignore[arg-type]
    assert hooks.read == 2
