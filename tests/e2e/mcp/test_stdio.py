"""`recollect mcp` as a client starts it: a process, two pipes, and nothing else on them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import ERAS, RECOLLECT, agent_of, command
from tests.served import served

from recollect import Recollect
from recollect.policy import Principal

END_S = 60
NEWEST = "2025-11-25"


class Wire:
    """A client that writes its messages by hand."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._number = 0

    def send(self, method: str, params: dict[str, Any], **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self.send(method, params, id=self._number)
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert answer["id"] == self._number
        return answer

    def begin(self, version: str = NEWEST) -> dict[str, Any]:
        who = {"name": "by hand", "version": "1"}
        begun = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=who)
        self.send("notifications/initialized", {})
        return begun["result"]


@contextmanager
def wire_to(*words: str, env: dict[str, str] | None = None) -> Iterator[Wire]:
    with subprocess.Popen(
        [RECOLLECT, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    ) as process:
        try:
            yield Wire(process)
        finally:
            process.kill()


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_remembers_in_one_session_and_recalls_in_the_next(
    tmp_path: Path, era: str
) -> None:
    db = str(tmp_path / "agent.db")
    with agent_of(command("--db", db), era) as agent:
        assert agent.answer("remember", content="The kiln is booked until Friday.")["created"]
    with agent_of(command("--db", db), era) as agent:
        (found,) = agent.answer("recall", query="when is the kiln booked?")["results"]
        assert found["beginning"] == "The kiln is booked until Friday."


def test_ten_clients_share_one_warm_memory_through_a_server(tmp_path: Path) -> None:
    memory = Recollect.open(tmp_path / "shared.db", embedder="none")
    ann = Principal("acme", "ann", (), ("read", "write"))
    key = memory.keys.create(ann).secret
    memory.as_principal(ann).remember("The kiln is booked until Friday.", pak_id="kiln")
    memory.remember("The kiln is somebody else's.", pak_id="other")
    with served(memory) as url:
        known = {"RECOLLECT_URL": url, "RECOLLECT_KEY": key}
        with agent_of(command(env=known)) as agent:
            told = agent.answer("recall", query="kiln")
            assert [one["pak_id"] for one in told["results"]] == ["kiln"]
            assert agent.answer("remember", content="A second one.")["created"]
            assert next(one.name for one in agent.ask("list_prompts").prompts) == "self"
        with agent_of(command("--url", url, "--key", "rk_wrong_key")) as agent:
            assert agent.refusal("recall", query="kiln").startswith("this takes a key.")


def test_who_asks_is_known_from_the_key(tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    with Recollect.open(db, embedder="none") as memory:
        reader = Principal("acme", "cat", (), ("read",))
        key = memory.keys.create(reader).secret
        memory.remember("The kiln is nobody's business.")
    with agent_of(command("--db", str(db), "--key", key)) as agent:
        assert agent.answer("recall", query="kiln")["results"] == []
        assert "write" in agent.refusal("remember", content="Mine now.")
        assert "no field 'tenant'" in agent.refusal("recall", query="kiln", tenant="local")


def test_a_memory_that_cannot_be_opened_is_told_to_who_asks(tmp_path: Path) -> None:
    (tmp_path / "agent.db").write_text("This is no database, however long one looks at it." * 99)
    with agent_of(command("--db", str(tmp_path / "agent.db"))) as agent:
        assert len(agent.ask("list_tools").tools) == 8
        said = agent.refusal("recall", query="kiln")
        assert "agent.db" in said
        assert "Traceback" not in said


def test_nothing_but_messages_is_written_and_the_end_of_input_is_the_end(tmp_path: Path) -> None:
    with wire_to("mcp", "--db", str(tmp_path / "agent.db")) as wire:
        begun = wire.begin()
        assert begun["serverInfo"]["name"] == "recollect"
        assert len(begun["instructions"].splitlines()) == 2
        told = wire.ask("tools/call", name="remember", arguments={"content": "The kiln is hot."})
        assert told["result"]["structuredContent"]["created"] is True
        rest, said = wire.process.communicate(timeout=END_S)
        assert (rest, said, wire.process.returncode) == ("", "", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_what_was_acknowledged_is_there(tmp_path: Path, number: int) -> None:
    db = tmp_path / "agent.db"
    with wire_to("mcp", "--db", str(db)) as wire:
        wire.begin()
        wire.ask("tools/call", name="remember", arguments={"content": "The kiln is hot."})
        wire.process.send_signal(number)
        assert wire.process.wait(END_S) == 0
    assert not db.with_name("agent.db-wal").exists()
    with Recollect.open(db) as memory:
        assert [one.content for one in memory.list().items] == ["The kiln is hot."]


def test_who_is_told_to_end_while_it_closes_closes(tmp_path: Path) -> None:
    """A client closes its end, and sends a signal to whoever is not gone at once."""
    program = """
import os, signal, sys
from contextlib import contextmanager
from recollect.edge.mcp.stdio import serve_stdio

@contextmanager
def opening():
    yield object()
    os.kill(os.getpid(), signal.SIGTERM)
    print("closed", file=sys.stderr)

import recollect.edge.mcp.local as local
memory = local.LocalMemory
local_init = memory.__init__
def opened(self, opening):
    local_init(self, opening)
    self.session()
memory.__init__ = opened
serve_stdio(opening, tools="default")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=END_S,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "closed\n")


def test_a_client_of_old_reads_all_in_the_text(tmp_path: Path) -> None:
    with wire_to("mcp", "--db", str(tmp_path / "agent.db"), "--tools", "all") as wire:
        assert wire.begin("2024-11-05")["protocolVersion"] == "2024-11-05"
        (tool, *_) = wire.ask("tools/list")["result"]["tools"]
        assert "outputSchema" not in tool
        told = wire.ask("tools/call", name="remember", arguments={"content": "The kiln is hot."})
        assert "structuredContent" not in told["result"]
        assert told["result"]["content"][0]["text"].startswith("Remembered as ")
        me = wire.ask("tools/call", name="me", arguments={})["result"]["content"][0]["text"]
        assert json.loads(me)["principal"] == "local"


def test_a_profile_or_two_memories_that_make_no_sense_are_refused_at_once(tmp_path: Path) -> None:
    for words, said in (
        (["--tools", "most"], "--tools is default, all or chatgpt"),
        (["--db", "a.db", "--url", "http://127.0.0.1:1"], "--db and --url name two memories"),
    ):
        done = subprocess.run(
            [RECOLLECT, "mcp", *words], capture_output=True, text=True, input="", timeout=END_S
        )
        assert done.returncode == 1, words
        assert said in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize("how", ["the client goes", "a signal"])
def test_a_prompt_that_was_answered_is_kept_though_the_server_ends_at_once(
    tmp_path: Path, how: str
) -> None:
    home = {"RECOLLECT_HOME": str(tmp_path / "home")}
    asked = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "cwd": str(tmp_path),
        "prompt": "The kiln is booked until Friday.",
    }
    with wire_to("mcp", "--db", str(tmp_path / "agent.db"), env=home) as wire:
        wire.begin()
        assert wire.ask("tools/call", name="on_hook", arguments=asked)["result"]
        if how == "a signal":
            wire.process.send_signal(signal.SIGTERM)
        else:
            wire.process.stdin.close()
        assert wire.process.wait(END_S) == 0
    with Recollect.open(tmp_path / "agent.db") as memory:
        assert [one.content for one in memory.list(thread="s1").items] == [asked["prompt"]]
