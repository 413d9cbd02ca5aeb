"""`recollect hook` in a process of its own: it answers, keeps, and never fails a prompt."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents.patient import PATIENT
from tests.served import served

from recollect import Recollect
from recollect.edge.agents import log
from recollect.edge.agents.hand_over import listens
from recollect.policy import PERMISSIONS, Principal

SCRIPT = Path(sys.executable).parent / "recollect"
TEA = "The tea is kept in the blue tin on the upper shelf of the workshop."
ASKED = {"session_id": "s1", "prompt": "Where is the tea kept?"}
# Where it is to be seen that nobody is kept waiting.
HURRIED: set[Path] = set()


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with Recollect.open(tmp_path / "agent.db") as memory:
        memory.remember(TEA)
    return tmp_path / "agent.db"


def hook(
    home: Path, *arguments: str, given: Any = None, raw: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    with begun(home, *arguments, given=given, raw=raw, **environment) as done:
        return done


@contextmanager
def begun(
    home: Path, *arguments: str, given: Any = None, raw: bytes = b"", **environment: str
) -> Iterator[subprocess.CompletedProcess[bytes]]:
    """Give what a hook says; at the end wait for all that it left behind."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **environment}
    told = raw if given is None else json.dumps(given).encode()
    ended, held = os.pipe()
    try:
        yield subprocess.run(
            [*([SCRIPT] if home in HURRIED else PATIENT), "hook", *arguments],
            input=told,
            capture_output=True,
            env=env,
            timeout=60,
            pass_fds=[held],
        )
    finally:
        os.close(held)
        assert os.read(ended, 1) == b""
        os.close(ended)


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


def test_nobody_waits_for_a_file_that_another_process_writes_to(db: Path, tmp_path: Path) -> None:
    import sqlite3

    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    told = {**ASKED, "last_assistant_message": "In the tin."}
    with begun(tmp_path, "stop", "--db", str(db), given=told) as done:
        assert (done.returncode, done.stdout) == (0, b"")
        other.execute("ROLLBACK")
        other.close()
    assert contents(db) == ["In the tin.", TEA]


def in_a_hurry(home: Path, deadline_ms: int = 300) -> None:
    (HURRIED.add if deadline_ms <= 300 else HURRIED.discard)(home)
    (home / ".recollect/agents.toml").write_text(
        f"deadline_ms = 60000\nprocess_deadline_ms = {deadline_ms}\n"
    )


def entries(home: Path) -> list[Any]:
    return list(log.entries(home / ".recollect/agents"))


def test_what_is_not_ready_is_left_out_and_the_prompt_is_kept(db: Path, tmp_path: Path) -> None:
    in_a_hurry(tmp_path, 1)
    done = hook(tmp_path, "user-prompt-submit", "--db", str(db), given=ASKED)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert contents(db) == [TEA, ASKED["prompt"]]
    kept, answered = entries(tmp_path)
    assert (answered["degraded"], answered["given"]) == ("deadline", [])
    assert kept["late"] and len(kept["kept"]) == 1


def test_what_is_off_the_record_is_so_however_late_the_answer_is(db: Path, tmp_path: Path) -> None:
    in_a_hurry(tmp_path, 1)
    asked = {**ASKED, "prompt": "Off the record: is there any tea left in the tin?"}
    hook(tmp_path, "user-prompt-submit", "--db", str(db), given=asked)
    hook(tmp_path, "stop", "--db", str(db), given={**ASKED, "last_assistant_message": "No."})
    assert contents(db) == [TEA]


def test_a_start_that_came_too_late_is_made_up_for_by_the_first_prompt(
    db: Path, tmp_path: Path
) -> None:
    with Recollect.open(db) as memory:
        for speaker, text in (("user", "Glaze the pots."), ("assistant", "They lack a coat.")):
            memory.remember(text, speaker=speaker, thread="s0", project=str(tmp_path))
    told = {**ASKED, "cwd": str(tmp_path)}
    words = ("--client", "claude-code", "--db", str(db))
    in_a_hurry(tmp_path, 1)
    assert hook(tmp_path, "session-start", *words, given=told).stdout == b""
    in_a_hurry(tmp_path, 60_000)
    first = hook(tmp_path, "user-prompt-submit", *words, given=told).stdout.decode()
    assert "They lack a coat." in first and TEA in first
    assert hook(tmp_path, "user-prompt-submit", *words, given=told).stdout == b""


