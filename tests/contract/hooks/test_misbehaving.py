"""Children that misbehave on purpose: the recall answers in time, rightly, and nothing is left."""

from __future__ import annotations

import os
import resource
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contract.hooks.conftest import CHILDREN, World, eventually

from recollect.hooks import Allow, Denied, HookChain, Modified

pytestmark = pytest.mark.usefixtures("patient_hooks")

ROUNDS = 100
# A recall must answer within 50 ms; a busy machine gets the benefit of the doubt.
LOOSELY_S = 1.0

# What a request comes to: the code of its denial when the hook is closed, None when it is answered.
DAEMONS = {
    "slow_always": 504,
    "silent": 504,
    "never_ready": 503,
    "deaf": 504,
    "garbage": 503,
    "chatty": None,
    "half_line": 504,
    "two_lines": None,
    "wrong_id": 504,
    "huge_line": 503,
    "stderr_flood": None,
    "stderr_for_ever": 504,
    "stdout_flood": 503,
    "exits_at_once": 503,
    "refuses_to_start": 503,
    "exits_mid_line": 503,
    "exits_when_asked": 503,
    "ignores_sigterm": 504,
    "forks_a_grandchild": None,
    "orphans_a_grandchild": 503,
    "unknown_delta_key": 503,
    "no_action": 503,
    "array": 503,
}
ONCE = {
    "good": None,
    "never_reads": None,
    "chatty": None,
    "slow_always": 504,
    "silent": 504,
    "garbage": 503,
    "half_line": 503,
    "wrong_id": 503,
    "huge_line": 503,
    "stderr_flood": None,
    "stdout_flood": 504,
    "exits_with_a_code": 503,
    "ignores_sigterm": 504,
    "forks_a_grandchild": None,
    "closes_its_output": 504,
    "unknown_delta_key": 503,
}


def rounds(world: World, manner: str, code: int | None, fail_mode: str, count: int) -> None:
    """Recall so often; each answer must be the right one, in time."""
    codes = {code, 503}  # also 503: while the breaker is open, or the child is started again
    answered = 0
    for number in range(count):
        began = time.monotonic()
        outcome = world.recall(f"question {number}")
        assert time.monotonic() - began < LOOSELY_S
        if isinstance(outcome, Modified):
            assert code is None
            assert outcome.query("").startswith("mine")
            answered += 1
        elif fail_mode == "closed":
            assert isinstance(outcome, Denied)
            assert outcome.code in codes
            assert manner in outcome.reason
        else:
            assert isinstance(outcome, Allow)
            assert outcome.result is not None
            assert outcome.result.degraded == (manner,)
    assert answered if code is None else not answered


@pytest.mark.parametrize("fail_mode", ["open", "closed"])
@pytest.mark.parametrize("manner", DAEMONS)
def test_a_daemon_that_misbehaves_costs_little_and_leaves_nothing(
    world: World, manner: str, fail_mode: str
) -> None:
    before = world.left()
    settle_s = 0.0 if manner == "never_ready" else 5.0
    code = DAEMONS[manner]
    timeout_ms = 50 if code == 504 else None
    hook = world.hook(manner, fail_mode=fail_mode, timeout_ms=timeout_ms)
    world.start(hook, settle_s=settle_s)
    rounds(world, manner, code, fail_mode, ROUNDS)
    world.registry.close()
    eventually(lambda: world.has_no_more_than(before))


@pytest.mark.parametrize("fail_mode", ["open", "closed"])
@pytest.mark.parametrize("manner", ONCE)
def test_a_program_that_misbehaves_leaves_nothing(
    world: World, manner: str, fail_mode: str
) -> None:
    code = ONCE[manner]
    world.start(
        # One that cannot answer in time is not given much, so that the test is not slow either.
        world.hook(manner, mode="exec", fail_mode=fail_mode, timeout_ms=10 if code == 504 else None)
    )
    before = world.left()
    rounds(world, manner, code, fail_mode, ROUNDS if fail_mode == "open" else 5)
    eventually(lambda: world.has_no_more_than(before))


def test_the_first_failure_has_the_code_that_says_why(world: World, tmp_path: Path) -> None:
    for manner in ("silent", "deaf", "half_line", "wrong_id", "slow_always"):
        hook = world.hook(manner, fail_mode="closed", timeout_ms=50)
        one = World(tmp_path).start(hook)
        assert one.recall() == Denied(f"hook {manner}: it did not answer in time", 504)
        one.registry.close()


def test_a_reply_is_a_line_of_a_mebibyte_and_no_more(world: World, tmp_path: Path) -> None:
    given: dict[str, Any] = {"fail_mode": "closed", "timeout_ms": 5_000}
    answered = world.start(world.hook("full_line", **given)).recall()
    assert isinstance(answered, Modified)
    other = World(tmp_path)
    refused = other.start(other.hook("overfull_line", **given)).recall()
    other.registry.close()
    assert isinstance(refused, Denied)
    assert "1,048,576 bytes" in refused.reason


@pytest.mark.parametrize("manner", ["silent", "slow_always", "garbage"])
def test_after_five_failures_the_breaker_answers_at_once(world: World, manner: str) -> None:
    world.start(world.hook(manner, timeout_ms=50))
    for _ in range(5):
        world.recall()
    # Fifty within one second: had each waited for its deadline, it would take two and a half.
    for _ in range(50):
        outcome = world.recall()
        assert outcome.result is not None
        assert outcome.result.runs[0].action in ("breaker_open", "not_ready")
    assert world.stats()["state"] in ("open", "half_open")


