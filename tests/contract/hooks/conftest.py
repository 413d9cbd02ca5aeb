"""Real child processes, and what is left of them: counted by a mark that they all inherit."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from recollect.hooks import (
    ExecutorRegistry,
    HookChain,
    HookEvent,
    HookSpec,
    PreRecallOutcome,
    apply_pre_recall_expand,
)

CHILDREN = Path(__file__).parent / "children"


@dataclass
class World:
    """Hooks under test, and a look at all that they started."""

    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    registry: ExecutorRegistry = field(default_factory=ExecutorRegistry)
    chain: HookChain = field(default_factory=HookChain)

    def hook(self, manner: str, *, mode: str = "daemon", **given: Any) -> HookSpec:
        """Return a hook whose child behaves as `manner` says."""
        script = CHILDREN / ("daemon.sh" if mode == "daemon" else "once.sh")
        fields: dict[str, Any] = {
            "name": manner,
            "event": HookEvent.PRE_RECALL_EXPAND,
            "mode": mode,
            "command": ("/bin/sh", str(script), manner, str(self.folder / "state")),
            "env": (("RECOLLECT_TEST_MARK", self.mark),),
        }
        return HookSpec(**{**fields, **given})

    def start(self, *hooks: HookSpec, settle_s: float = 5.0) -> World:
        """Put hooks in force."""
        self.chain = HookChain(hooks)
        self.registry.start(hooks, settle_s=settle_s)
        return self

    def recall(self, query: str = "q", namespace: str = "shop", k: int = 10) -> PreRecallOutcome:
        return apply_pre_recall_expand(query, namespace, k, self.chain, self.registry)

    def stats(self, number: int = 0) -> dict[str, Any]:
        return self.registry.stats(self.chain.hooks[number])

    def counts(self, number: int = 0) -> dict[str, int]:
        return self.stats(number)["counts"]

    def processes(self) -> list[int]:
        """Return every process that carries the mark, however it is related to us."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def left(self) -> tuple[int, int, int]:
        """Return how many processes, descriptors and threads there are."""
        return (
            len(self.processes()),
            len(list(Path("/proc/self/fd").iterdir())),
            threading.active_count(),
        )

    def has_no_more_than(self, before: tuple[int, int, int]) -> bool:
        """Return whether nothing was added; threads of earlier tests may have ended meanwhile."""
        return all(now <= then for now, then in zip(self.left(), before, strict=True))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.registry.close()
    eventually(lambda: made.processes() == [])


def eventually(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for something that happens in the background; fail when it never does."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "it never happened"
        threading.Event().wait(0.005)
