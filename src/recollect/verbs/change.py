"""The verbs that change what is there: update, supersede, and what a new fact does to its rivals.

In: an id and what shall be otherwise, or two ids. Out: what became of it. It takes the right to
erase: anybody else's correction is a memory of its own, and a dispute. What was before is kept as a
version by the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.check import is_id, optional_text
from recollect.errors import InvalidInput, NotAllowed
from recollect.index.selection import Where
from recollect.model import (
    Remembered,
    RememberRequest,
    changed_fields,
    name_key,
)
from recollect.paks import UnknownPak
from recollect.policy.permit import need, takes_instruct
from recollect.ports.store import RowFilter
from recollect.values import dataclass
from recollect.verbs.erase import hash_name
from recollect.verbs.requests import keep, raise_if_repeated
from recollect.write.draft import ARGUMENTS, derived_title, draft
from recollect.write.forget import erasable

if TYPE_CHECKING:
    from recollect.model import (
        Memory,
        Place,
    )
    from recollect.policy.view import View
    from recollect.ports.store import Claim, Commit, Standing
    from recollect.recall.sight import Sight
    from recollect.verbs.caller import Caller
    from recollect.verbs.requests import Request

__all__ = ["Overtaken", "Settling", "Update", "need_changeable", "supersede", "until_done"]

_PLACE = ("scope", "team", "garden")
_UPDATED = (*(name for name in ARGUMENTS if name != "pak_id"), *_PLACE)

Answer = TypeVar("Answer")


# Given what was reported of memories once they are written, what to report.
Settle = Callable[[Mapping[str, Remembered]], dict[str, Remembered]]


class Overtaken(Exception):
    """Somebody changed a memory while it was being changed; who was at it must start again."""


def until_done(act: Callable[[], Answer]) -> Answer:
    """Return what is done, once nobody is in between."""
    while True:
        try:
            return act()
        except Overtaken:
            continue


class Update:
    """One memory with some of its fields changed, as it was when this was made."""

    def __init__(self, caller: Caller, pak_id: str, fields: Mapping[str, Any]) -> None:
        unknown = sorted(fields.keys() - set(_UPDATED))
        if unknown:
            raise InvalidInput(
                f"update takes no {unknown[0]!r:.80}.", hint=f"it takes {', '.join(_UPDATED)}."
            )
        if not fields:
            raise InvalidInput("update what?", hint="name a field, such as content.")
        self._caller = caller
        self._fields = fields
        self.memory = caller.answer(lambda sight: need_changeable(caller, sight, pak_id))
        self.changed: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `remember` that describe the memory as it shall be."""
        old = self.memory
        given = {name: getattr(old, name) for name in ARGUMENTS}
        if old.title == derived_title(old.content):
            # Nobody chose it: it goes with the text.
            del given["title"]
        if "ttl" in self._fields:
            # When it ends followed from that.
            del given["valid_until"]
        named = {name: value for name, value in self._fields.items() if name not in _PLACE}
        return {**given, **named}

    def draft(
        self,
        arguments: Mapping[str, Any],
        *,
        place: Callable[[str | None, str | None, str | None], Place],
        now: str,
    ) -> RememberRequest:
        """Return the memory that they describe, checked, at the place where it stays or goes."""
        memory = draft(arguments, place=self._place(place), now=now)
        if takes_instruct(memory) or takes_instruct(self.memory):
            need(self._caller.principal, "instruct")
        old = self.memory
        kept = replace(memory, status=old.status, superseded_by=old.superseded_by)
        self.changed = changed_fields(old, kept)
        return RememberRequest(arguments, memory)

    def need_unchanged(self, commit: Commit) -> None:
        """Raise `Overtaken` unless the memory is still what it was, and the caller's to change."""
        now = need_changeable(self._caller, self._caller.sight_before(commit), self.memory.pak_id)
        if changed_fields(self.memory, now) or self.memory.updated_at != now.updated_at:
            raise Overtaken

    def report(self, reports: Mapping[str, Remembered]) -> dict[str, Remembered]:
        """Return what is reported, with what was changed."""
        return {name: replace(one, changed=self.changed) for name, one in reports.items()}

    def _place(self, chosen: Callable[[str | None, str | None, str | None], Place]) -> Place:
        """Return where it goes: where it is, but for what is named; its owner stays."""
        old = self.memory.place
        if not any(name in self._fields for name in _PLACE):
            return old
        named = {name: optional_text(name, self._fields.get(name)) for name in _PLACE}
        garden = named["garden"] if "garden" in self._fields else old.garden
        if garden is None:
            scope = named["scope"] or old.scope
            team = named["team"] or (old.team if scope == "team" else None)
            return replace(chosen(scope, team, None), owner=old.owner)
        return replace(chosen(named["scope"], named["team"], garden), owner=old.owner)


