"""A call of a tool, carried out on a memory: what leaves, and what a model reads of it.

In: a tool, its arguments, and a memory that acts for whoever asks. Out: the verb's own answer, as
`wire` has it, with a short text beside; or an error in our words with what to do next. A text that
memory gave out and that comes back is not stored as new. No SDK is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from recollect.check import shown
from recollect.edge import wire
from recollect.edge.echo import Echoes, says_the_same, texts_in_answer
from recollect.edge.mcp import texts
from recollect.edge.mcp.held import held
from recollect.edge.mcp.tools import Tool
from recollect.edge.verbs.answers import checked_detail, checked_text_budget
from recollect.errors import InvalidInput, RecollectError
from recollect.model import Remembered
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.edge.verbs import Verb
    from recollect.edge.verbs.verb import Progress
    from recollect.engine import Recollect

__all__ = ["Outcome", "Session", "carried_out", "refused"]

Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call comes to. `error` is set in place of `answer` when it was refused."""

    text: str
    answer: wire.Object | None = None
    error: wire.Object | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """A memory as whoever asks may use it, who that is, and what that was told before.

    A door that counts what is asked of it carries verbs out by a `perform` of its own; one whose
    memories are only lent says how the memory is had once more. `whose` it is, where somebody has
    to show who they are: this machine's own files are not theirs.
    """

    memory: Recollect
    who: Hashable
    echoes: Echoes
    perform_as: Callable[..., wire.Object | Iterator[str]] | None = None
    lent_again: Callable[[], AbstractContextManager[Recollect]] | None = None
    whose: str | None = None

    def lend(self) -> AbstractContextManager[Recollect]:
        """Give the memory for as long as it is used, also when the call is over."""
        return nullcontext(self.memory) if self.lent_again is None else self.lent_again()

    def perform(
        self, verb: Verb, given: Mapping[str, Any], *, progress: Progress | None = None
    ) -> wire.Object:
        """Carry out a verb, and return what leaves; lines that would stream are all in it."""
        if self.perform_as is None:
            answer = verb.perform(self.memory, given, progress=progress)
        else:
            answer = self.perform_as(verb, given, progress=progress)
        if isinstance(answer, dict):
            return answer
        return {"lines": [line.rstrip("\n") for line in answer]}

    def tell(self, told: wire.Object) -> wire.Object:
        """Keep in mind what is told; return it."""
        self.echoes.tell(self.who, texts_in_answer(told))
        return told


def carried_out(
    session: Session, tool: Tool, arguments: object, *, progress: Progress | None = None
) -> Outcome:
    """Carry out a tool; whatever is wrong with it is an outcome, too."""
    try:
        return _carried_out(session, tool, _checked(tool, arguments), progress)
    except RecollectError as error:
        return refused(error)


def refused(error: RecollectError) -> Outcome:
    """Return an error as a model reads it: what is wrong, then what to do."""
    told = wire.error(error, hint=error.hint or None)
    return Outcome(f"{error.message}\n{error.hint}" if error.hint else error.message, error=told)


def _checked(tool: Tool, arguments: object) -> Given:
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise InvalidInput(
            f"the arguments of {tool.name} are an object, not {shown(arguments)}.",
            hint='{"name": "value"}',
        )
    said = {str(name): one for name, one in arguments.items() if not _is_silent(tool, name, one)}
    return {name: _whole(tool, name, one) for name, one in {**(tool.usual or {}), **said}.items()}


def _is_silent(tool: Tool, name: object, value: object) -> bool:
    """Return whether a null stands for a default: models fill in what they leave out."""
    if value is not None:
        return False
    known = {one.name: one for one in tool.fields}
    return name in known and not known[str(name)].takes_null and not known[str(name)].is_required


def _whole(tool: Tool, name: str, value: object) -> object:
    """Return a value; a whole number that is written as 5.0 is one all the same."""
    if isinstance(value, float) and value.is_integer() and _kind(tool, name) == "whole":
        return int(value)
    return value


