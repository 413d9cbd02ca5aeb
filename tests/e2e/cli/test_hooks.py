"""`recollect hooks …` as real processes: what is configured, what it decides, what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.cli.conftest import Run

GUARD = """\
[[hook]]
event = "pre_remember"
command = ["sh", "guard.sh"]
fail_mode = "closed"
priority = 5
"""
SCRIPT = """\
grep -q password && echo '{"action":"deny","reason":"no passwords","code":422}'
true
"""
BROKEN = """\
[[hook]]
event = "pre_recall"
command = ["sh", "-c", "echo no licence >&2; exit 3"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "guard.sh").write_text(SCRIPT)
    path = tmp_path / "hooks.toml"
    path.write_text(GUARD)
    return path


def test_the_hooks_are_listed(run: Run, file: Path) -> None:
    shown = run("hooks", "list", "--hooks", file)
    assert shown.returncode == 0
    assert "guard.sh" in shown.stdout
    assert "denies" in shown.stdout
    assert json.loads(run("hooks", "list", "--hooks", file, "--json").stdout) == {
        "file": str(file),
        "hooks": [
            {
                "hook": "guard.sh",
                "event": "pre_remember",
                "mode": "exec",
                "command": ["sh", "guard.sh"],
                "python": None,
                "priority": 5,
                "timeout_ms": None,
                "namespace": "*",
                "fail_mode": "closed",
                "enabled": True,
            }
        ],
    }


def test_the_file_comes_from_the_environment_or_from_home(
    run: Run, file: Path, tmp_path: Path
) -> None:
    named = run("hooks", "list", RECOLLECT_HOOKS=str(file))
    at_home = run("hooks", "list", RECOLLECT_HOME=str(tmp_path))
    assert named.stdout == at_home.stdout
    assert "guard.sh" in named.stdout
    missing = run("hooks", "list")
    assert missing.returncode == 1
    assert "There is no file of hooks" in missing.stderr


def test_an_event_is_tried_without_a_memory(run: Run, file: Path) -> None:
    payload = '{"content": "password: hunter2"}'
    shown = run("hooks", "test", "pre_remember", "--payload", payload, "--hooks", file)
    assert "Denied 422: no passwords" in shown.stdout
    answer = json.loads(run("hooks", "test", "pre_remember", "--hooks", file, "--json").stdout)
    assert answer["action"] == "allow"
    assert answer["payload"]["content"].startswith("A text")
    assert [one["hook"] for one in answer["hooks"]] == ["guard.sh"]
    nobody = run("hooks", "test", "pre_link", "--hooks", file)
    assert "No hook listens to pre_link here." in nobody.stdout


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ("{", "no JSON"),
        ("[]", "JSON object"),
        ('{"colour": 1}', "has no 'colour'"),
        ('{"content": 1}', "content must be a text"),
        ('{"tags": "a"}', "tags must be a list"),
        ('{"confidence": "x"}', "confidence must be a number"),
    ],
)
def test_a_payload_that_is_wrong_is_refused(run: Run, file: Path, payload: str, words: str) -> None:
    done = run("hooks", "test", "pre_remember", "--payload", payload, "--hooks", file)
    assert done.returncode == 1
    assert words in done.stderr


def test_an_event_that_is_not_there_is_a_typing_error(run: Run, file: Path) -> None:
    done = run("hooks", "test", "pre_nap", "--hooks", file)
    assert done.returncode == 2
    assert "pre_recall_expand" in done.stderr


