"""hooks.toml: what it may hold, and the line and field of what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.hooks import HookConfigError, HookEvent, HookSpec
from recollect.hooks.config import load, parse

FULL = """
# Comments and blank lines do not count.

[[hook]]
event = "pre_recall_expand"
command = ["python3", "-u", "synonyms.py", "--fast"]
priority = 10
timeout_ms = 40
namespace = "team/*"
fail_mode = "closed"
env = { TABLE = "words.json" }

[[hook]]
event = "pre_remember"
command = ["sh", "guard.sh"]
enabled = false

[[hook]]
event = "post_recall"
python = "json:loads"
"""


def hooks(tmp_path: Path, text: str) -> tuple[HookSpec, ...]:
    path = tmp_path / "hooks.toml"
    path.write_text(text)
    return load(path)


def test_every_field_is_read(tmp_path: Path) -> None:
    first, second, third = hooks(tmp_path, FULL)
    assert first == HookSpec(
        name="synonyms.py",
        event=HookEvent.PRE_RECALL_EXPAND,
        mode="daemon",
        command=("python3", "-u", "synonyms.py", "--fast"),
        priority=10,
        timeout_ms=40,
        namespace="team/*",
        fail_mode="closed",
        env=(("TABLE", "words.json"),),
        folder=tmp_path,
    )
    assert (second.name, second.mode, second.enabled) == ("guard.sh", "exec", False)
    assert (third.name, third.mode, third.priority) == ("json:loads", "python", 0)
    assert third.function is not None


@pytest.mark.parametrize("event", list(HookEvent))
def test_a_command_stays_for_recalls_and_is_run_each_time_otherwise(
    tmp_path: Path, event: HookEvent
) -> None:
    (hook,) = hooks(tmp_path, f'[[hook]]\nevent = "{event}"\ncommand = ["sh"]\n')
    assert hook.mode == ("daemon" if "recall" in event else "exec")


def test_a_file_without_hooks_is_fine(tmp_path: Path) -> None:
    assert hooks(tmp_path, "") == ()


def test_hooks_that_run_the_same_get_names_of_their_own(tmp_path: Path) -> None:
    table = '[[hook]]\nevent = "pre_link"\ncommand = ["sh", "x.sh"]\n'
    assert [hook.name for hook in hooks(tmp_path, table * 3)] == ["x.sh", "x.sh#2", "x.sh#3"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["sh", "dir/guard.sh"], "guard.sh"),
        (["python3.11", "-u", "x.py", "--table", "y.json"], "x.py"),
        (["python3", "-m", "pkg.hook"], "pkg.hook"),
        (["sh", "-c", "read line; echo"], "sh"),
        (["sh"], "sh"),
        (["cat", "words.txt"], "cat"),
    ],
)
def test_a_hook_is_called_what_it_runs(command: list[str], name: str) -> None:
    spec = HookSpec("", HookEvent.PRE_LINK, "exec", command=tuple(command))
    assert spec.own_name() == name


def test_a_program_is_found_beside_the_file_or_on_the_path(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "mine"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (hook,) = hooks(tmp_path, '[[hook]]\nevent = "pre_link"\ncommand = ["bin/mine"]\n')
    assert hook.program() == str(program)
    assert hook.name == "mine"


GOOD = '[[hook]]\nevent = "pre_link"\ncommand = ["sh"]\n'


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("nonsense", 1, None, "after a key"),
        ('[[hook]]\nevent = "pre_link\n', 2, None, "Illegal"),
        ("[[hook]]\nevent = 'a'\nevent = 'b'\n", 3, None, "Cannot overwrite"),
        ("[hooks]\n", 1, "hooks", "there is no 'hooks'"),
        ("# a\n\ncolour = 1\n", 3, "colour", "there is no 'colour'"),
        ("hook = 1\n", 1, "hook", "tables"),
        ("[hook]\nevent = 'pre_link'\n", 1, "hook", "tables"),
        ("[[hook]]\ncommand = ['sh']\n", 1, "event", "missing"),
        (GOOD + "\n[[hook]]\nevent = 'pre_link'\n", 5, "command", "command or a python"),
        (GOOD + "python = 'json:loads'\n", 4, "python", "not both"),
        (GOOD + "colour = 'red'\n", 4, "colour", "no 'colour'"),
        (GOOD + "name = 'x'\n", 4, "name", "no 'name'"),
        (GOOD + GOOD + "\n# a\ntimeout_ms = 0\n", 9, "timeout_ms", "from 1 to 30,000"),
        (GOOD + "timeout_ms = 30001\n", 4, "timeout_ms", "from 1 to 30,000"),
        (GOOD + "timeout_ms = 5.0\n", 4, "timeout_ms", "whole number"),
        (GOOD + "timeout_ms = true\n", 4, "timeout_ms", "whole number"),
        (GOOD + "priority = '1'\n", 4, "priority", "whole number"),
        (GOOD + "enabled = 1\n", 4, "enabled", "true or false"),
        (GOOD + "namespace = 1\n", 4, "namespace", "text"),
        (GOOD + "namespace = 'team/*'\n", 4, "namespace", "of no namespace"),
        (GOOD + "fail_mode = 'ajar'\n", 4, "fail_mode", "open or closed"),
        (GOOD + "mode = 'fork'\n", 4, "mode", "python, exec or daemon"),
        (GOOD + "mode = 'python'\n", 4, "mode", "does not go with command"),
        (GOOD + "env = ['A']\n", 4, "env", "table of texts"),
        (GOOD + "env = { A = 1 }\n", 4, "env", "table of texts"),
        (GOOD + "env = { 'A=B' = '1' }\n", 4, "env", "environment"),
        (GOOD + "[hook.env]\nA = 1\n", 4, "env", "table of texts"),
        ("[[hook]]\nevent = 'pre_nap'\ncommand = ['sh']\n", 2, "event", "no event 'pre_nap'"),
        ("[[hook]]\nevent = 5\ncommand = ['sh']\n", 2, "event", "no event 5"),
        ("[[hook]]\nevent = 'pre_link'\ncommand = 'sh'\n", 3, "command", "list of texts"),
        ("[[hook]]\nevent = 'pre_link'\ncommand = []\n", 3, "command", "list of texts"),
        ("[[hook]]\nevent = 'pre_link'\ncommand = ['']\n", 3, "command", "no program"),
        (
            "[[hook]]\nevent = 'pre_link'\ncommand = [\n  'no-such-program',\n  'x',\n]\n",
            3,
            "command",
            "no program 'no-such-program'",
        ),
        ("[[hook]]\nevent = 'pre_link'\ncommand = ['./x']\n", 3, "command", "no program './x'"),
        ("[[hook]]\nevent = 'pre_link'\ncommand = ['/']\n", 3, "command", "no program '/'"),
        ("[[hook]]\nevent = 'pre_link'\npython = 'json'\n", 3, "python", "package.module"),
        ("[[hook]]\nevent = 'pre_link'\npython = 'nowhere:x'\n", 3, "python", "cannot be imported"),
        ("[[hook]]\nevent = 'pre_link'\npython = 'json:x'\n", 3, "python", "cannot be imported"),
        ("[[hook]]\nevent = 'pre_link'\npython = 'json:__name__'\n", 3, "python", "not a function"),
        (
            "[[hook]]\nevent = 'pre_link'\npython = 'json:loads'\nenv = { A = '1' }\n",
            4,
            "env",
            "function",
        ),
    ],
)
def test_what_is_wrong_is_named_with_line_and_field(
    tmp_path: Path, text: str, line: int, field: str | None, words: str
) -> None:
    path = tmp_path / "hooks.toml"
    with pytest.raises(HookConfigError, match=words) as caught:
        parse(text, path=path)
    assert (caught.value.line, caught.value.field) == (line, field)
    assert caught.value.message.startswith(f"{path}, line {line}")
    assert caught.value.code == "hook_config"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(HookConfigError, match="cannot be read: No such file"):
        load(tmp_path / "nowhere.toml")
    with pytest.raises(HookConfigError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    with pytest.raises(HookConfigError, match="cannot be read"):
        load(tmp_path / "latin.toml")


def test_a_function_that_fails_to_import_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moody_hook_module.py").write_text("raise RuntimeError('not today')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "[[hook]]\nevent = 'pre_link'\npython = 'moody_hook_module:f'\n"
    with pytest.raises(HookConfigError, match="RuntimeError: not today"):
        parse(text, path=tmp_path / "hooks.toml")
