"""`hooks.toml`: repeated `[[hook]]` tables, checked to the last key.

In: the path of a file. Out: hooks in file order, or one `HookConfigError` that names line and
field. Programs must be there and functions are imported, so that a typing error shows when the
file is loaded and not at the first recall.
"""

from __future__ import annotations

import importlib
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast, get_args

from recollect import check
from recollect.errors import HookConfigError, InvalidInput
from recollect.hooks.events import HookEvent
from recollect.hooks.spec import FailMode, Function, HookSpec, Mode, with_unique_names

__all__ = ["FIELDS", "check_registration", "load", "parse"]

_TIMEOUT_MS = (1, 30_000)
_PRIORITY_MAX = 10**9
_T = TypeVar("_T")
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


class _FieldProblem(ValueError):
    """A field that is not what it should be; the line is found by whoever has the text."""

    def __init__(self, field: str, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.field, self.hint = field, hint


def load(path: Path) -> tuple[HookSpec, ...]:
    """Read a file of hooks."""
    try:
        _refuse_writable(path)
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HookConfigError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}.",
            path=path,
            hint="name a file that is there, or none for no hooks.",
        ) from error
    return parse(text, path=path)


def _refuse_writable(path: Path) -> None:
    """Refuse a file into which anybody may write which programs we run; and what is no file."""
    found, folder = path.stat(), path.resolve().parent
    if not stat.S_ISREG(found.st_mode):
        raise HookConfigError(
            "cannot be read: it is no plain file.", path=path, hint="name a file of hooks."
        )
    if found.st_mode & stat.S_IWOTH:
        raise HookConfigError(
            "may be written by anybody, and says which programs are run.",
            path=path,
            hint=f"chmod o-w {path}",
        )
    # In a folder with the sticky bit nobody replaces what is another's.
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise HookConfigError(
            "is in a folder in which anybody may replace it.", path=path, hint=f"chmod o-w {folder}"
        )


def parse(text: str, *, path: Path) -> tuple[HookSpec, ...]:
    """Read the text of a file of hooks; relative paths start in the file's folder."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _AT_LINE.search(str(error))
        raise HookConfigError(
            f"{_AT_LINE.sub('', str(error))}.",
            path=path,
            line=int(place[1]) if place else len(text.splitlines()),
            hint="it must be TOML with [[hook]] tables.",
        ) from error
    for key in document:
        if key != "hook":
            line = _line_of(text, partial(_has_key, key))
            raise HookConfigError(
                f"there is no {key!r}.", path=path, line=line, field=key, hint="only [[hook]]."
            )
    tables = document.get("hook", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        line = _line_of(text, partial(_has_key, "hook"))
        raise HookConfigError(
            "must be tables.", path=path, line=line, field="hook", hint="write [[hook]] above each."
        )
    folder = path.absolute().parent
    specs = []
    for number, table in enumerate(tables):
        try:
            specs.append(_spec(table, folder))
        except _FieldProblem as wrong:
            _raise_with_line(wrong, text, path, number)
    return tuple(with_unique_names(specs))


def _has_key(key: str, found: Mapping[str, Any]) -> bool:
    return key in found


def _raise_with_line(wrong: _FieldProblem, text: str, path: Path, number: int) -> NoReturn:
    def has_field(found: Mapping[str, Any]) -> bool:
        return len(found.get("hook", ())) > number and wrong.field in found["hook"][number]

    def has_table(found: Mapping[str, Any]) -> bool:
        return len(found.get("hook", ())) > number

    line = _line_of(text, has_field) or _line_of(text, has_table)
    raise HookConfigError(
        f"{wrong}.", path=path, line=line, field=wrong.field, hint=wrong.hint
    ) from wrong


def _line_of(text: str, has: Callable[[Mapping[str, Any]], bool]) -> int | None:
    """Return the line on which something first appears.

    TOML's own parser says so: it reads ever longer beginnings of the file until the thing is there.
    What was there starts after the longest beginning without it that could be read.
    """
    import tomllib

    lines = text.splitlines(keepends=True)
    start = 1
    for end in range(1, len(lines) + 1):
        try:
            found = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        if has(found):
            return start
        start = end + 1
    return None


def check_registration(function: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a hook that is registered in code, checked as in a file."""
    if not callable(function):
        raise HookConfigError("must be a function that takes the payload.", field="function")
    try:
        return _fields(given)
    except _FieldProblem as problem:
        raise HookConfigError(f"{problem}.", field=problem.field, hint=problem.hint) from problem


