"""The benchmark of hooks measures what it says."""

from __future__ import annotations

from pathlib import Path

from bench import hooks

from recollect import Recollect


def test_the_echo_sends_back_what_it_gets(tmp_path: Path) -> None:
    script = tmp_path / "echo.py"
    script.write_text(hooks.ECHO)
    with hooks.Echo(script, b"line\n") as echo:
        assert len(hooks.times_of(echo, 3)) == 3


def test_blocks_take_turns_and_the_first_turn_does_not_count() -> None:
    called: list[str] = []
    found = hooks.by_blocks(
        {"one": lambda: called.append("one"), "two": lambda: called.append("two")}
    )
    assert len(called) == 2 * hooks.BLOCK * (hooks.ROUNDS + 1)
    assert {name: len(blocks) for name, blocks in found.items()} == {
        "one": hooks.ROUNDS,
        "two": hooks.ROUNDS,
    }


def test_the_hooks_that_are_measured_work(tmp_path: Path) -> None:
    with hooks._hooks(tmp_path, hooks.HOOK, 3) as three:
        fired = three.expand("q", "", 5).result
        assert fired is not None
        assert len(fired.runs) == 3
    with Recollect.open(tmp_path / "plain.db", embedder="none") as memory:
        hooks._fill(memory)
        assert memory.recall(hooks.QUESTION).results
