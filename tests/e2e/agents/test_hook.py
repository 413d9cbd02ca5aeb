"""`recollect hook` in a process of its own: it answers, keeps, and never fails a prompt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.served import served

from recollect import Recollect
from recollect.edge.agents import log
from recollect.policy import PERMISSIONS, Principal

SCRIPT = Path(sys.executable).parent / "recollect"
TEA = "The tea is kept in the blue tin on the upper shelf of the workshop."
ASKED = {"session_id": "s1", "prompt": "Where is the tea kept?"}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with Recollect.open(tmp_path / "agent.db") as memory:
        memory.remember(TEA)
    return tmp_path / "agent.db"


def hook(
    home: Path, *arguments: str, given: Any = None, raw: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **environment}
    told = raw if given is None else json.dumps(given).encode()
    return subprocess.run(
        [SCRIPT, "hook", *arguments], input=told, capture_output=True, env=env, timeout=60
    )


def contents(db: Path) -> list[str]:
    with Recollect.open(db) as memory:
        return sorted(one.content for one in memory.list().items)


def test_a_prompt_is_answered_and_kept(db: Path, tmp_path: Path) -> None:
    done = hook(tmp_path, "user-prompt-submit", "--db", str(db), given=ASKED)
    assert (done.returncode, done.stderr) == (0, b"")
    told = json.loads(done.stdout)["hookSpecificOutput"]
    assert told["hookEventName"] == "UserPromptSubmit"
    assert TEA in told["additionalContext"]
    assert contents(db) == [TEA, ASKED["prompt"]]


def test_a_running_server_is_asked(db: Path, tmp_path: Path) -> None:
    memory = Recollect.open(db)
    key = memory.keys.create(Principal("local", "local", (), PERMISSIONS)).secret
    asking: Any = {"RECOLLECT_KEY": key}
    with served(memory) as url:
        done = hook(tmp_path, "user-prompt-submit", given=ASKED, RECOLLECT_URL=url, **asking)
    assert TEA in done.stdout.decode(), done.stderr
    assert contents(db) == [TEA, ASKED["prompt"]]
    assert not (tmp_path / ".recollect/companion").exists()


def test_a_server_that_is_gone_stops_no_prompt(tmp_path: Path) -> None:
    url = "http://127.0.0.1:1"
    done = hook(tmp_path, "user-prompt-submit", given=ASKED, RECOLLECT_URL=url)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    # The one tells of the answer, the other of what was to be kept.
    late, entry = log.entries(tmp_path / ".recollect/agents")
    assert late["degraded"] == entry["degraded"]
    assert entry["degraded"] == "server_unreachable"


@pytest.mark.parametrize(
    ("arguments", "raw"),
    [
        ((), b""),
        (("nonsense",), b"{}"),
        (("stop",), b"no JSON"),
        (("stop",), b"[" * 100_000),
        (("stop", "--what", "is", "--this=5"), b"{}"),
        (("user-prompt-submit", "--db", "/proc/nowhere/a.db"), json.dumps(ASKED).encode()),
        (("user-prompt-submit", "--db", "/dev/null"), json.dumps(ASKED).encode()),
        (("user-prompt-submit", "--embedder", "nobody"), json.dumps(ASKED).encode()),
    ],
)
def test_whatever_is_wrong_it_ends_well_and_says_nothing(
    tmp_path: Path, arguments: tuple[str, ...], raw: bytes
) -> None:
    done = hook(tmp_path, *arguments, raw=raw)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_options_that_nobody_can_follow_keep_nothing(db: Path, tmp_path: Path) -> None:
    (tmp_path / ".recollect/agents.toml").write_text("capture = 'perhaps'\n")
    done = hook(tmp_path, "user-prompt-submit", "--db", str(db), given=ASKED)
    assert (done.returncode, done.stdout) == (0, b"")
    assert contents(db) == [TEA]


def test_a_file_that_another_process_writes_to_stops_no_prompt(db: Path, tmp_path: Path) -> None:
    import sqlite3

    (tmp_path / ".recollect/agents.toml").write_text("process_deadline_ms = 1500\n")
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        done = hook(
            tmp_path, "stop", "--db", str(db), given={**ASKED, "last_assistant_message": "a"}
        )
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert (done.returncode, done.stdout) == (0, b"")
    assert {one["degraded"] for one in log.entries(tmp_path / ".recollect/agents")} == {"deadline"}


def test_a_pause_holds_in_every_process(db: Path, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run([SCRIPT, "pause", "--for", "2h"], env=env, check=True, capture_output=True)
    assert hook(tmp_path, "user-prompt-submit", "--db", str(db), given=ASKED).stdout == b""
    subprocess.run([SCRIPT, "resume"], env=env, check=True, capture_output=True)
    assert TEA in hook(tmp_path, "user-prompt-submit", "--db", str(db), given=ASKED).stdout.decode()


def test_what_a_claude_code_transcript_holds_is_kept_once_however_often_it_is_told(
    db: Path, tmp_path: Path
) -> None:
    def record(kind: str, uuid: str, content: Any, **more: Any) -> str:
        return json.dumps(
            {
                "type": kind,
                "uuid": uuid,
                "sessionId": "s1",
                "timestamp": "2026-11-18T10:00:00.123Z",
                "cwd": str(tmp_path),
                "message": {"role": kind, "content": content},
                **more,
            }
        )

    transcript = tmp_path / "s1.jsonl"
    transcript.write_text(
        "\n".join(
            [
                record("user", "u1", "Where is the tea kept?"),
                record("assistant", "u2", [{"type": "thinking", "thinking": "hm"}]),
                record("assistant", "u3", [{"type": "text", "text": "I moved the tea to a jar."}]),
                record("user", "u4", [{"type": "tool_result", "content": "ls"}]),
                record("user", "u5", "a summary", isCompactSummary=True),
                record("assistant", "u6", [{"type": "text", "text": "subagent"}], isSidechain=True),
                record("api-request-blob", "u7", "everything again"),
                "not JSON",
                record("user", "u8", "Off the record: Ann leaves."),
                record("assistant", "u9", [{"type": "text", "text": "I see about Ann."}]),
            ]
        )
        + "\n"
    )
    told = {**ASKED, "transcript_path": str(transcript), "client": "claude-code"}
    hook(tmp_path, "user-prompt-submit", "--db", str(db), given=told)
    for event in ("pre-compact", "session-end", "session-end"):
        assert hook(tmp_path, event, "--db", str(db), given=told).returncode == 0
    assert contents(db) == ["I moved the tea to a jar.", TEA, ASKED["prompt"]]
