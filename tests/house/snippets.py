"""Fenced blocks of a Markdown page, and running them as a reader would.

A page is run from top to bottom in one empty folder. `python` blocks run with the real package;
`sh` blocks hold commands that must succeed; `console` blocks hold `$ command` lines followed by
exactly what they print.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.warm import WarmCommand

ROOT = Path(__file__).parents[2]
# Signs that mean something to a shell, outside of quotes or not.
_OF_SHELLS = re.compile(r"[|<>$&;`*?~#\\]")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language and its text."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def makefile_targets() -> set[str]:
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", rules, re.MULTILINE))


def commands(command: Any, name: str) -> Iterator[str]:
    """Yield the whole name of every command below `command`."""
    inner = getattr(command, "commands", {})
    if not inner:
        yield name
    for word, child in inner.items():
        yield from commands(child, f"{name} {word}")


@dataclass
class Reader:
    """Somebody who follows a page in an empty folder with the package installed."""

    folder: Path
    commands: list[str] = field(default_factory=list)

    def follow(self, block: Block) -> None:
        """Run a block; a language or a command that cannot be checked is a failure."""
        if block.language == "python":
            self._run_python(block.text)
        elif block.language == "sh":
            for line in block.text.strip().splitlines():
                self._run_line(line.partition(" #")[0].strip())
        elif block.language == "console":
            self._run_console(block.text)
        else:
            assert block.language in ("text", "json"), f"nobody checks ```{block.language}"

    def _run_python(self, program: str) -> None:
        result = self._child([sys.executable, "-W", "error", "-c", program])
        assert result.returncode == 0, f"{program}\n{result.stdout}"

    def _run_line(self, line: str) -> None:
        tool, _, rest = line.partition(" ")
        if tool == "make":
            assert rest in makefile_targets(), line
            return
        assert tool == "recollect", f"nobody checks: {line}"
        result = self._shell(line)
        assert result.returncode == 0, f"{line}\n{result.stdout}"

    def _run_console(self, text: str) -> None:
        code = 0
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            # `$ echo $?` must see the exit code of the command above it.
            result = self._shell(command, code=code)
            code = result.returncode
            assert _trimmed(result.stdout) == _trimmed(expected), command

    def _shell(self, command: str, *, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command; what takes a shell is run by one, which knows the last exit code."""
        self.commands.append(command)
        if command.startswith("recollect ") and not _OF_SHELLS.search(command):
            words = shlex.split(command)[1:]
            return _warm().run(words, env=self._env, cwd=self.folder, merged=True)
        return self._child(["/bin/sh", "-c", f"(exit {code}); {command}"])

    @property
    def _env(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.folder), "COLUMNS": "80"}

    def _child(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )


@cache
def _warm() -> WarmCommand:
    command = WarmCommand()
    atexit.register(command.close)
    return command


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
