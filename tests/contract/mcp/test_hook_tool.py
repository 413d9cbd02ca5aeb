"""The tool that a client's hooks call: not told to a model, and no prompt ever waits for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.mcp_client import ERAS, agent_in_memory, agent_of

from recollect import Recollect
from recollect.edge.agents import log
from recollect.edge.agents.deadline import wait_for_rest
from recollect.edge.mcp.local import LocalMemory
from recollect.edge.mcp.server import make_server
from recollect.errors import StoreUnavailable


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def prompted(text: str, folder: Path) -> dict[str, str]:
    return {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "cwd": str(folder),
        "prompt": text,
    }


@pytest.mark.parametrize("era", ERAS)
def test_a_prompt_is_answered_with_what_fits_it(
    open_memory: Callable[..., Recollect], tmp_path: Path, era: str, home: Path
) -> None:
    (home / "agents.toml").write_text("deadline_ms = 60000\n")
    memory = open_memory()
    memory.remember("Deploys happen before noon.", source="wiki")
    with agent_in_memory(memory, era) as agent:
        assert "on_hook" not in [one.name for one in agent.ask("list_tools").tools]
        event = prompted("When do deploys happen?", tmp_path)
        told = json.loads(agent.text("on_hook", event=event))
        given = told["hookSpecificOutput"]
        assert given["hookEventName"] == "UserPromptSubmit"
        assert "Deploys happen before noon." in given["additionalContext"]
        again = json.loads(agent.text("on_hook", **{**event, "session_id": "s2"}))
        assert "Deploys happen before noon." in again["hookSpecificOutput"]["additionalContext"]
    assert wait_for_rest(60)
    assert memory.list(thread="s1").items[0].content == "When do deploys happen?"


def test_a_hook_that_makes_no_sense_is_answered_with_nothing(
    open_memory: Callable[..., Recollect], home: Path
) -> None:
    with agent_in_memory(open_memory()) as agent:
        assert agent.text("on_hook") == "{}"
        assert agent.text("on_hook", event="nonsense") == "{}"
        (home / "agents.toml").write_text("nonsense = 1")
        assert agent.text("on_hook", event={"hook_event_name": "Stop"}) == "{}"


def test_no_prompt_waits_for_a_memory_that_opens(
    open_memory: Callable[..., Recollect], tmp_path: Path, home: Path
) -> None:
    (home / "agents.toml").write_text("deadline_ms = 1\n")
    may_open = threading.Event()

    @contextmanager
    def opening() -> Iterator[Recollect]:
        may_open.wait()
        yield open_memory()

    with agent_of(make_server(LocalMemory(opening))) as agent:
        assert agent.text("on_hook", event=prompted("When do deploys happen?", tmp_path)) == "{}"
        may_open.set()
        assert agent.answer("list_memories", limit=1)["next_cursor"] is None
    assert wait_for_rest(60)
    answered = [one for one in log.entries(home / "agents") if "late" not in one]
    assert [one["degraded"] for one in answered] == ["deadline"]


def test_a_memory_that_cannot_be_opened_is_said_in_the_log(tmp_path: Path, home: Path) -> None:
    @contextmanager
    def opening() -> Iterator[Recollect]:
        raise StoreUnavailable("there is no disk.")
        yield

    with agent_of(make_server(LocalMemory(opening))) as agent:
        assert agent.text("on_hook", event=prompted("When do deploys happen?", tmp_path)) == "{}"
    (entry,) = log.entries(home / "agents")
    assert (entry["degraded"], entry["session"]) == ("store_unavailable", "s1")
