"""What is kept of a conversation: turns, verbatim but for secrets, each once.

In: turns, as a hook or a transcript tells them. Out: arguments of `remember`, or why nothing is
kept. A turn is known by its session, who said it and what: told by a hook, by the end of a
transcript and by an import, it is one memory. Echoes, pauses, projects that keep nothing and what
is off the record stay out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from recollect.check import instant
from recollect.edge.agents import pauses
from recollect.edge.agents.blocks import texts_in, without_blocks
from recollect.edge.agents.project import Project, project_at
from recollect.edge.echo import Known, known, repeated
from recollect.importers import GivenOut, Heard, Turn, Unread
from recollect.limits import most_characters
from recollect.model.memory import EXTERNAL
from recollect.policy.redact import redact
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.edge.agents.options import AgentOptions
    from recollect.engine import Recollect

__all__ = [
    "CaptureReport",
    "Sieve",
    "is_off_record",
    "keep",
    "tool_arguments",
    "tool_line",
    "turn_id",
]

# Stored at once: what is durable stays when the rest is cut off.
_AT_ONCE = 200
_LINE_CHARACTERS = 300
_ASSISTANT = "assistant"
_OF_TOOLS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "prompt")
_EXITS = ("exit_code", "exitCode", "returncode", "code")


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """What became of turns: the ids that are new, how many were there, and what stayed out."""

    new: tuple[str, ...] = ()
    known: int = 0
    left_out: Mapping[str, int] | None = None
    unread: tuple[Unread, ...] = ()


def turn_id(thread: str, speaker: str, text: str) -> str:
    """Return the id of a turn: who said what in which session."""
    digest = blake2b(digest_size=16)
    for part in (thread, speaker, text):
        digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
    return f"turn_{digest.hexdigest()}"


def is_off_record(text: str, phrases: Sequence[str]) -> bool:
    """Return whether somebody asked not to be written down."""
    said = " ".join(text.casefold().split())
    return any(" ".join(one.casefold().split()) in said for one in phrases)


class Sieve:
    """Decides turn by turn, in their order, what is kept: it remembers what was off the record."""

    def __init__(self, options: AgentOptions, given_out: Iterable[str] = ()) -> None:
        self._options = options
        self._spans = pauses.spans(options.state)
        self._given_out: dict[str, Known] = {"": _known(given_out)}
        self._silent: set[str] = set()
        self._projects: dict[str | None, Project] = {}

    def hear(self, given: GivenOut) -> None:
        """Take note of a text that memory put into a conversation."""
        self._given_out.setdefault(given.thread, {}).update(_known(texts_in(given.text)))

    def arguments(self, turn: Turn) -> dict[str, Any] | str:
        """Return the arguments of `remember` for a turn, or why it is not kept."""
        if turn.speaker != _ASSISTANT:
            self._listen(turn)
        if turn.thread in self._silent:
            return "off the record"
        at = instant(turn.occurred_at)
        if at is not None and pauses.is_paused(self._spans, at.timestamp()):
            return "paused"
        project = self._project(turn.folder)
        if not project.capture or not self._options.capture:
            return "not captured here"
        text = redact(without_blocks(turn.text)).strip()
        if not any(one.isalnum() for one in text):
            return "no words"
        if repeated({**self._given_out.get(turn.thread, {}), **self._given_out[""]}, text):
            return "echo"
        return _arguments(turn, text[: most_characters("content")], project)

    def _listen(self, turn: Turn) -> None:
        """What is said off the record is so until the same people speak again."""
        self._silent.discard(turn.thread)
        if is_off_record(turn.text, self._options.off_record):
            self._silent.add(turn.thread)

    def _project(self, folder: str | None) -> Project:
        if folder not in self._projects:
            self._projects[folder] = project_at(folder)
        return self._projects[folder]


def _known(texts: Iterable[str]) -> Known:
    """Return what texts are known by; here it does not matter whose they are."""
    return known(("", text) for text in texts)


def _arguments(turn: Turn, text: str, project: Project) -> dict[str, Any]:
    said: dict[str, Any] = {
        "content": text,
        "pak_id": turn_id(turn.thread, turn.speaker, text),
        "project": project.name,
        "source": turn.source,
        "thread": turn.thread,
        "speaker": turn.speaker,
        "occurred_at": turn.occurred_at,
        "metadata": {"name": turn.name} if turn.name else None,
    }
    if turn.speaker == _ASSISTANT:
        # Nobody approved it: it is what a model said.
        said["authority"] = _ASSISTANT
    return {name: value for name, value in said.items() if value is not None}


def keep(memory: Recollect, heard: Iterable[Heard], sieve: Sieve) -> CaptureReport:
    """Store what is heard and new, some hundreds at a time; what is there stays as it is."""
    new: list[str] = []
    left_out: dict[str, int] = {}
    unread: list[Unread] = []
    known = 0
    for batch in _batches(_wanted(heard, sieve, left_out, unread)):
        fresh = _fresh(memory, batch)
        known += len(batch) - len(fresh)
        if fresh:
            new += [one.pak_id for one in memory.remember_many(fresh)]
    return CaptureReport(tuple(new), known, left_out, tuple(unread))


def _wanted(
    heard: Iterable[Heard], sieve: Sieve, left_out: dict[str, int], unread: list[Unread]
) -> Iterator[dict[str, Any]]:
    for one in heard:
        if isinstance(one, GivenOut):
            sieve.hear(one)
        elif isinstance(one, Unread):
            unread.append(one)
        else:
            said = sieve.arguments(one)
            if isinstance(said, str):
                left_out[said] = left_out.get(said, 0) + 1
            else:
                yield said


def _batches(items: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for item in items:
        batch.append(item)
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _fresh(memory: Recollect, batch: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those that no memory is of: neither by their id nor by the name that they came with.

    A session that goes on in another file brings its turns along, under their old names.
    """
    names = [one["metadata"]["name"] for one in batch if "metadata" in one]
    either = {"pak_id": [one["pak_id"] for one in batch], "metadata.name": names}
    # Asked for at once: a memory on a server is as far away for one as for all.
    wanted = [{field: {"in": values}} for field, values in either.items() if values]
    there = memory.list(filter={"or": wanted}, limit=1000).items
    ids = {one.pak_id for one in there}
    seen = {one.metadata.get("name") for one in there} - {None}
    fresh: list[dict[str, Any]] = []
    for one in batch:
        name = one.get("metadata", {}).get("name")
        if one["pak_id"] in ids or name in seen:
            continue
        fresh.append(one)
        ids.add(one["pak_id"])
        seen |= {name} - {None}
    return fresh


