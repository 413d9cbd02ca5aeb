"""`recollect import claude-code` and `codex`: transcripts that are there, each turn once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.e2e.agents.patient import PATIENT

from recollect import Recollect

SCRIPT = Path(sys.executable).parent / "recollect"


def recollect(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    words = [str(SCRIPT), *map(str, arguments), "--db", str(home / "a.db")]
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)


def told(home: Path, *arguments: str | Path) -> Any:
    done = recollect(home, *arguments, "--json")
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout)


def claude_record(kind: str, uuid: str, text: str, cwd: str, session: str = "s1") -> str:
    content = text if kind == "user" else [{"type": "text", "text": text}]
    return json.dumps(
        {
            "type": kind,
            "uuid": uuid,
            "sessionId": session,
            "timestamp": "2026-11-18T10:00:00.123Z",
            "cwd": cwd,
            "message": {"role": kind, "content": content},
        }
    )


def test_transcripts_of_claude_code_are_brought_in_once(tmp_path: Path) -> None:
    folder = tmp_path / ".claude/projects/-shop"
    folder.mkdir(parents=True)
    quiet = tmp_path / "quiet"
    quiet.mkdir()
    (quiet / ".recollect.toml").write_text("capture = false\n")
    shop = str(tmp_path)
    first = [
        claude_record("user", "u1", "The kiln is booked until June.", shop),
        claude_record("assistant", "u2", "Noted. The token is ghp_" + "a1B2" * 9, shop),
        "no JSON",
        claude_record("user", "u3", "Quiet please.", str(quiet)),
        claude_record("user", "u4", "Off the record: Ann leaves.", shop),
        claude_record("assistant", "u5", "I see.", shop),
    ]
    (folder / "s1.jsonl").write_text("\n".join(first) + "\n")
    # A session that goes on elsewhere brings its turns along, under their old names.
    more = [
        claude_record("user", "u1", "The kiln is booked until June.", shop, "s2"),
        claude_record("user", "u9", "And the glaze?", shop, "s2"),
    ]
    (folder / "s2.jsonl").write_text("\n".join(more) + "\n")
    done = told(tmp_path, "import", "claude-code")
    assert (done["files"], done["imported"], done["known"]) == (2, 3, 1)
    assert done["left_out"] == {"not captured here": 1, "off the record": 2}
    (unread,) = done["unread"]
    assert unread["line"] == 3 and unread["file"].endswith("s1.jsonl") and unread["reason"]
    again = told(tmp_path, "import", "claude-code")
    assert (again["imported"], again["known"]) == (0, 4)
    with Recollect.open(tmp_path / "a.db") as memory:
        turns = {one.content: one for one in memory.list().items}
    assert turns.keys() == {
        "The kiln is booked until June.",
        "Noted. The token is [redacted: github token]",
        "And the glaze?",
    }
    kiln = turns["The kiln is booked until June."]
    assert (kiln.thread, kiln.speaker, kiln.source) == ("s1", "user", "claude-code")
    assert kiln.occurred_at.startswith("2026-11-18T10:00:00")
    assert kiln.project == shop


def test_a_hook_and_an_import_of_the_same_turn_are_one_memory(tmp_path: Path) -> None:
    event = {"session_id": "s1", "cwd": str(tmp_path), "prompt": "The kiln is booked until June."}
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run(
        [
            *PATIENT,
            "hook",
            "user-prompt-submit",
            "--client",
            "claude-code",
            "--db",
            tmp_path / "a.db",
        ],
        input=json.dumps(event).encode(),
        env=env,
        check=True,
    )
    file = tmp_path / "s1.jsonl"
    file.write_text(claude_record("user", "u1", event["prompt"], str(tmp_path)) + "\n")
    done = told(tmp_path, "import", "claude-code", file)
    assert (done["imported"], done["known"]) == (0, 1)


def test_transcripts_of_codex_are_brought_in_from_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "sessions/2026/11/18"
    folder.mkdir(parents=True)
    records = [
        {"type": "session_meta", "payload": {"id": "c1", "cwd": str(tmp_path)}},
        {
            "timestamp": "2026-11-18T10:00:00Z",
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "The kiln is booked."}],
            },
        },
    ]
    (folder / "rollout-1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    for expected in ("Imported 1 turns of 1 transcripts; 0 were", "Imported 0 turns of 1 "):
        done = recollect(tmp_path, "import", "codex", tmp_path / "sessions")
        assert done.stdout.startswith(expected), done.stderr


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    done = recollect(tmp_path, "import", "codex", tmp_path / "nowhere")
    assert done.returncode == 1 and "no file and no folder" in done.stderr
    done = recollect(tmp_path, "import", "somebody", tmp_path)
    assert done.returncode == 1 and "no format that we know" in done.stderr