def _kind(tool: Tool, name: str) -> str | None:
    return next((one.kind for one in tool.verb.fields if one.name == name), None)


def _carried_out(session: Session, tool: Tool, given: Given, progress: Progress | None) -> Outcome:
    again = _ECHOED.get(tool.verb.name)
    echoed = None if again is None else again(session, tool, given, progress)
    if echoed is not None:
        return echoed
    detail = _detail(tool, given)
    text_budget = given.pop("text_budget", 0) if detail == "index" else 0
    told = session.perform(tool.verb, given, progress=progress)
    if tool.name == "frame":
        # Its text holds the memories whole, whatever the list of them says.
        session.tell(told)
    if detail == "index":
        told = _indexed(tool, told, text_budget)
    return Outcome(texts.answered(tool.name, session.tell(told)), told)


def _detail(tool: Tool, given: Given) -> object:
    """Take out how much of each memory is wanted, where a tool has a choice."""
    if tool.name not in _INDEXES:
        return "full"
    return checked_detail(given.pop("detail", "full"))


def _indexed(tool: Tool, told: wire.Object, text_budget: object) -> wire.Object:
    if tool.name != "recall":
        return _INDEXES[tool.name](told)
    return wire.recalled_index(told, text_budget=checked_text_budget(text_budget))


_INDEXES: Mapping[str, Callable[[wire.Object], wire.Object]] = {
    "recall": wire.recalled_index,
    "frame": wire.framed_index,
    "list_memories": wire.listing_index,
}


def _echo_of(session: Session, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the memories that a text repeats, none if it is new or says what becomes of them.

    They are there and say so now: what was forgotten or changed can be learnt anew.
    """
    content = given.get("content")
    if not isinstance(content, str) or given.get("pak_id") or given.get("supersedes"):
        return ()
    return _given_out(session, content) or held(session.memory, given)


def _given_out(session: Session, content: str) -> tuple[str, ...]:
    """Return what this process told, and a text repeats; it must still be there and say so."""
    repeated = session.echoes.repeated(session.who, content)
    for pak_id, piece in repeated:
        there = session.memory.get(pak_id)
        if there is None or not says_the_same(piece, there.content):
            return ()
    return tuple(dict.fromkeys(pak_id for pak_id, _ in repeated))


def _unchanged(pak_ids: tuple[str, ...]) -> wire.Object:
    """Return what is told of a text that is not stored again, in the shape of one that is."""
    one = Remembered(pak_ids[0], created=False, state="ready", meta={"echo_of": list(pak_ids)})
    return wire.remembered(one)


def _remember(session: Session, tool: Tool, given: Given, _: Progress | None) -> Outcome | None:
    tool.verb.checked(given)
    pak_ids = _echo_of(session, given)
    return Outcome(texts.echoed(pak_ids), _unchanged(pak_ids)) if pak_ids else None


def _remember_many(
    session: Session, tool: Tool, given: Given, progress: Progress | None
) -> Outcome | None:
    items: Sequence[Any] = tool.verb.checked(given)["items"]
    echoes = {number: _echo_of(session, _as_item(one)) for number, one in enumerate(items)}
    if not any(echoes.values()):
        return None
    rest = [one for number, one in enumerate(items) if not echoes[number]]
    told = session.perform(tool.verb, {**given, "items": rest}, progress=progress)
    stored = iter(told["items"])
    each = [_unchanged(echoes[number]) if echoes[number] else next(stored) for number in echoes]
    answer = {**told, "remembered": len(rest), "items": each}
    return Outcome(
        f"{texts.answered(tool.name, answer)}; of these, not stored again:"
        f" {len(items) - len(rest)}",
        answer,
    )


def _as_item(item: object) -> Mapping[str, Any]:
    return item if isinstance(item, Mapping) else {"content": item}


_ECHOED: Mapping[str, Callable[[Session, Tool, Given, Progress | None], Outcome | None]] = {
    "remember": _remember,
    "remember_many": _remember_many,
}
