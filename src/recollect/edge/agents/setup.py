"""Setting a client up, and taking that back: planned first, then done, then written down.

In: a client, how our server is started, a home directory. Out: a `Plan` of commands and changed
files, which can be shown before anything is touched. What files were before is kept, so that taking
it back gives the same bytes; a file that was edited since loses our entries and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from recollect.edge.agents import jsonc
from recollect.edge.agents.clients import NAME, Client, Folders, Server, hooks_of, is_ours
from recollect.errors import InvalidInput
from recollect.values import dataclass

__all__ = [
    "Change",
    "Machine",
    "Plan",
    "apply",
    "entry_of",
    "is_set_up",
    "plan_install",
    "plan_uninstall",
]

_BOM = b"\xef\xbb\xbf"
_COMMAND_S = 60
_BY_HAND = "put it right by hand; nothing was changed."


@dataclass(frozen=True, slots=True)
class Machine:
    """Where things are: the home directory, our own state, the platform, programs by name.

    `chosen` are the folders that variables of clients name.
    """

    home: Path
    state: Path
    platform: str
    find: Callable[[str], str | None]
    chosen: Mapping[str, Path] = field(default_factory=dict)

    @property
    def folders(self) -> Folders:
        """Where clients keep their files."""
        return Folders(self.home, self.platform, self.chosen)


@dataclass(frozen=True, slots=True)
class Change:
    """A file with what it holds and what it is to hold; None is no file."""

    path: Path
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done: a command of the client's own, if it has one, then files.

    `touched` are the files that the command writes to.
    """

    client: Client
    is_install: bool
    commands: tuple[tuple[str, ...], ...] = ()
    touched: tuple[Path, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.commands and not self.changes


def plan_install(
    client: Client, server: Server, machine: Machine, *, hooks: bool, tools: bool
) -> Plan:
    """Return what sets a client up; nothing where it is set up already."""
    file = client.file(machine.folders)
    entry, now = client.entry(server), _entry(client, file)
    commands: list[tuple[str, ...]] = []
    changes: list[Change] = []
    if now != entry:
        if _has_command(client, machine) and client.add is not None:
            commands = [client.take_out] if now is not None else []
            commands.append(tuple(client.add(server)))
        else:
            changes.append(_change(file, lambda text: _with_entry(client, text, entry)))
    if client.hooks_file is not None:
        wanted = hooks_of(client.name, server, tools=tools) if hooks else []
        place = client.hooks_file(machine.folders)
        changes.append(_change(place, lambda text: _with_hooks(text, wanted)))
    return Plan(
        client,
        is_install=True,
        commands=tuple(commands),
        touched=(file,) if commands else (),
        changes=_real(changes),
    )


def plan_uninstall(client: Client, machine: Machine) -> Plan:
    """Return what takes a client's set-up back: to the same bytes where nobody edited since."""
    kept = _own(client, machine)
    file = client.file(machine.folders)
    restored = {path: _restored(path, kept[str(path)]) for path in map(Path, kept)}
    commands: list[tuple[str, ...]] = []
    changes = [one for one in restored.values() if one is not None]
    if restored.get(file) is None and _entry(client, file) is not None:
        if _has_command(client, machine) and client.take_out:
            commands.append(client.take_out)
        else:
            changes.append(_change(file, lambda text: _without_entry(client, text)))
    if client.hooks_file is not None:
        place = client.hooks_file(machine.folders)
        if restored.get(place) is None:
            changes.append(_change(place, lambda text: _with_hooks(text, [])))
    touched = (file,) if commands else ()
    return Plan(
        client, is_install=False, commands=tuple(commands), touched=touched, changes=_real(changes)
    )


def is_set_up(client: Client, machine: Machine) -> tuple[bool, bool]:
    """Return whether a client knows our server, and whether it has hooks of ours."""
    has_entry = _entry(client, client.file(machine.folders)) is not None
    if client.hooks_file is None:
        return has_entry, False
    text = _text(client.hooks_file(machine.folders))
    return has_entry, text is not None and bool(_our_hooks(jsonc.parse(text).value()))


def entry_of(client: Client, machine: Machine) -> Any:
    """Return how a client starts our server, as its file says; None if it does not."""
    return _entry(client, client.file(machine.folders))


def apply(plan: Plan, machine: Machine) -> tuple[Path, ...]:
    """Do what was planned, all of it or nothing; return where copies of what was are kept."""
    files = [*plan.touched, *(one.path for one in plan.changes)]
    before = {path: _bytes(path) for path in files}
    new_folders = {path: sum(not one.exists() for one in path.parents) for path in files}
    for change in plan.changes:
        _need_as_planned(change, before[change.path])
        _need_writable(change.path)
    copies = _keep_copies(plan, machine, before) if plan.is_install else ()
    done: list[Path] = []
    try:
        for words in plan.commands:
            _run(words, machine)
        for change in plan.changes:
            done.append(change.path)
            _write(change.path, change.after)
    except (OSError, InvalidInput) as error:
        for path in (*done, *plan.touched):
            if _bytes(path) != before[path]:
                _write(path, before[path])
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{error}.", hint="nothing was changed.") from error
    if plan.is_install:
        _write_journal(plan, machine, before, copies, new_folders)
    else:
        _drop_journal(plan, machine)
    return copies


# What is in a client's files.


def _entry(client: Client, file: Path) -> Any:
    text = _text(file)
    if text is None:
        return None
    try:
        return _entry_in(client, text)
    except InvalidInput as error:
        raise _named(file, error) from error


def _entry_in(client: Client, text: str) -> Any:
    held = _toml(text) if client.form == "toml" else jsonc.parse(text).value()
    for key in (*client.keys, NAME):
        held = held.get(key) if isinstance(held, Mapping) else None
    return json.loads(json.dumps(held)) if held is not None else None


def _with_entry(client: Client, text: str, entry: Mapping[str, Any]) -> str:
    if client.form == "json":
        return jsonc.set_value(text, (*client.keys, NAME), entry)
    document, library = _document(text)
    table = document
    for key in client.keys:
        table = table.setdefault(key, library.table(is_super_table=True))
        if not isinstance(table, Mapping):
            raise InvalidInput(f"{key} holds no table.", hint=_BY_HAND)
    is_inline = isinstance(table, library.items.InlineTable)
    made = library.inline_table() if is_inline else library.table()
    made.update({key: value for key, value in entry.items() if value != {}})
    table[NAME] = made
    return str(library.dumps(document))


def _without_entry(client: Client, text: str) -> str:
    if client.form == "json":
        return jsonc.remove(text, (*client.keys, NAME))
    document, library = _document(text)
    holder = document
    for key in client.keys:
        holder = holder.get(key, {})
    if NAME in holder:
        del holder[NAME]
    return str(library.dumps(document))


def _with_hooks(text: str, wanted: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the text with these hooks of ours and no others; those of others stay."""
    held = jsonc.parse(text).value()
    ours = [(event, group) for event, group, _ in _our_hooks(held)]
    if [(event, _value_at(held, event, group)) for event, group in ours] == list(wanted):
        return text
    for event, group, inner in reversed(_our_hooks(held)):
        for item in reversed(inner):
            text = jsonc.remove(text, ("hooks", event, group, "hooks", item))
        if not _value_at(jsonc.parse(text).value(), event, group)["hooks"]:
            text = jsonc.remove(text, ("hooks", event, group))
    for event in dict.fromkeys(event for event, _ in ours):
        if not jsonc.parse(text).value()["hooks"][event]:
            text = jsonc.remove(text, ("hooks", event))
    if ours and not jsonc.parse(text).value()["hooks"]:
        text = jsonc.remove(text, ("hooks",))
    for event, added in wanted:
        text = jsonc.append(text, ("hooks", event), added)
    return text


def _our_hooks(held: Any) -> list[tuple[str, int, list[int]]]:
    """Return where hooks of ours are: the event, the number of the group, their numbers in it."""
    events = held.get("hooks") if isinstance(held, dict) else None
    found: list[tuple[str, int, list[int]]] = []
    for event, groups in events.items() if isinstance(events, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            inner = group.get("hooks") if isinstance(group, dict) else None
            ours = [at for at, hook in enumerate(inner or ()) if is_ours(hook)]
            if ours:
                found.append((event, number, ours))
    return found


def _value_at(held: Any, event: str, group: int) -> Any:
    return held["hooks"][event][group]


def _document(text: str) -> tuple[Any, Any]:
    try:
        import tomlkit
    except ImportError as error:
        raise InvalidInput(
            "the library that edits TOML is not installed.", hint='pip install "recollect[mcp]".'
        ) from error
    try:
        return tomlkit.parse(text), tomlkit
    except ValueError as error:
        raise InvalidInput(f"it is no TOML: {error}.", hint=_BY_HAND) from error


def _toml(text: str) -> Mapping[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise InvalidInput(f"it is no TOML: {error}.", hint=_BY_HAND) from error


# Files, as bytes.


def _change(path: Path, edit: Callable[[str], str]) -> Change:
    before = _bytes(path)
    mark = _BOM if before is not None and before.startswith(_BOM) else b""
    text = _text(path) or ""
    try:
        after = mark + edit(text).encode("utf-8")
    except InvalidInput as error:
        raise _named(path, error) from error
    return Change(path, before, None if before is None and not after else after)


def _real(changes: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(one for one in changes if one.before != one.after)


def _named(path: Path, error: InvalidInput) -> InvalidInput:
    return InvalidInput(f"{path}: {error.message}", hint=error.hint or _BY_HAND)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", hint=_BY_HAND) from error


def _text(path: Path) -> str | None:
    held = _bytes(path)
    if held is None:
        return None
    try:
        return held.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8.", hint=_BY_HAND) from error


def _need_as_planned(change: Change, now: bytes | None) -> None:
    """Refuse to write over what somebody wrote since the plan was made."""
    if now not in (change.before, change.after):
        raise InvalidInput(
            f"{change.path} was changed meanwhile.", hint="nothing was changed by us: try again."
        )


def _need_writable(path: Path) -> None:
    """Refuse before anything is done what could not be done."""
    place = path.resolve()
    folder = next(one for one in place.parents if one.exists())
    is_file = place.exists()
    if (is_file and not os.access(place, os.W_OK)) or not os.access(folder, os.W_OK):
        raise InvalidInput(f"{path} may not be written to.", hint="nothing was changed.")


def _write(path: Path, held: bytes | None) -> None:
    """Write beside a file and rename; a link stays one, and so do the rights of the file."""
    place = path.resolve()
    if held is None:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    mode = place.stat().st_mode & 0o7777 if place.exists() else 0o600
    handle, draft = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(held)
        Path(draft).chmod(mode)
        Path(draft).replace(place)
    finally:
        Path(draft).unlink(missing_ok=True)


# A client's own command.


def _has_command(client: Client, machine: Machine) -> bool:
    return client.program is not None and machine.find(client.program) is not None


def _run(words: Sequence[str], machine: Machine) -> None:
    program = machine.find(words[0]) or words[0]
    try:
        done = subprocess.run(  # noqa: S603 - words of ours, and no shell
            [program, *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise InvalidInput(f"`{words[0]}` did not run: {error}.", hint="try it by hand.") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-400:]
        raise InvalidInput(f"`{' '.join(words)}` failed: {said}", hint="try it by hand.")


# What we did, so that it can be taken back.


def _journal_file(client: Client, machine: Machine) -> Path:
    return machine.state / "installed" / f"{client.name}.json"


def _journal(client: Client, machine: Machine) -> dict[str, Any]:
    """Return for each file that we changed where its copy is, and what it was like afterwards."""
    held = _bytes(_journal_file(client, machine))
    try:
        told = json.loads(held) if held is not None else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _own(client: Client, machine: Machine) -> dict[str, Any]:
    """Return what is written down of the files that a client looks into now.

    It may be set up in several folders, one for each that was chosen.
    """
    files = {str(client.file(machine.folders))}
    if client.hooks_file is not None:
        files.add(str(client.hooks_file(machine.folders)))
    told = _journal(client, machine)
    return {path: kept for path, kept in told.items() if path in files}


def _restored(path: Path, kept: Mapping[str, Any]) -> Change | None:
    """Return the change that gives a file back what it was, None if somebody edited it since."""
    now = _bytes(path)
    if now is None or _digest(now) != kept.get("after"):
        return None
    copy = kept.get("copy")
    return Change(path, now, None if copy is None else _bytes(Path(str(copy))))


def _keep_copies(
    plan: Plan, machine: Machine, before: Mapping[Path, bytes | None]
) -> tuple[Path, ...]:
    folder = machine.state / "backups" / plan.client.name
    copies: list[Path] = []
    for path, held in before.items():
        if held is None:
            continue
        copy = folder / f"{_digest(held)[:12]}-{path.name}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy.write_bytes(held)
        copy.chmod(0o600)
        copies.append(copy)
    return tuple(copies)


def _write_journal(
    plan: Plan,
    machine: Machine,
    before: Mapping[Path, bytes | None],
    copies: Sequence[Path],
    new_folders: Mapping[Path, int],
) -> None:
    told, by_digest = _journal(plan.client, machine), {one.name[:12]: str(one) for one in copies}
    for path, held in before.items():
        after, known = _bytes(path), told.get(str(path))
        if after is None or after == held:
            continue
        if known is not None and held is not None and _digest(held) == known.get("after"):
            # Ours all along: what was there before us is what it goes back to.
            told[str(path)] = {**known, "after": _digest(after)}
            continue
        if known is not None or _holds_ours(plan.client, path, held):
            # Edited in between, or set up by hand: what is ours is taken out of it one by one.
            told[str(path)] = {"copy": None, "after": None}
            continue
        copy = None if held is None else by_digest[_digest(held)[:12]]
        told[str(path)] = {
            "copy": copy,
            "after": _digest(after),
            "new_folders": new_folders[path],
        }
    file = _journal_file(plan.client, machine)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(file, json.dumps(told, indent=1).encode())


def _holds_ours(client: Client, path: Path, held: bytes | None) -> bool:
    if held is None:
        return False
    text = held.removeprefix(_BOM).decode("utf-8")
    if client.hooks_file is not None and path.name == client.hooks_file(Folders(Path())).name:
        return bool(_our_hooks(jsonc.parse(text).value()))
    return _entry_in(client, text) is not None


def _drop_journal(plan: Plan, machine: Machine) -> None:
    own, told = _own(plan.client, machine), _journal(plan.client, machine)
    for path, kept in own.items():
        # Those that we made go with what we put there; whoever put more there keeps them.
        with suppress(OSError):
            for folder in list(Path(path).parents)[: int(kept.get("new_folders", 0))]:
                folder.rmdir()
        if kept.get("copy") is not None:
            Path(str(kept["copy"])).unlink(missing_ok=True)
    rest = {path: kept for path, kept in told.items() if path not in own}
    file = _journal_file(plan.client, machine)
    if rest:
        _write(file, json.dumps(rest, indent=1).encode())
    else:
        file.unlink(missing_ok=True)


def _digest(held: bytes) -> str:
    return hashlib.sha256(held).hexdigest()
