"""`recollect doctor`: it starts what clients would start, and reads what hooks did."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.e2e.agents.patient import PATIENT

from recollect import Recollect

SCRIPT = Path(sys.executable).parent / "recollect"


def recollect(
    home: Path, *arguments: str | Path, given: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    env = {"PATH": f"{SCRIPT.parent}:/usr/bin:/bin", "HOME": str(home), **environment}
    begin = PATIENT if arguments[0] == "hook" else (str(SCRIPT),)
    words = [*begin, *map(str, arguments)]
    return subprocess.run(
        words, input=given, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def finding(home: Path, client: str) -> Any:
    (found,) = json.loads(recollect(home, "doctor", client, "--json").stdout)["clients"]
    return found


def test_a_client_that_is_set_up_connects_and_tells_what_its_hooks_did(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with Recollect.open(db) as memory:
        pak = memory.remember("The tea is kept in the blue tin of the workshop.").pak_id
    assert finding(tmp_path, "claude-code")["is_configured"] is False
    done = recollect(tmp_path, "install", "claude-code", "--db", db)
    assert f"is kept in {db}" in done.stdout, done.stderr
    found = finding(tmp_path, "claude-code")
    assert found["is_configured"] and found["has_hooks"] and found["connects"]
    assert found["fired"] == [] and found["given"] == []
    event = json.dumps({"session_id": "s1", "prompt": "Where is the tea kept?"})
    words = ("hook", "user-prompt-submit", "--client", "claude-code", "--db", db)
    recollect(tmp_path, *words, given=event)
    found = finding(tmp_path, "claude-code")
    assert found["fired"][0]["event"] == "UserPromptSubmit"
    assert found["fired"][0]["ms"] > 0
    assert found["given"] == [pak] and found["tokens"] > 0
    said = recollect(tmp_path, "doctor", "claude-code")
    assert said.returncode == 0
    assert "claude-code: set up, connects, hooks" in said.stdout
    assert f"tokens, {pak}" in said.stdout and "tea" not in said.stdout


def test_where_nothing_is_set_up_it_says_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text("{}")
    said = recollect(tmp_path, "doctor").stdout
    assert "cursor: not set up" in said
    assert said.endswith("Next: `recollect install cursor --dry-run` shows what would be set up.\n")


def test_a_client_whose_server_is_gone_is_told(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    entry = {"mcpServers": {"recollect": {"command": "/nowhere/recollect", "args": ["mcp"]}}}
    (tmp_path / ".cursor/mcp.json").write_text(json.dumps(entry))
    done = recollect(tmp_path, "doctor", "cursor")
    assert done.returncode == 1
    assert "cursor: set up, does not connect" in done.stdout
    assert "cannot be started" in done.stdout


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text("{nonsense")
    done = recollect(tmp_path, "doctor")
    assert done.returncode == 1 and "line 1 cannot be read" in done.stdout
    assert "zed: not here" in done.stdout


def test_installing_shows_the_change_first_and_changes_nothing_in_a_dry_run(tmp_path: Path) -> None:
    done = recollect(tmp_path, "install", "codex", "--dry-run", "--db", tmp_path / "a.db")
    assert done.returncode == 0
    assert "+[mcp_servers.recollect]" in done.stdout and "on_hook" in done.stdout
    assert "Nothing was changed" in done.stdout
    assert [one.name for one in tmp_path.rglob("*")] == [".recollect", "agents.toml"]


def test_variables_of_the_clients_say_where_their_files_are(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    chosen = {"CLAUDE_CONFIG_DIR": str(elsewhere), "CODEX_HOME": "", "XDG_CONFIG_HOME": "relative"}
    words = ("install", "claude-code", "--db", tmp_path / "a.db", "--json")
    told = json.loads(recollect(tmp_path, *words, **chosen).stdout)
    assert told["files"] == [str(elsewhere / ".claude.json"), str(elsewhere / "settings.json")]
    done = recollect(tmp_path, "doctor", "claude-code", "--json", **chosen)
    (found,) = json.loads(done.stdout)["clients"]
    assert found["is_configured"] and found["has_hooks"]
    assert finding(tmp_path, "claude-code")["is_configured"] is False
    told = json.loads(recollect(tmp_path, "install", "zed", "--dry-run", "--json", **chosen).stdout)
    assert told["files"] == [str(tmp_path / ".config/zed/settings.json")]
    recollect(tmp_path, "uninstall", "claude-code", **chosen)
    assert not elsewhere.exists()


def test_transcripts_are_looked_for_where_the_client_writes_them(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere/projects/-shop"
    folder.mkdir(parents=True)
    said = {"role": "user", "content": "The kiln is booked until June."}
    record = {"type": "user", "uuid": "u1", "sessionId": "s1", "cwd": "/", "message": said}
    (folder / "s1.jsonl").write_text(json.dumps(record) + "\n")
    words = ("import", "claude-code", "--db", tmp_path / "a.db", "--json")
    assert json.loads(recollect(tmp_path, *words).stdout)["imported"] == 0
    chosen = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert json.loads(recollect(tmp_path, *words, **chosen).stdout)["imported"] == 1
