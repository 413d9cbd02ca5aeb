"""The SDK: ten lines are a working daemon, several requests at once, and it goes when told."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.contract.hooks.conftest import World, eventually

from recollect.hooks import Allow, Denied, Modified

pytestmark = pytest.mark.usefixtures("patient_hooks")

TEN_LINES = """
from recollect.hooks.sdk import hook, modify, serve

@hook("pre_recall_expand")
def expand(payload):
    return modify(query=payload["query"] + " checkout")

serve()
"""
MANY = """
import sys, threading
from recollect.hooks.sdk import *

together = threading.Barrier(8)

@hook("pre_recall_expand")
def handle(payload):
    query = payload["query"]
    if query == "wait": threading.Event().wait(0.01)
    if query == "together": together.wait(10)
    if query == "raise": raise ValueError("not that one")
    if query == "print": print("this is no reply"); sys.stdout.flush()
    if query == "deny": return deny("no", 451)
    if query == "ask": return ask_user("Sure?", ["yes", "no"], "no")
    if query == "nonsense": return "allow"
    if query == "object": return modify(query=object())
    if query == "allow": return allow()
    if query == "hang": threading.Event().wait()

serve()
"""


def started(world: World, text: str, **given: Any) -> World:
    path = world.folder / "hook.py"
    path.write_text(text)
    given = {"command": (sys.executable, str(path)), "fail_mode": "closed", **given}
    return world.start(world.hook("sdk", **given), settle_s=30)


def test_ten_lines_are_a_hook(world: World) -> None:
    assert len(TEN_LINES.strip().splitlines()) <= 10
    started(world, TEN_LINES)
    assert world.recall("pay") == Modified("pay checkout", "shop", 10)


def test_the_same_file_works_with_one_process_a_call(world: World) -> None:
    started(world, TEN_LINES, mode="exec")
    line = '{"v":1,"id":"1","event":"pre_recall_expand","hook":"x","deadline_ms":9000,"payload":%s}'
    done = subprocess.run(
        [sys.executable, world.folder / "hook.py"],
        input=line % '{"query":"pay","namespace":"","k":5}',
        capture_output=True,
        text=True,
        check=True,
    )
    reply = json.loads(done.stdout.splitlines()[-1])
    assert reply == {"id": "1", "action": "modify", "delta": {"query": "pay checkout"}}


def test_every_decision_gets_through(world: World) -> None:
    started(world, MANY)
    assert world.recall("nothing") == Allow()
    assert world.recall("allow") == Allow()
    assert world.recall("deny") == Denied("no", 451)
    asked = world.recall("ask").result
    assert asked is not None
    assert asked.asks[0].options == ("yes", "no")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("raise", "ValueError: not that one"),
        ("nonsense", "TypeError"),
        ("object", "not JSON serializable"),
    ],
)
def test_a_handler_that_fails_is_told_at_once(world: World, query: str, words: str) -> None:
    started(world, MANY)
    outcome = world.recall(query)
    assert isinstance(outcome, Denied)
    assert outcome.code == 503
    assert words in outcome.reason
    assert world.recall("nothing") == Allow()


def test_an_event_that_nobody_handles_is_a_failure(world: World) -> None:
    started(world, "from recollect.hooks.sdk import serve\nserve()\n")
    outcome = world.recall()
    assert isinstance(outcome, Denied)
    assert "pre_recall_expand" in outcome.reason


def test_what_a_handler_prints_is_no_reply(world: World) -> None:
    started(world, MANY)
    assert world.recall("print") == Allow()
    assert "garbage" not in world.counts()


def test_requests_are_under_way_together(world: World) -> None:
    """Eight that wait for each other: one after the other they would wait for ever."""
    started(world, MANY)
    eventually(lambda: world.recall("wait") == Allow())  # slow handlers get threads of their own
    outcomes: list[object] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(world.recall("together"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [Allow()] * 8


def test_it_goes_when_stdin_ends_even_if_a_handler_hangs(world: World, tmp_path: Path) -> None:
    started(world, MANY, timeout_ms=500)
    world.recall("hang")
    world.registry.close()
    assert world.processes() == []


def test_an_sdk_hook_starts_without_the_engine(tmp_path: Path) -> None:
    program = "import sys, recollect.hooks.sdk; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "sqlite3", "typer", "rich", "dataclasses", "subprocess"}
    ours = {name for name in loaded if name.startswith("recollect")}
    assert ours == {"recollect", "recollect.errors", "recollect.hooks", "recollect.hooks.sdk"}


def test_everybody_gets_the_answer_to_its_own_question(world: World) -> None:
    """Eight threads at once, quick handlers and slow ones, replies in whatever order."""
    started(world, TEN_LINES.replace("    return", PAUSE + "    return"))
    wrong: list[object] = []

    def ask(name: int) -> None:
        for number in range(100):
            query = f"{name}-{number}"
            outcome = world.recall(query)
            if outcome != Modified(f"{query} checkout", "shop", 10):
                wrong.append(outcome)

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert world.counts() == {"modify": 800, "starts": 1}


PAUSE = """\
    import random, time
    time.sleep(random.choice([0, 0, 0, 0.002]))
"""