def test_five_timeouts_kill_the_child_and_a_new_one_takes_its_place(world: World) -> None:
    world.start(world.hook("silent", timeout_ms=50))
    (first,) = [pid for pid in world.processes() if command_of(pid).startswith("/bin/sh")]
    for _ in range(5):
        world.recall()
    eventually(lambda: first not in world.processes())
    eventually(lambda: world.counts()["starts"] == 2)


def test_a_breaker_closes_when_the_probe_is_answered(world: World, tmp_path: Path) -> None:
    script = tmp_path / "moody.sh"
    script.write_text(
        f'if [ -e "{tmp_path}/well" ]; then set -- good; else set -- silent; fi\n'
        f'. "{CHILDREN}/daemon.sh"\n'
    )
    world.start(world.hook("moody", command=("/bin/sh", str(script)), timeout_ms=50))
    for _ in range(6):
        world.recall()
    assert world.stats()["state"] == "open"
    (tmp_path / "well").touch()
    eventually(lambda: isinstance(world.recall(), Modified))
    assert world.stats()["state"] == "ready"


def test_a_late_reply_is_dropped_counted_and_never_answers_a_later_request(world: World) -> None:
    quick = world.hook("slow_once", timeout_ms=50)
    world.start(quick)
    late = world.recall("first")
    assert isinstance(late, Allow)
    world.chain = HookChain([replace(quick, timeout_ms=None)])
    eventually(lambda: world.counts().get("late") == 1)
    assert world.recall("second") == Modified("mine 2", "shop", 10)
    assert world.recall("third") == Modified("mine 3", "shop", 10)
    assert world.counts()["starts"] == 1


def test_a_second_line_is_dropped_and_counted(world: World) -> None:
    world.start(world.hook("two_lines"))
    for number in range(1, 21):
        assert world.recall() == Modified(f"mine {number}", "shop", 10)
    eventually(lambda: world.counts().get("late") == 20)


def test_an_answer_to_what_nobody_asked_is_no_late_one(world: World) -> None:
    world.start(world.hook("wrong_id", timeout_ms=50))
    world.recall()
    assert world.counts()["strays"] == 1
    assert "late" not in world.counts()


def test_what_a_child_said_on_stderr_is_shown_with_its_failure(world: World) -> None:
    world.start(world.hook("refuses_to_start"))
    world.recall()
    assert "exited with code 3" in world.stats()["last_failure"]
    assert "no licence" in world.stats()["last_failure"]


@pytest.mark.parametrize("mode", ["daemon", "exec"])
@pytest.mark.parametrize("spoil", ["not_executable", "missing"])
def test_a_program_that_is_gone_when_it_is_needed(
    world: World, tmp_path: Path, mode: str, spoil: str
) -> None:
    script = tmp_path / "hook.sh"
    script.write_text(f'#!/bin/sh\n. "{CHILDREN}/daemon.sh"\n')
    script.chmod(0o644)
    if spoil == "missing":
        script.unlink()
    before = world.left()
    world.start(world.hook("good", mode=mode, command=(str(script), "good"), fail_mode="closed"))
    for _ in range(ROUNDS):
        outcome = world.recall()
        assert isinstance(outcome, Denied)
        assert outcome.code == 503
        assert "no program" in outcome.reason
    world.registry.close()
    eventually(lambda: world.has_no_more_than(before))


def test_a_dead_daemon_is_started_again_in_the_background(world: World) -> None:
    world.start(world.hook("good"))
    assert isinstance(world.recall(), Modified)
    for pid in world.processes():
        os.kill(pid, 9)
    eventually(lambda: world.counts().get("starts") == 2)
    eventually(lambda: isinstance(world.recall(), Modified))


def test_a_child_sees_little_of_our_environment(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    for mode in ("daemon", "exec"):
        out = tmp_path / mode
        command = ("/bin/sh", "-c", f"env -0 >{out}; echo '{{\"ready\":true}}'; read x")
        world.start(world.hook("good", mode=mode, command=command))
        world.recall()
        eventually(out.exists)
        eventually(lambda out=out: b"PWD" in out.read_bytes())
        names = {line.partition(b"=")[0] for line in out.read_bytes().split(b"\0")[:-1]}
        # The last two are the shell's own.
        assert names - {b"PATH", b"LANG", b"HOME", b"RECOLLECT_TEST_MARK"} <= {b"PWD", b"_"}


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def test_a_recall_has_fifty_milliseconds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    world.start(world.hook("silent", fail_mode="closed"))
    began = time.monotonic()
    assert world.recall() == Denied("hook silent: it did not answer in time", 504)
    assert time.monotonic() - began < LOOSELY_S


@pytest.mark.parametrize("mode", ["daemon", "exec"])
def test_a_system_out_of_descriptors_is_the_hooks_failure(
    world: World, mode: str, request: pytest.FixtureRequest
) -> None:
    world.start(world.hook("good", mode=mode), settle_s=5.0)
    for pid in world.processes():
        os.kill(pid, 9)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []
    try:
        # Tests before this one may have left some open.
        most = max(int(one.name) for one in Path("/proc/self/fd").iterdir()) + 64
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        with suppress(OSError):
            while True:
                held.append(os.dup(0))
        for spare in range(8):  # wherever on the way the system says no
            for _ in range(spare and 1):
                os.close(held.pop())
            outcome = world.recall()
            assert isinstance(outcome, Allow | Modified)
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    request.getfixturevalue("patient_hooks")
    eventually(lambda: isinstance(world.recall(), Modified))
