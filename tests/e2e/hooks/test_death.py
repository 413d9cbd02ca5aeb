"""However the engine ends, its children end too: also those that ignore every hint."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contract.hooks.conftest import CHILDREN, World, eventually
from tests.house.snippets import ROOT

SCRIPT = Path(__file__).parent / "scripts" / "hold.py"
MANNERS = ("good", "ignores_sigterm", "forks_a_grandchild", "deaf")


def hold(world: World, end: str, *manners: str, mode: str = "daemon") -> subprocess.Popen[str]:
    script = CHILDREN / ("daemon.sh" if mode == "daemon" else "once.sh")
    event = "pre_recall_expand" if mode == "daemon" else "pre_remember"
    (world.folder / "hooks.toml").write_text(
        "".join(
            f'[[hook]]\nevent = "{event}"\ncommand = ["sh", "{script}", "{manner}"]\n'
            f'env = {{ RECOLLECT_TEST_MARK = "{world.mark}" }}\n'
            for manner in manners
        )
    )
    process = subprocess.Popen(
        [sys.executable, SCRIPT, world.folder / "hooks.toml", end],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    eventually(lambda: len(world.processes()) >= len(manners))
    return process


@pytest.mark.parametrize("end", ["close", "nothing", "exception", "exit", "SIGTERM", "SIGKILL"])
def test_no_child_outlives_the_engine(world: World, end: str) -> None:
    with hold(world, end, *MANNERS) as process:
        if end.startswith("SIG"):
            process.send_signal(signal.Signals[end])
        else:
            process.communicate("go\n")
    eventually(lambda: world.processes() == [])


def test_nor_does_a_program_that_was_under_way(world: World) -> None:
    with hold(world, "in_flight", "ignores_sigterm", mode="exec") as process:
        process.kill()
    eventually(lambda: world.processes() == [])


def test_a_child_that_listens_goes_with_the_end_of_its_stdin(world: World) -> None:
    """Without the watchdog's help: it waits a second, and this child is gone before."""
    with hold(world, "SIGKILL", "good") as process:
        children = world.processes()
        handles = [os.pidfd_open(child) for child in children]
        process.kill()
    try:
        for handle in handles:
            eventually(lambda handle=handle: _ended(handle), seconds=0.9)
    finally:
        for handle in handles:
            os.close(handle)


def _ended(handle: int) -> bool:
    return bool(select.select([handle], [], [], 0)[0])
