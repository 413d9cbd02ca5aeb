"""Worker processes that measure, and the order in which they take turns.

A worker speaks lines of JSON: a greeting with its versions, then one answer a request. Only one
works at a time, in short blocks by turns, so that noise on a shared machine hits all of them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from bench.clock import WALL

__all__ = ["Worker", "by_turns"]

ROOT = Path(__file__).parent.parent

Item = TypeVar("Item")


class Worker:
    """A child process that runs one module and answers one request at a time."""

    def __init__(
        self, python: Path, module: str, *arguments: str, environment: Mapping[str, str] = WALL
    ) -> None:
        self._child = subprocess.Popen(
            [str(python), "-m", module, *arguments],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            self.versions: dict[str, str] = self._answer()
        except BaseException:
            self.close()
            raise

    def ask(self, **request: Any) -> Any:
        """Send one request and wait for its answer."""
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(request) + "\n")
        self._child.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """Let the child finish; it ends when nobody can ask any more."""
        self._child.communicate()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _answer(self) -> Any:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError("A measuring process ended early; its own error is above.")
        return json.loads(line)


def by_turns(items: Sequence[Item], rounds: int) -> Iterator[tuple[int, Item]]:
    """Yield every item once a round; who goes first changes from round to round."""
    for turn in range(rounds):
        first = turn % len(items)
        for item in (*items[first:], *items[:first]):
            yield turn, item