def supersede(caller: Caller, request: Request | None, pak_id: str, successor: str | None) -> None:
    """Name the successor of a memory; None takes that back."""
    caller.answer(lambda sight: _need_succession(caller, sight, pak_id, successor))
    with caller.open_store.commit() as commit:
        raise_if_repeated(request)
        _need_succession(caller, caller.sight_before(commit), pak_id, successor)
        _supersede(caller, {pak_id: successor})
        names = [pak_id] if successor is None else [pak_id, successor]
        keep(request, None, names=names)


def _supersede(caller: Caller, successors: Mapping[str, str | None]) -> None:
    caller.store.memories.supersede(successors, by=caller.principal.id, at=caller.now())
    for pak_id, successor in successors.items():
        detail = "" if successor is None else hash_name(successor)
        caller.open_store.note(caller.principal, "supersede", hash_name(pak_id), detail)


def _need_succession(caller: Caller, sight: Sight, pak_id: str, successor: str | None) -> None:
    """Refuse what is not there, not the caller's to change, or would go round in a circle."""
    need_changeable(caller, sight, pak_id, silences=True)
    if successor is None:
        return
    known = _known(sight, successor)
    if not sight.view.binds(known.place):
        raise NotAllowed(
            "a memory of another tenant supersedes nothing here.",
            hint="remember it in your own words, and name that.",
        )
    if pak_id in _following(successor, sight):
        raise InvalidInput(
            f"{pak_id!r:.80} and {successor!r:.80} would supersede each other.",
            hint="name the one that holds second.",
        )


def _following(pak_id: str, sight: Sight) -> list[str]:
    """Return a memory and what superseded it, one after the other, as far as it may be read."""
    found: list[str] = []
    following: str | None = pak_id
    while following is not None and following not in found:
        found.append(following)
        following = sight.successor_of(following)
    return found


def need_changeable(caller: Caller, sight: Sight, pak_id: str, *, silences: bool = False) -> Memory:
    """Return a memory that the caller may change, as it was claimed."""
    memory = _known(replace(sight, trusts=None), pak_id)
    if not _erasable(caller, [pak_id]):
        raise NotAllowed(
            f"{pak_id!r:.80} is not for {caller.principal.id} to change.",
            hint="remember what is right, and dispute the two: the owner, or an admin, changes it.",
        )
    if silences and takes_instruct(memory):
        need(caller.principal, "instruct")
    return memory


def _known(sight: Sight, pak_id: str) -> Memory:
    memory = sight.memories([pak_id]).get(pak_id) if is_id(pak_id) else None
    if memory is None:
        raise UnknownPak(f"There is no memory {pak_id!r:.80}.", hint="check the id with get().")
    return memory


def _erasable(caller: Caller, pak_ids: Sequence[str]) -> list[str]:
    standing: dict[str, Standing] = caller.store.memories.standing(
        RowFilter(pak_ids=tuple(pak_ids))
    )
    roles = caller.open_store.roles_of(caller.principal)
    return erasable(standing, caller.principal, roles, None)


