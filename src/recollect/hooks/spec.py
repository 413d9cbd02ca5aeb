"""One hook as configured: when it runs, what it runs, and what its failure means.

In: a line of hooks.toml, or a registration in code, both checked. Out: a frozen value that a chain
sorts and a registry turns into an executor. Nothing is started here.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recollect.settings import child_environment
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.hooks.events import HookEvent

__all__ = ["FailMode", "Function", "HookSpec", "Mode", "with_unique_names"]

Mode = Literal["python", "exec", "daemon"]
FailMode = Literal["open", "closed"]
Function = Callable[[dict[str, Any]], object]

_INTERPRETER = re.compile(r"(python|pypy)[\d.]*|(ba|da|k|z)?sh|node|deno|bun|ruby|perl|env|uv")


@dataclass(frozen=True, slots=True)
class HookSpec:
    """One hook. Its `name` is what answers, counters and logs call it.

    `folder` is where a command runs and where relative paths in it start.
    """

    name: str
    event: HookEvent
    mode: Mode
    command: tuple[str, ...] = ()
    function: Function | None = None
    python: str | None = None
    priority: int = 0
    timeout_ms: int | None = None
    enabled: bool = True
    namespace: str = "*"
    fail_mode: FailMode = "open"
    env: tuple[tuple[str, str], ...] = ()
    folder: Path | None = None

    def matches(self, namespace: str) -> bool:
        """Return whether the hook is meant for this namespace."""
        return self.namespace == "*" or fnmatchcase(namespace, self.namespace)

    @property
    def timeout_s(self) -> float:
        """What the hook may take at most: its own limit, or that of its whole chain."""
        whole = self.event.deadline_s
        return whole if self.timeout_ms is None else min(whole, self.timeout_ms / 1000)

    @property
    def executor_key(self) -> tuple[object, ...]:
        """What makes two hooks the same running thing; a reload keeps those it finds again."""
        return (self.name, self.mode, self.command, self.function, self.env, self.folder)

    def environment(self) -> dict[str, str]:
        """Return all that a child process gets to see of our environment."""
        return {**child_environment(), **dict(self.env)}

    def program(self) -> str | None:
        """Return the path of the command's program, None when there is none to execute."""
        name = self.command[0]
        if os.sep not in name:
            return shutil.which(name, path=self.environment().get("PATH", os.defpath))
        path = str((self.folder or Path()) / name)
        return path if Path(path).is_file() and os.access(path, os.X_OK) else None

    def own_name(self) -> str:
        """Return the name that follows from what it runs: a function, a script, a program."""
        if not self.command:
            return self.python or str(getattr(self.function, "__qualname__", "function"))
        program, *arguments = self.command
        scripts = (one for one in arguments if not one.startswith("-"))
        if "-c" not in arguments and _INTERPRETER.fullmatch(Path(program).name):
            return Path(next(scripts, program)).name
        return Path(program).name


def with_unique_names(specs: Iterable[HookSpec], taken: Iterable[str] = ()) -> Iterator[HookSpec]:
    """Yield the hooks with names of their own: a second `x.py` becomes `x.py#2`."""
    used = set(taken)
    for spec in specs:
        name, number = spec.name, 1
        while name in used:
            number += 1
            name = f"{spec.name}#{number}"
        used.add(name)
        yield replace(spec, name=name)
