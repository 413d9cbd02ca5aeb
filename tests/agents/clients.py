"""Real clients, run offline: installed from npm into `.clients`, each in a home of its own.

In: a fake model's address. Out: what a client printed, and what the memory holds afterwards. Where
the clients are not installed, tests that need them are skipped with the command that brings them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fake_model import FakeModel
from tests.house.snippets import ROOT

from recollect import Recollect

BIN = ROOT / ".clients/node_modules/.bin"
SCRIPT = Path(sys.executable).parent / "recollect"
needs_clients = pytest.mark.skipif(
    not (BIN / "claude").exists() or not (BIN / "codex").exists(),
    reason="`make test-agents` installs Claude Code and Codex",
)


@dataclass
class Place:
    """A home with a project in it, a memory, and the model that clients ask."""

    home: Path
    model: FakeModel
    more: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.home / "shop"

    @property
    def db(self) -> Path:
        return self.home / "agent.db"

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": f"{SCRIPT.parent}:{BIN}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "MCP_TIMEOUT": "120000",
            "FAKE_KEY": "dummy",
            "RECOLLECT_DB": str(self.db),
            **self.more,
        }

    def prepare(self) -> None:
        """Make the project, and tell Codex of the model."""
        self.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        (self.home / ".codex").mkdir()
        (self.home / ".codex/config.toml").write_text(
            'model = "fake" # ours\nmodel_provider = "fake"\n\n[model_providers.fake]\n'
            f'name = "fake"\nbase_url = "{self.model.url}/v1"\nwire_api = "responses"\n'
            'env_key = "FAKE_KEY"\n'
        )

    def run(self, *words: str | Path, ok: bool = True) -> str:
        """Run a command in the project; return what it said."""
        done = subprocess.run(
            [str(one) for one in words],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert not ok or done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def recollect(self, *words: str | Path) -> str:
        return self.run(SCRIPT, *words)

    def install(self, client: str, *before: str) -> None:
        """Set a client up, with all as it is usually."""
        self.recollect(*before, "install", client)

    def turns(self) -> dict[tuple[str, str], Any]:
        """Return what was kept of conversations, by who said what."""
        with Recollect.open(self.db) as memory:
            return {
                (one.speaker, one.content): one
                for one in memory.list(limit=1000).items
                if one.thread is not None
            }

    def log(self) -> list[Any]:
        file = self.home / ".recollect/agents/hooks.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def ask_in_time(self, ask: Callable[..., str], prompt: str, *more: str) -> str:
        """Put a prompt until our hooks answer it within their deadlines; return what was said.

        A machine that is shared by many is now and then too slow: the prompt goes on then, and the
        log says `degraded`. What such a try left is forgotten, by the model and by the memory.
        """
        for _ in range(_MOST_TRIES):
            before, wanted = len(self.log()), (self.model.does, self.model.tokens)
            self.model.requests.clear()
            said = ask(self, prompt, *more)
            entries = self.ended(before)
            answered = [
                one for one in entries if one["event"] == "UserPromptSubmit" and not one.get("late")
            ]
            # A start that was too late is made up for by the prompt.
            if answered and not any("degraded" in one for one in answered):
                return said
            self._forget({one["session"] for one in entries})
            self.model.does, self.model.tokens = wanted
        raise AssertionError(f"hooks were never answered in time: {self.log()}")

    def ended(self, before: int) -> list[Any]:
        """Return what hooks did since, once the session's end has been heard by all of them."""
        until = time.monotonic() + _PATIENCE_S
        entries = self.log()[before:]
        while "SessionEnd" not in {one["event"] for one in entries}:
            assert time.monotonic() < until, f"no session ended: {entries}"
            time.sleep(0.1)
            entries = self.log()[before:]
        return entries

    def _forget(self, sessions: set[str]) -> None:
        with Recollect.open(self.db) as memory:
            for one in sessions:
                memory.forget(thread=one)


_MOST_TRIES = 8
_PATIENCE_S = 60


def ask_claude(place: Place, prompt: str, *more: str) -> str:
    """Put one prompt to Claude Code."""
    return place.run("claude", "-p", prompt, *more)


def ask_codex(place: Place, prompt: str, *more: str) -> str:
    """Put one prompt to Codex."""
    return place.run("codex", "exec", "--dangerously-bypass-hook-trust", *more, prompt)


def ask_in_time(client: str, place: Place, prompt: str, *more: str) -> str:
    """Put a prompt to a client until our hooks are in time."""
    return place.ask_in_time(ASK[client], prompt, *more)


ASK: dict[str, Callable[..., str]] = {"claude-code": ask_claude, "codex": ask_codex}