@contextmanager
def listening(home: Path, *, says: bytes | None = None) -> Iterator[threading.Event]:
    """Listen where a server of ours would, and answer once the event is set; None: never."""
    may_answer = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / ".recollect/serve.sock"))
        listener.listen()

        def serve() -> None:
            there, _ = listener.accept()
            with there:
                may_answer.wait(60)
                if says is not None:
                    with suppress(OSError):  # nobody waits for it any more
                        there.recv(65_536)
                        there.sendall(says)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield may_answer
        may_answer.set()
        thread.join(60)


def test_a_server_that_hangs_holds_up_no_prompt(db: Path, tmp_path: Path) -> None:
    in_a_hurry(tmp_path)
    with listening(tmp_path):
        # It is released when the hook has ended: whoever waited for it would wait for ever.
        done = hook(tmp_path, "user-prompt-submit", given=ASKED)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (entry,) = entries(tmp_path)
    assert entry["degraded"] == "deadline" and entry["lost"]


def test_an_answer_that_a_server_gives_too_late_is_not_said(db: Path, tmp_path: Path) -> None:
    in_a_hurry(tmp_path)
    with (
        listening(tmp_path, says=b"HTTP/1.1 200 OK\r\n\r\n{}") as may_answer,
        begun(tmp_path, "session-start", given=ASKED) as done,
    ):
        may_answer.set()
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_where_a_server_is_dead_the_file_is_opened(db: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / ".recollect/serve.sock"))
    done = hook(tmp_path, "user-prompt-submit", given=ASKED, RECOLLECT_DB=str(db))
    assert TEA in done.stdout.decode()


@pytest.mark.parametrize("what", ["log", "file", "options"])
def test_a_disk_that_does_not_answer_holds_up_no_prompt(
    db: Path, tmp_path: Path, what: str
) -> None:
    in_a_hurry(tmp_path)
    (tmp_path / ".recollect/agents").mkdir()
    places = {"log": "agents/hooks.jsonl", "file": "slow.db", "options": "agents.toml"}
    place = tmp_path / ".recollect" / places[what]
    place.unlink(missing_ok=True)
    # Nobody writes to it: who opens it waits.
    os.mkfifo(place)
    chosen = place if what == "file" else db
    words = ("user-prompt-submit", "--db", str(chosen))
    with begun(tmp_path, *words, given=ASKED) as done:
        assert (done.returncode, done.stderr) == (0, b"")
        handle = os.open(place, os.O_RDWR | os.O_NONBLOCK)
        shutil.rmtree(tmp_path / ".recollect")
        os.close(handle)


def test_a_client_that_does_not_close_its_end_is_not_waited_for(db: Path, tmp_path: Path) -> None:
    in_a_hurry(tmp_path)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    words = [str(SCRIPT), "hook", "user-prompt-submit", "--db", str(db)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as started:
        assert started.wait(60) == 0


def test_a_server_of_the_same_home_answers_from_what_it_holds(db: Path, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    place = tmp_path / ".recollect/serve.sock"
    words = [str(SCRIPT), "serve", "--socket", str(place), "--db", str(db)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as server:
        try:
            while server.poll() is None and not listens(place):
                time.sleep(0.05)
            told = {**ASKED, "cwd": str(tmp_path), "client": "agent"}
            # No file is opened by the hook: there is none of this name, and none is begun.
            asking: Any = {"RECOLLECT_DB": str(tmp_path / "none.db")}
            done = hook(tmp_path, "user-prompt-submit", given=told, **asking)
            assert TEA in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
            said = {**told, "last_assistant_message": "It is in the tin, I saw it."}
            assert hook(tmp_path, "stop", given=said, **asking).stdout == b""
        finally:
            server.terminate()
            server.communicate(timeout=60)
    assert contents(db) == [said["last_assistant_message"], TEA, ASKED["prompt"]]
    assert not (tmp_path / "none.db").exists()
    assert {one["event"] for one in entries(tmp_path)} == {"UserPromptSubmit", "Stop"}


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