def _fields(table: Mapping[str, Any]) -> dict[str, Any]:
    for key in table:
        if key not in FIELDS:
            raise _FieldProblem(key, f"there is no {key!r}", f"the keys are {', '.join(FIELDS)}.")
    given = {key: FIELDS[key](table[key]) for key in table}
    if "event" not in given:
        raise _FieldProblem("event", "is missing", "name the event that the hook listens to.")
    if given.get("namespace", "*") != "*" and not given["event"].has_namespace:
        raise _FieldProblem("namespace", f"{given['event']} is of no namespace", "leave it out.")
    return given


def _spec(table: Mapping[str, Any], folder: Path) -> HookSpec:
    given = _fields(table)
    mode = _mode(given)
    spec = HookSpec(name="", folder=folder, **{**given, "mode": mode})
    return _with_target(replace(spec, name=spec.own_name()))


def _mode(given: Mapping[str, Any]) -> Mode:
    if ("command" in given) == ("python" in given):
        field = "python" if "command" in given else "command"
        raise _FieldProblem(field, "there must be a command or a python, and not both")
    usual: Mode = "daemon" if given["event"].is_recall else "exec"
    mode = cast(Mode, given.get("mode", "python" if "python" in given else usual))
    if (mode == "python") != ("python" in given):
        raise _FieldProblem(
            "mode", f"{mode} does not go with {'python' if 'python' in given else 'command'}"
        )
    if mode == "python" and "env" in given:
        raise _FieldProblem(
            "env", "a function runs in this process and gets no environment of its own"
        )
    return mode


def _with_target(spec: HookSpec) -> HookSpec:
    """Return the hook with its function found, or with its program known to be there."""
    if not spec.enabled:
        return spec
    if spec.python is not None:
        return replace(spec, function=_function(spec.python))
    if spec.program() is None:
        raise _FieldProblem(
            "command",
            f"there is no program {spec.command[0]!r} that can be executed",
            "give its path, relative to this file, or a name that PATH leads to; chmod +x it.",
        )
    return spec


def _function(target: str) -> Function:
    module, colon, name = target.partition(":")
    if not module or not colon or not name:
        raise _FieldProblem("python", f"{target!r} is not of the form package.module:function")
    try:
        found: object = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise _FieldProblem(
            "python", f"{target!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise _FieldProblem("python", f"{target!r} is not a function")
    return cast(Function, found)


def _event(value: object) -> HookEvent:
    try:
        return HookEvent(cast(str, value))
    except ValueError:
        raise _FieldProblem(
            "event", f"there is no event {value!r}", f"the events are {', '.join(HookEvent)}."
        ) from None


def _checked(field: str, checks: Callable[[str, object], _T]) -> Callable[[object], _T]:
    def checked(value: object) -> _T:
        try:
            return checks(field, value)
        except InvalidInput as error:
            raise _FieldProblem(field, error.message.removesuffix("."), error.hint) from None

    return checked


def _one_of(field: str, names: tuple[str, ...]) -> Callable[[object], str]:
    def checked(value: object) -> str:
        if not isinstance(value, str) or value not in names:
            raise _FieldProblem(
                field, f"must be {', '.join(names[:-1])} or {names[-1]}, not {value!r}"
            )
        return value

    return checked


def _command(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise _FieldProblem(
            "command",
            "must be a list of texts: the program and its arguments",
            'write command = ["python3", "synonyms.py"].',
        )
    if not value[0] or any("\0" in one for one in value):
        raise _FieldProblem("command", "has no program, or holds a null character")
    return tuple(value)


def _priority(field: str, value: object) -> int:
    return check.whole(field, value, least=-_PRIORITY_MAX, most=_PRIORITY_MAX)


def _timeout(field: str, value: object) -> int:
    least, most = _TIMEOUT_MS
    return check.whole(field, value, least=least, most=most)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _FieldProblem("enabled", f"must be true or false, not {value!r}")
    return value


def _env(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(
        isinstance(one, str) and "\0" not in one for one in value.values()
    ):
        raise _FieldProblem(
            "env", "must be a table of texts", 'write env = { TABLE = "words.json" }.'
        )
    if any(not name or "=" in name or "\0" in name for name in value):
        raise _FieldProblem("env", "holds a name that no environment can have")
    return tuple(value.items())


FIELDS: Mapping[str, Callable[[object], Any]] = {
    "event": _event,
    "command": _command,
    "python": _checked("python", check.filled_text),
    "priority": _checked("priority", _priority),
    "timeout_ms": _checked("timeout_ms", _timeout),
    "mode": _one_of("mode", get_args(Mode)),
    "enabled": _flag,
    "namespace": _checked("namespace", check.filled_text),
    "fail_mode": _one_of("fail_mode", get_args(FailMode)),
    "env": _env,
}
