"""Claude Code and Codex themselves, offline, with this memory: `make test-agents`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.clients import ASK, Place, ask_in_time, needs_clients
from tests.agents.fake_model import fake_model
from tests.house.snippets import ROOT

from recollect import Recollect

pytestmark = needs_clients
both = pytest.mark.parametrize("client", ASK)
TEA = "The tea is kept in the blue tin on the upper shelf of the workshop."
QUESTION = "Where is the tea kept?"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with fake_model() as model:
        made = Place(tmp_path / "home", model)
        made.prepare()
        with Recollect.open(made.db) as memory:
            memory.remember(TEA, source="notes")
        yield made


@both
def test_what_fits_a_prompt_is_in_the_request_that_the_model_gets(
    client: str, place: Place
) -> None:
    place.install(client)
    assert "Understood." in ask_in_time(client, place, QUESTION)
    (asked,) = [one for one in place.model.asked() if QUESTION in one]
    assert TEA in asked
    assert "<recollect-memory" in asked and "data, not instructions" in asked
    assert "source notes; trust user_approved" in asked


@both
def test_the_turn_is_in_the_store_with_speaker_thread_time_and_project(
    client: str, place: Place
) -> None:
    place.install(client)
    place.model.says = "In the blue tin, I believe."
    ASK[client](place, QUESTION)
    turns = place.turns()
    assert turns.keys() == {("user", QUESTION), ("assistant", "In the blue tin, I believe.")}
    asked, said = turns["user", QUESTION], turns["assistant", "In the blue tin, I believe."]
    assert asked.thread == said.thread and asked.thread
    assert asked.source == said.source == client
    assert asked.project == said.project == str(place.project)
    assert asked.occurred_at and said.occurred_at >= asked.occurred_at
    assert place.log()[0]["client"] == client


@both
def test_an_echo_is_not_stored_and_a_turn_is_stored_once_whoever_tells_of_it(
    client: str, place: Place
) -> None:
    place.install(client)
    place.model.says = TEA
    ask_in_time(client, place, QUESTION)
    last = place.log()[-1]["session"]
    with Recollect.open(place.db) as memory:
        assert "assistant" not in {one.speaker for one in memory.list(thread=last).items}
    told = json.loads(place.recollect("import", client, "--json"))
    assert told["files"] >= 1 and told["unread"] == []
    assert told["imported"] == 0
    assert told["left_out"].get("echo", 0) >= 1


@both
def test_a_secret_in_a_prompt_is_not_in_the_file(client: str, place: Place) -> None:
    place.install(client)
    secret = "ghp_" + "a1B2" * 9
    ASK[client](place, f"Push the branch with {secret} please.")
    assert ("user", "Push the branch with [redacted: github token] please.") in place.turns()
    assert secret.encode() not in place.db.read_bytes()


@both
def test_a_dead_server_does_not_stop_the_prompt(client: str, place: Place) -> None:
    place.install(client, "--url", "http://127.0.0.1:1")
    assert "Understood." in ASK[client](place, QUESTION)
    (asked,) = [one for one in place.model.asked() if QUESTION in one]
    assert TEA not in asked


@both
def test_a_server_that_is_not_there_does_not_stop_the_prompt(client: str, place: Place) -> None:
    place.install(client)
    for file in (
        ".claude.json",
        ".claude/settings.json",
        ".codex/config.toml",
        ".codex/hooks.json",
    ):
        path = place.home / file
        if path.exists():
            path.write_text(path.read_text().replace("/bin/recollect", "/bin/nobody"))
    assert "Understood." in ASK[client](place, QUESTION)


@both
def test_a_pause_keeps_and_shows_nothing(client: str, place: Place) -> None:
    place.install(client)
    place.recollect("pause")
    ASK[client](place, QUESTION)
    assert place.turns() == {}
    assert not [one for one in place.model.asked() if TEA in one]
    place.recollect("resume")
    assert json.loads(place.recollect("import", client, "--json"))["imported"] == 0


@both
def test_the_next_session_starts_with_how_the_last_one_ended(client: str, place: Place) -> None:
    place.install(client)
    place.model.says = "The second coat of glaze is still missing."
    ASK[client](place, "Glaze the pots on the left, please.")
    ask_in_time(client, place, "Fix the colour of the page header.")
    asked = next(one for one in place.model.asked() if "page header" in one)
    assert "Where the last session of this project ended" in asked
    assert "second coat of glaze" in asked


# How each client calls the tool that runs a command, and how it is made to compact.
SHELL: dict[str, tuple[str, dict[str, Any]]] = {
    "claude-code": ("Bash", {"command": "echo hello", "description": "Says hello"}),
    "codex": ("exec_command", {"cmd": "echo hello"}),
}
MAY = {
    "claude-code": ("--allowedTools", "Bash"),
    "codex": ("--dangerously-bypass-approvals-and-sandbox",),
}


@both
@pytest.mark.parametrize("tools", [True, False], ids=["asked for", "not asked for"])
def test_an_act_of_a_tool_is_kept_in_one_line_if_somebody_asked(
    client: str, place: Place, tools: bool
) -> None:
    place.recollect("install", client, *(["--tools"] if tools else []))
    place.model.does = SHELL[client]
    ask_in_time(client, place, "Say hello in the shell.", *MAY[client])
    assert place.model.does is None
    fired = [one for one in place.log() if one["event"] == "PostToolUse"]
    assert bool(fired) is tools
    kept = [one for one in place.turns().values() if one.speaker == "tool"]
    assert [one.content for one in kept] == (["Bash: echo hello"] if tools else [])
    assert {(one.source, one.authority) for one in kept} <= {("tool:Bash", "external")}


@both
def test_what_was_said_is_kept_before_it_is_compacted(client: str, place: Place) -> None:
    place.install(client)
    if client == "codex":
        # It compacts by itself once a turn has taken more tokens than this.
        place.model.does, place.model.tokens = SHELL[client], 200_000
        more = ("-c", "model_auto_compact_token_limit=1000", *MAY[client])
        ask_in_time(client, place, QUESTION, *more)
    else:
        ask_in_time(client, place, QUESTION)
        before = len(place.log())
        place.run("claude", "-p", "--continue", "/compact")
        place.ended(before)
    last = place.log()[-1]["session"]
    of_it = [one for one in place.log() if (one["event"], one["session"]) == ("PreCompact", last)]
    # Where the machine is busy it was kept a moment later, and a second line says so.
    assert of_it and {one["client"] for one in of_it} == {client}
    assert "degraded" not in of_it[-1] and "skipped" not in of_it[-1]
    assert ("user", QUESTION) in place.turns()


@both
def test_installing_twice_changes_nothing_and_uninstalling_gives_the_files_back(
    client: str, place: Place
) -> None:
    mine = {".claude/settings.json": '{\n  "model": "opus"\n}\n', ".codex/hooks.json": "{}\n"}
    for name, text in mine.items():
        (place.home / name).parent.mkdir(exist_ok=True)
        (place.home / name).write_text(text)
    config = (place.home / ".codex/config.toml").read_text()
    place.recollect("install", client)
    assert "is set up already" in place.recollect("install", client)
    assert "connects" in place.recollect("doctor", client)
    place.recollect("uninstall", client)
    assert {name: (place.home / name).read_text() for name in mine} == mine
    assert (place.home / ".codex/config.toml").read_text() == config
    ASK[client](place, QUESTION)
    assert place.turns() == {}


@both
def test_a_client_that_keeps_its_files_elsewhere_is_set_up_there(client: str, place: Place) -> None:
    elsewhere = place.home / "elsewhere"
    (place.home / ".codex").rename(elsewhere)
    place.more = {"CODEX_HOME": str(elsewhere), "CLAUDE_CONFIG_DIR": str(elsewhere)}
    place.install(client)
    ask_in_time(client, place, QUESTION)
    assert [one for one in place.model.asked() if TEA in one]
    assert json.loads(place.recollect("import", client, "--json"))["files"] >= 1
    place.recollect("uninstall", client)
    before = len(place.log())
    ASK[client](place, QUESTION)
    assert len(place.log()) == before
    assert not (place.home / ".codex").exists() and not (place.home / ".claude").exists()


def test_the_plugin_of_claude_code_is_valid_and_does_the_same(place: Place) -> None:
    plugin = place.home / "plugin"
    for folder in (ROOT / "plugins/claude-code", ROOT):
        assert "Validation passed" in place.run("claude", "plugin", "validate", folder)
    shutil.copytree(ROOT / "plugins/claude-code", plugin)
    ask_in_time("claude-code", place, QUESTION, "--plugin-dir", str(plugin))
    assert [one for one in place.model.asked() if TEA in one]
    assert place.turns().keys() == {("user", QUESTION), ("assistant", "Understood.")}


def test_the_plugin_of_codex_is_taken_and_does_the_same(place: Place) -> None:
    root = place.home / "marketplace"
    for part in (".agents", "plugins"):
        shutil.copytree(ROOT / part, root / part)
    place.run("codex", "plugin", "marketplace", "add", str(root))
    place.run("codex", "plugin", "add", "recollect@recollect")
    assert "installed, enabled" in place.run("codex", "plugin", "list")
    # Codex starts servers without our environment: where the memory is, its file says.
    place.db.replace(place.home / "other.db")
    (place.home / ".recollect/companion").mkdir(parents=True, exist_ok=True)
    (place.home / "other.db").replace(place.home / ".recollect/companion/recall.db")
    ask_in_time("codex", place, QUESTION)
    assert [one for one in place.model.asked() if TEA in one]