def tool_line(name: str, given: object, response: object) -> str:
    """Return one line that says what a tool did: its name, on what, and how it ended."""
    on = _object(given)
    what = next((on[key] for key in _OF_TOOLS if isinstance(on.get(key), str)), "")
    first = next(iter(str(what).strip().splitlines()), "")
    line = f"{name}: {redact(first)}" if first else name
    return f"{line[:_LINE_CHARACTERS]}{_ended(response)}"


def _object(told: object) -> Mapping[str, Any]:
    """Return what a client told, which some tell as a text of JSON."""
    if isinstance(told, str) and told.startswith("{"):
        try:
            told = json.loads(told)
        except (ValueError, RecursionError):
            return {}
    return told if isinstance(told, Mapping) else {}


def _ended(told: object) -> str:
    response = _object(told)
    code = next((response[key] for key in _EXITS if type(response.get(key)) is int), None)
    if code is not None:
        return f" (exit {code})"
    if response.get("is_error") or response.get("error") or response.get("interrupted"):
        return " (failed)"
    return ""


def tool_arguments(turn: Turn, tool: str, project: Project) -> dict[str, Any]:
    """Return the arguments of `remember` for what a tool did: word from outside."""
    said = _arguments(turn, turn.text, project)
    return {**said, "authority": EXTERNAL, "source": f"tool:{tool}"}
