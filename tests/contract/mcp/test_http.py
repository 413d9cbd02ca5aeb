"""MCP over HTTP: the same tools, for whoever the bearer token of a request stands for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.mcp_client import ERAS, Agent, agent_over_http
from tests.served import TOKEN, served

from recollect import Recollect
from recollect.edge.agents.deadline import wait_for_rest
from recollect.edge.agents.hand_over import seen_by
from recollect.policy import Principal

ANN = Principal("acme", "ann", (), ("read", "write"))
BEN = Principal("acme", "ben", (), ("read",))
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture
def memory(tmp_path: Path) -> Recollect:
    return Recollect.open(tmp_path / "agent.db", embedder="none")


@pytest.fixture
def keys(memory: Recollect) -> dict[str, str]:
    return {one.id: memory.keys.create(one).secret for one in (ANN, BEN)}


@pytest.fixture
def url(memory: Recollect, keys: dict[str, str]) -> Iterator[str]:
    with served(memory) as address:
        yield address


@pytest.fixture(params=ERAS)
def agent(url: str, keys: dict[str, str], request: pytest.FixtureRequest) -> Iterator[Agent]:
    with agent_over_http(f"{url}/mcp", keys["ann"], request.param) as one:
        yield one


def initialize(**changes: Any) -> dict[str, Any]:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params, **changes}


def test_a_key_says_whose_memory_it_is(agent: Agent, url: str, keys: dict[str, str]) -> None:
    assert len(agent.ask("list_tools").tools) == 8
    assert agent.answer("remember", content="The kiln is booked until Friday.")["created"]
    assert len(agent.answer("recall", query="kiln")["results"]) == 1
    assert "is data from memory" in agent.text("recall", query="kiln")
    with agent_over_http(f"{url}/mcp", keys["ben"]) as ben:
        assert ben.answer("recall", query="kiln")["results"] == []
        assert "write" in ben.refusal("remember", content="Mine now.")


def test_frames_are_prompts_here_too(agent: Agent) -> None:
    agent.call("remember", content="The kiln is booked until Friday.")
    (message,) = agent.ask("get_prompt", "attention", {"query": "kiln"}).messages
    assert "> [1] The kiln is booked until Friday." in message.content.text


def test_an_echo_is_known_to_whoever_may_read_what_it_repeats(
    agent: Agent, url: str, keys: dict[str, str], memory: Recollect
) -> None:
    shared = memory.as_principal(ANN).remember("The kiln is hot.", scope="company")
    agent.call("recall", query="kiln")
    told = agent.answer("remember", content="The kiln is hot.")
    assert told["meta"] == {"echo_of": [shared.pak_id]}
    other = memory.keys.create(Principal("acme", "cat", (), ("read", "write"))).secret
    with agent_over_http(f"{url}/mcp", other) as cat:
        assert cat.answer("remember", content="the kiln is HOT.")["meta"] == told["meta"]
        assert cat.answer("remember", content="The kiln is not hot.")["created"] is True


@pytest.fixture
def patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which hooks take as long as they need."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "agents.toml").write_text("deadline_ms = 60000\n")
    monkeypatch.setenv("RECOLLECT_HOME", str(home))
    return home


def hook(url: str, shown: str, **event: Any) -> httpx.Response:
    told = {"session_id": "s1", **event}
    headers = {"authorization": f"Bearer {shown}"}
    return httpx.post(f"{url}/mcp/hook", json=told, headers=headers, timeout=90, trust_env=False)


def test_an_event_may_be_posted_as_a_client_tells_it(
    patient: Path, memory: Recollect, url: str, keys: dict[str, str]
) -> None:
    memory.as_principal(ANN).remember("The kiln is booked until Friday.", scope="company")
    asked = {"hook_event_name": "UserPromptSubmit", "prompt": "Is the kiln booked on Friday?"}
    told = hook(url, keys["ann"], **asked).json()["hookSpecificOutput"]["additionalContext"]
    assert "The kiln is booked until Friday." in told
    # Somebody else who names the same session was given nothing in it as yet.
    told = hook(url, keys["ben"], **asked).json()["hookSpecificOutput"]["additionalContext"]
    assert "The kiln is booked until Friday." in told
    assert hook(url, keys["ann"], **asked).json() == {}
    assert hook(url, "rk_no_such", **asked).status_code == 401
    assert hook(url, keys["ann"]).json() == {}


def test_no_transcript_of_this_machine_is_read_for_who_shows_a_key(
    patient: Path, memory: Recollect, url: str, keys: dict[str, str], agent: Agent
) -> None:
    said = {"role": "user", "content": "The safe opens at noon."}
    record = {"type": "user", "uuid": "u1", "sessionId": "s1", "cwd": "/", "message": said}
    (patient / "s1.jsonl").write_text(json.dumps(record) + "\n")
    for name in ("SessionEnd", "PreCompact"):
        event = {"hook_event_name": name, "transcript_path": str(patient / "s1.jsonl")}
        assert hook(url, keys["ann"], **event).json() == {}
        assert agent.text("on_hook", session_id="s1", **event) == "{}"
    assert wait_for_rest(60)
    assert memory.as_principal(ANN).list().items == ()


def test_who_sees_other_folders_than_the_server_is_told_so(
    patient: Path, url: str, keys: dict[str, str]
) -> None:
    event = {"hook_event_name": "Stop", "cwd": str(patient), "last_assistant_message": "Hot."}
    for seen in ({"home": [1, 1], "cwd": None}, {}, "x"):
        assert hook(url, keys["ann"], event=event, seen=seen).status_code == 409
    here = seen_by(patient, str(patient))
    assert hook(url, keys["ann"], event=event, seen=here, waited_ms=5).status_code == 200


@pytest.mark.parametrize("shown", [None, "Bearer rk_no_such", f"Bearer {TOKEN}", "Basic eA=="])
def test_who_shows_nothing_good_is_told_so_before_a_message_is_read(
    url: str, shown: str | None
) -> None:
    headers = HEADERS | ({} if shown is None else {"authorization": shown})
    answer = httpx.post(f"{url}/mcp", json=initialize(), headers=headers, trust_env=False)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["code"] == "key_needed"


@pytest.mark.parametrize("header", ["host", "origin"])
def test_another_sites_page_may_not_ask(url: str, keys: dict[str, str], header: str) -> None:
    headers = HEADERS | {"authorization": f"Bearer {keys['ann']}"}
    headers[header] = "evil.example" if header == "host" else "https://evil.example"
    answer = httpx.post(f"{url}/mcp", json=initialize(), headers=headers, trust_env=False)
    assert answer.json()["code"] == "wrong_host"


def test_nothing_is_kept_between_requests(url: str, keys: dict[str, str]) -> None:
    """So that any worker can answer any request."""
    headers = HEADERS | {"authorization": f"Bearer {keys['ann']}"}
    begun = httpx.post(f"{url}/mcp", json=initialize(), headers=headers, trust_env=False)
    assert begun.status_code == 200
    assert "mcp-session-id" not in begun.headers
    for method in ("GET", "DELETE"):
        other = httpx.request(method, f"{url}/mcp", headers=headers, trust_env=False)
        assert other.status_code == 405
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    told = httpx.post(f"{url}/mcp", json=listing, headers=headers, trust_env=False)
    assert '"remember"' in told.text


def test_a_client_may_ask_how_far_it_is(memory: Recollect, keys: dict[str, str]) -> None:
    heard = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    with (
        served(memory, mcp_tools="all") as url,
        agent_over_http(f"{url}/mcp", keys["ann"], "legacy") as agent,
    ):
        items = [f"Fact number {number}." for number in range(50)]
        agent.ask("call_tool", "remember_many", {"items": items}, progress_callback=hear)
    assert heard[-1] == (50, 50)


def test_quotas_and_rates_hold_for_tools(memory: Recollect, keys: dict[str, str]) -> None:
    with (
        served(memory, most_memories=1, rate=0.001, burst=4) as url,
        agent_over_http(f"{url}/mcp", keys["ann"]) as agent,
    ):
        assert agent.answer("remember", content="One.")["created"]
        assert "more than 1 memories" in agent.refusal("remember", content="Two.")
        agent.call("recall", query="one")
        agent.call("recall", query="one")
        assert "ask" in agent.refusal("recall", query="one").lower()


def test_where_only_mcp_is_served_there_is_nothing_else(
    memory: Recollect, keys: dict[str, str]
) -> None:
    with served(memory, only_mcp=True) as url:
        for path in ("/v1/recall", "/", "/openapi.json", "/reference"):
            assert httpx.get(f"{url}{path}", trust_env=False).status_code == 404
        assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
        with agent_over_http(f"{url}/mcp", keys["ann"]) as agent:
            assert agent.answer("list_memories")["items"] == []
