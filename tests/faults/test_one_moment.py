"""An answer that is given while others write is, byte for byte, the answer of one revision.

What every revision answers is found out by doing the same writes one after the other in another
store. Readers in threads of the writing process and in processes of their own note what they were
told, and between which revisions.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.house.snippets import ROOT

from recollect import Recollect
from recollect.model import canonical_json
from recollect.policy import PERMISSIONS, Principal
from recollect.testing import FakeClock, FakeEmbedder

ANN = Principal("acme", "ann", permissions=("read",))
ROUNDS = 12
READERS = 3

Write = Callable[[Recollect], object]


def opened(path: Path | str) -> Recollect:
    return Recollect.open(path, embedder=FakeEmbedder(), clock=FakeClock())


def begin(memory: Recollect) -> None:
    """Store what all the writes are about."""
    boss = memory.as_principal(Principal("acme", "boss", (), PERMISSIONS))
    boss.gardens.create("kiln", scope="company")
    for number in range(6):
        boss.remember(
            f"the kiln is hot, reading {number}", pak_id=f"k{number}", scope="company", source="lab"
        )
        boss.remember(f"kiln secret {number}", pak_id=f"s{number}", garden="kiln")


def writes(rounds: int) -> list[Write]:
    """Return writes of one commit each that all change what Ann is told of the kiln."""

    def boss(memory: Recollect) -> Recollect:
        return memory.as_principal(Principal("acme", "boss", (), PERMISSIONS))

    done: list[Write] = []
    for turn in range(rounds):
        done += [
            lambda m: boss(m).gardens.add("kiln", "ann"),
            lambda m, n=turn: boss(m).remember(
                f"the kiln cooled down in round {n}", pak_id="k0", scope="company"
            ),
            lambda m, n=turn: boss(m).trust.set("lab", (n % 5) / 5),
            lambda m, n=turn: boss(m).dispute("k0", f"k{1 + n % 5}"),
            lambda m: boss(m).gardens.remove("kiln", "ann"),
            lambda m, n=turn: boss(m).resolve("k0", f"k{1 + n % 5}"),
            lambda m, n=turn: boss(m).link(f"k{n % 5}", f"k{(n + 1) % 5}", weight=0.5),
            lambda m, n=turn: boss(m).remember(f"hot kiln {n}", pak_id=f"n{n}", scope="company"),
            lambda m, n=turn: boss(m).forget(f"n{n - 1}"),
        ]
    return done


def told(memory: Recollect) -> str:
    """Return what Ann is told, in one line."""
    return canonical_json(memory.as_principal(ANN).recall("is the kiln hot", top_k=6))


def noted(memory: Recollect) -> list[object]:
    before = memory.stats()["revision"]
    answer = told(memory)
    return [before, answer, memory.stats()["revision"]]


def expected(folder: Path, rounds: int) -> dict[int, str]:
    """Return what each revision answers."""
    with opened(folder / "alone.db") as memory:
        begin(memory)
        answers = {memory.stats()["revision"]: told(memory)}
        for write in writes(rounds):
            write(memory)
            answers[memory.stats()["revision"]] = told(memory)
    return answers


def is_of_one(note: list[object], answers: dict[int, str]) -> bool:
    first, answer, last = note
    assert isinstance(first, int)
    assert isinstance(last, int)
    return any(answers.get(revision) == answer for revision in range(first, last + 1))


@pytest.mark.parametrize("rounds", [ROUNDS, pytest.param(20 * ROUNDS, marks=pytest.mark.soak)])
def test_an_answer_given_while_others_write_is_of_one_revision(rounds: int, tmp_path: Path) -> None:
    answers = expected(tmp_path, rounds)
    assert len(set(answers.values())) > rounds
    path = tmp_path / "shared.db"
    notes: list[list[object]] = []
    done = threading.Event()
    with opened(path) as memory:
        begin(memory)

        def read() -> None:
            while not done.is_set():
                notes.append(noted(memory))

        threads = [threading.Thread(target=read) for _ in range(READERS)]
        command = [sys.executable, "-m", "tests.faults.test_one_moment", str(path)]
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        for thread in threads:
            thread.start()
        try:
            for write in writes(rounds):
                write(memory)
        finally:
            done.set()
            for thread in threads:
                thread.join()
        heard, _ = child.communicate("stop\n")
    notes += [json.loads(line) for line in heard.splitlines()]
    assert len(notes) > rounds
    assert [note for note in notes if not is_of_one(note, answers)] == []


def main(path: str) -> None:
    """Read until told to stop, and print what was heard."""
    stopped = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stopped.set()), daemon=True).start()
    with opened(path) as memory:
        print("ready", flush=True)
        notes = []
        while not stopped.is_set():
            notes.append(noted(memory))
    print("\n".join(map(json.dumps, notes)))


if __name__ == "__main__":
    main(sys.argv[1])