def test_the_doctor_finds_all_well(run: Run, file: Path) -> None:
    done = run("hooks", "doctor", "--rounds", "3", "--hooks", file, "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    (only,) = answer["hooks"]
    assert answer["ok"]
    assert (only["state"], only["action"], only["problem"]) == ("ready", "allow", None)
    assert 0 < only["p50_ms"] <= only["max_ms"]


def test_the_doctor_names_what_fails_and_shows_its_stderr(run: Run, file: Path) -> None:
    file.write_text(GUARD + BROKEN)
    done = run("hooks", "doctor", "--rounds", "2", "--hooks", file)
    assert done.returncode == 1
    assert "ready" in done.stdout
    assert "failed" in done.stdout
    assert "exited with code 3" in done.stdout
    assert "no licence" in done.stdout


def test_a_file_that_is_wrong_is_named_with_line_and_field(run: Run, file: Path) -> None:
    file.write_text(GUARD + "timeout_ms = 0\n")
    for command in (("list",), ("doctor",), ("reload",), ("test", "pre_link")):
        done = run("hooks", *command, "--hooks", file, "--json")
        assert done.returncode == 1
        error = json.loads(done.stdout)["error"]
        assert error["code"] == "hook_config"
        assert "line 6, field timeout_ms" in error["message"]


LISTENING = """
import sys
from pathlib import Path
from recollect.hooks.handle import Hooks

hooks = Hooks(Path(sys.argv[1]))
if sys.argv[2] == "listens":
    hooks.reload_on_sighup()
print(len(hooks.list()), flush=True)
for line in sys.stdin:
    print(len(hooks.list()), hooks.stats()["reloads"], flush=True)
hooks.close()
"""


def listening(file: Path, how: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING, file, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    return process


def test_a_running_process_takes_the_file_over(run: Run, file: Path) -> None:
    with listening(file, "listens") as process:
        file.write_text("")
        done = run("hooks", "reload", "--pid", str(process.pid), "--hooks", file)
        assert done.returncode == 0
        assert f"Process {process.pid} was told" in done.stdout
        assert process.stdin is not None
        assert process.stdout is not None
        said = ""
        while said != "0 1\n":
            process.stdin.write("\n")
            process.stdin.flush()
            said = process.stdout.readline()
            assert said in ("1 0\n", "0 1\n")
        process.communicate()


def test_a_process_that_does_not_listen_is_left_alone(run: Run, file: Path) -> None:
    with listening(file, "deaf") as process:
        done = run("hooks", "reload", "--pid", str(process.pid), "--hooks", file)
        assert done.returncode == 1
        assert "does not listen to SIGHUP" in done.stderr
        assert process.poll() is None
        process.communicate()
    gone = run("hooks", "reload", "--pid", str(process.pid), "--hooks", file)
    assert "There is no process" in gone.stderr


def test_a_bad_file_is_not_handed_on(run: Run, file: Path) -> None:
    with listening(file, "listens") as process:
        file.write_text("nonsense")
        done = run("hooks", "reload", "--pid", str(process.pid), "--hooks", file)
        assert done.returncode == 1
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "1 0\n"
        process.communicate()


def test_the_verbs_of_the_command_line_go_through_the_hooks(
    run: Run, file: Path, copy: Path, tmp_path: Path
) -> None:
    environment = {"RECOLLECT_HOOKS": str(file)}
    refused = run("remember", "my password is tea", "--db", copy, **environment)
    assert refused.returncode == 1
    assert "pre_remember was denied (422): no passwords" in refused.stderr
    stored = run("remember", "Tea is at four.", "--db", copy, "--json", **environment)
    assert json.loads(stored.stdout)["meta"]["hooks"][0]["hook"] == "guard.sh"


def test_a_denied_recall_is_told_from_an_empty_one(
    run: Run, file: Path, copy: Path, tmp_path: Path
) -> None:
    deny = 'echo \'{"action":"deny","reason":"closed"}\''
    for event in ("pre_recall", "pre_frame"):
        (tmp_path / "deny.sh").write_text(deny)
        file.write_text(
            f'[[hook]]\nevent = "{event}"\nmode = "exec"\ncommand = ["sh", "deny.sh"]\n'
        )
        command = ("recall",) if event == "pre_recall" else ("frame", "attention")
        done = run(*command, "deploys", "--db", copy, RECOLLECT_HOOKS=str(file))
        assert done.returncode == 0
        assert "Denied by a hook (403): closed" in done.stdout + done.stderr


def test_a_hook_that_failed_is_named(run: Run, file: Path, copy: Path) -> None:
    file.write_text(BROKEN)
    done = run("recall", "deploys", "--db", copy, RECOLLECT_HOOKS=str(file))
    assert done.returncode == 0
    assert "Degraded: sh. A hook failed and was passed over" in done.stdout
    stats = run("stats", "--db", copy, RECOLLECT_HOOKS=str(file))
    assert "sh down" in stats.stdout


def test_a_bad_file_of_hooks_stops_every_verb(run: Run, file: Path, copy: Path) -> None:
    file.write_text("nonsense")
    done = run("recall", "deploys", "--db", copy, RECOLLECT_HOOKS=str(file))
    assert done.returncode == 1
    assert "line 1" in done.stderr