@dataclass(frozen=True, slots=True, eq=False)
class Settling:
    """What becomes of others when memories are written: inside of the commit that does so."""

    caller: Caller
    wanted: Mapping[str, RememberRequest]

    def __call__(self, drafted: Mapping[str, Memory], commit: Commit) -> Settle | None:
        """Look at what is there before memories are written; return what to do once they are.

        They come by the ids that they were drafted with: a turn may have one from before. Nearly
        always there is nothing to do.
        """
        memories = list(drafted.values())
        rivals, before = self._rivals(memories), _said_before_in_batch(memories)
        written = {one.pak_id for one in memories}
        named = [self.wanted[name] for name in drafted if self.wanted[name].supersedes]
        if not rivals and not named and not before:
            return None
        if "read" not in self.caller.principal.permissions:
            _need_nothing_named(named)
            return None
        sight = self.caller.sight_before(commit)
        for one in named:
            for name in one.supersedes:
                _need_other(name, one.memory.pak_id)
                if name not in written:
                    _need_succession(self.caller, sight, name, None)
        conflicts = {
            one.pak_id: [
                *_in_answers(rivals.get(one.pak_id, ()), sight, without=one.pak_id),
                *before.get(one.pak_id, ()),
            ]
            for one in memories
        }
        known = sight.memories(name for names in conflicts.values() for name in names)
        known |= {one.pak_id: one for one in memories}
        return lambda reports: {
            name: self._settled(self.wanted[name], report, conflicts, known, sight)
            for name, report in reports.items()
        }

    def _settled(
        self,
        wanted: RememberRequest,
        report: Remembered,
        all_conflicts: Mapping[str, Sequence[str]],
        known: Mapping[str, Memory],
        sight: Sight,
    ) -> Remembered:
        conflicts = {name: known[name] for name in sorted(set(all_conflicts[report.pak_id]))}
        left = {name: one for name, one in conflicts.items() if name not in wanted.supersedes}
        taken = self._supersedable(left) if wanted.on_conflict == "supersede" else []
        superseded = [*wanted.supersedes, *taken]
        disputed = {} if wanted.on_conflict == "report" else left
        disputed = {name: one for name, one in disputed.items() if name not in taken}
        self._supersede(report.pak_id, superseded, sight)
        self._dispute(known[report.pak_id], disputed, sight.view)
        return replace(
            report,
            conflicts=tuple(conflicts),
            superseded=tuple(superseded),
            disputed=tuple(disputed),
        )

    def _supersedable(self, rivals: Mapping[str, Memory]) -> list[str]:
        """Return what of these is the caller's to supersede; orders take the right to give them."""
        instructs = "instruct" in self.caller.principal.permissions
        mine = set(_erasable(self.caller, list(rivals)))
        return [
            name
            for name, one in rivals.items()
            if name in mine and (instructs or not takes_instruct(one))
        ]

    def _supersede(self, pak_id: str, superseded: Sequence[str], sight: Sight) -> None:
        """Let a memory take the place of others; if it had given way to one, it stands again."""
        stands_again = {pak_id: None} if set(_following(pak_id, sight)) & set(superseded) else {}
        _supersede(self.caller, {**stands_again, **dict.fromkeys(superseded, pak_id)})

    def _dispute(self, memory: Memory, rivals: Mapping[str, Memory], view: View) -> None:
        for pak_id, rival in rivals.items():
            if not view.joins(memory.place, rival.place):
                raise NotAllowed(
                    f"{pak_id!r:.80} is not for {view.principal} to dispute.",
                    hint='leave on_conflict at "report".',
                )
            if takes_instruct(memory) or takes_instruct(rival):
                need(self.caller.principal, "instruct")
            pair = (memory.pak_id, pak_id)
            self.caller.store.edges.dispute(pair, note="", now=self.caller.now())

    def _rivals(self, memories: Sequence[Memory]) -> dict[str, list[int]]:
        """Return the rows of those that say another value, by the id of who says this one."""
        said = {one.pak_id: key for one in memories if (key := _claim(one)) is not None}
        if not said:
            return {}
        about = sorted({(entity, relation) for entity, relation, _ in said.values()})
        claims: dict[tuple[str, str], list[Claim]] = {pair: [] for pair in about}
        for one in self.caller.store.memories.claims(self.caller.principal.tenant, about):
            claims[one.entity, one.relation].append(one)
        found = {
            pak_id: [one.row_id for one in claims[entity, relation] if one.value != value]
            for pak_id, (entity, relation, value) in said.items()
        }
        return {pak_id: rows for pak_id, rows in found.items() if rows}


def _need_other(pak_id: str, successor: str) -> None:
    if pak_id == successor:
        raise InvalidInput(
            f"{pak_id!r:.80} cannot supersede itself.", hint="an update changes what is there."
        )


def _need_nothing_named(wanted: Sequence[RememberRequest]) -> None:
    for one in wanted:
        raise UnknownPak(
            f"There is no memory {one.supersedes[0]!r:.80}.", hint="check the id with get()."
        )


def _claim(memory: Memory) -> tuple[str, str, str] | None:
    """Return entity, relation and value as they are compared; None for who lacks one of them."""
    if memory.entity is None or memory.relation is None or memory.value is None:
        return None
    return name_key(memory.entity), name_key(memory.relation), name_key(memory.value)


def _said_before_in_batch(memories: Sequence[Memory]) -> dict[str, list[str]]:
    """Return what of memories that are written together says another value, and came before."""
    by_pair: dict[tuple[str, str], list[tuple[str, str]]] = {}
    found = {}
    for one in memories:
        if (said := _claim(one)) is None:
            continue
        entity, relation, value = said
        others = by_pair.setdefault((entity, relation), [])
        if earlier := [name for name, other in others if other != value]:
            found[one.pak_id] = earlier
        others.append((one.pak_id, value))
    return found


def _in_answers(row_ids: Sequence[int], sight: Sight, *, without: str) -> list[str]:
    """Return those rows, by id, that may be in the caller's answers now."""
    if not row_ids:
        return []
    bound = sight.bound()
    mask = bound.select(Where(current_only=True)).mask
    slots = bound.index.slots_of_rows(row_ids)
    names = bound.index.pak_ids(slots[mask[slots]])
    return sorted(name for name in names if name != without)
