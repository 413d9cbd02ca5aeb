"""Several processes serve one folder; one is killed, one forks: what was acknowledged is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recollect import Node

SCRIPT = Path(__file__).with_name("serving.py")


def serving(folder: Path, what: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, str(SCRIPT), str(folder), what]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


def known(node: Node) -> set[str]:
    found = set()
    for name in node.names():
        with node.store(name) as memory:
            found |= {one.pak_id for one in memory.list(limit=1000).items}
            assert memory.check() == ()
    return found


@pytest.mark.parametrize("lines", [1, 30, 61, 118])
def test_what_was_acknowledged_survives_the_death_of_the_process(
    lines: int, tmp_path: Path
) -> None:
    process = serving(tmp_path, "write")
    told = [process.stdout.readline().strip() for _ in range(lines)]
    process.kill()
    told += process.stdout.read().split("\n")[:-1]
    process.wait()
    process.stdin.close()
    process.stdout.close()
    acknowledged: set[str] = set()
    for word in told:
        if word == "dropped store-6":
            acknowledged = {one for one in acknowledged if not one.startswith("store-6")}
        elif word != "created store-6":
            acknowledged.add(word)
    assert acknowledged
    with Node(tmp_path, embedder="none") as node:
        found = known(node)
        if told[-1].startswith("dropped") or told[-1].endswith(":48"):
            # The next thing that it did may have been to drop it, or to make it again.
            acknowledged = {one for one in acknowledged if not one.startswith("store-6")}
        assert acknowledged <= found
        assert not list(tmp_path.glob(".gone-*"))


def test_each_process_sees_what_the_other_wrote_before_it_answers(tmp_path: Path) -> None:
    with Node(tmp_path, embedder="none") as node:
        node.create("shared")
    one, other = serving(tmp_path, "echo"), serving(tmp_path, "echo")

    def ask(process: subprocess.Popen[str], line: str) -> str:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    for number in range(6):
        writer, reader = (one, other) if number % 2 else (other, one)
        assert ask(writer, f"remember apple{number}") == "done"
        assert ask(reader, f"recall apple{number}") == f"apple{number}"
    for process in (one, other):
        process.communicate()
        assert process.returncode == 0


def test_both_sides_of_a_fork_go_on(tmp_path: Path) -> None:
    process = serving(tmp_path, "fork")
    told, _ = process.communicate()
    assert (process.returncode, told) == (0, "child 0\nusers 0\n")
    with Node(tmp_path, embedder="none") as node:
        assert known(node) == {"before", "parent", "child", "parent-lent", "child-lent"}
