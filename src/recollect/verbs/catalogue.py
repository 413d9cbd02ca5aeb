"""The catalogue inside a view: the Paks of the memories that a principal may read, and no others.

In: ids, words, filters; codes and flags to set. Out: rows, dossiers, hits. Nothing that may not be
read has a part in an answer: neither in what is counted of words nor in where a page ends. What the
catalogue holds beside memories is for whoever opened it.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from recollect import arguments, check
from recollect.errors import InvalidInput
from recollect.index.selection import Where
from recollect.model import RecallRequest
from recollect.model.pak import (
    LIST_LIMIT_DEFAULT,
    LIST_LIMIT_MAX,
    ReasonCodeEntry,
    RiskFlagEntry,
)
from recollect.model.request import ListRequest
from recollect.paks import validate
from recollect.policy.permit import need, takes_instruct
from recollect.recall.clean import clean_row
from recollect.values import dataclass
from recollect.verbs.change import need_changeable
from recollect.verbs.erase import hash_name, older
from recollect.verbs.requests import Request, answered, keep, raise_if_repeated
from recollect.write.forget import need_right_to_erase

if TYPE_CHECKING:
    from recollect.model import Scope
    from recollect.model.pak import PakRow
    from recollect.recall.inspect import Inspection
    from recollect.recall.select.selection import Match
    from recollect.recall.sight import Sight
    from recollect.verbs.caller import Caller
    from recollect.verbs.read import Reader

__all__ = ["CatalogueHit", "CataloguePage", "CatalogueRow", "ViewedCatalogue"]

Entry = TypeVar("Entry", ReasonCodeEntry, RiskFlagEntry)


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """One Pak of a listing, and what to be careful of with it."""

    pak: PakRow
    risk_flags: tuple[RiskFlagEntry, ...]


@dataclass(frozen=True, slots=True)
class CatalogueHit:
    """A Pak that was found by words; a higher score is a better match."""

    pak: PakRow
    risk_flags: tuple[RiskFlagEntry, ...]
    score: float


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """One page, last updated first; `next_cursor` is set only if more follow."""

    items: tuple[CatalogueRow, ...]
    next_cursor: str | None
    limit: int


class ViewedCatalogue:
    """The catalogue, as far as one principal may read it."""

    def __init__(self, caller: Caller, reader: Reader) -> None:
        self._caller = caller
        self._reader = reader

    def list(
        self,
        *,
        project: str | None = None,
        pak_type: str | None = None,
        limit: int = LIST_LIMIT_DEFAULT,
        cursor: str | None = None,
    ) -> CataloguePage:
        """Return one page of Paks that equal all that is given, last updated first."""
        need(self._caller.principal, "read")
        given = _filters(project, pak_type)
        equal = {name: {"eq": one} for name, one in given.items() if one is not None}
        count = arguments.positive("limit", limit, LIST_LIMIT_MAX)
        asked = RecallRequest(filter=equal or None)
        wanted = ListRequest(asked, limit=count, cursor=cursor).checked()
        with self._caller.standing_still() as sight:
            page = self._reader.page(wanted)
            rows = self._rows([one.pak_id for one in page.items], sight)
        return CataloguePage(tuple(rows.values()), page.next_cursor, count)

    def get(self, pak_id: str) -> Inspection | None:
        """Return all that is known of one Pak, or None."""
        found = self._reader.inspect(pak_id)
        return found if found is not None and found.memory is not None else None

    def search(
        self,
        text: str,
        *,
        project: str | None = None,
        pak_type: str | None = None,
        limit: int = LIST_LIMIT_DEFAULT,
        match: Match = "any",
    ) -> tuple[CatalogueHit, ...]:
        """Find Paks by the words of their title and summary, best first.

        Any text is safe: it is read as words. How rare a word is, is counted among what may be
        read. `match` says whether a Pak must hold any of the words or all of them.
        """
        from recollect.recall.select.selection import search

        need(self._caller.principal, "read")
        count = arguments.positive("limit", limit, LIST_LIMIT_MAX)
        filters = _filters(project, pak_type)
        with self._caller.standing_still() as sight:
            found = search(
                self._caller.catalogue,
                text,
                readable=self._readable(sight),
                **filters,
                limit=count,
                match=match,
            )
            rows = self._rows([pak_id for pak_id, _ in found], sight)
        return tuple(
            CatalogueHit(rows[pak_id].pak, rows[pak_id].risk_flags, score)
            for pak_id, score in found
        )

    def flagged(self) -> dict[str, tuple[str, ...]]:
        """Return the Paks that may be read by the risk flags that they have; ids ascending."""
        need(self._caller.principal, "read")
        with self._caller.standing_still() as sight:
            mask = sight.select(Where(active_only=False)).mask
            slot_of = sight.index.slot_of
            named = {
                flag: tuple(
                    pak_id for pak_id in ids if (at := slot_of(pak_id)) is not None and mask[at]
                )
                for flag, ids in self._caller.catalogue.find_flagged_paks().items()
            }
        return {flag: ids for flag, ids in named.items() if ids}

    def older(self, *, scope: Scope | None = None, **named: str) -> dict[str, builtins.list[int]]:
        """Return which earlier versions of what stays a `forget` of all that is named would erase.

        Their numbers, by memory. They are told to whoever may erase them, as ids are by a dry run.
        """
        need_right_to_erase(self._caller.principal)
        return older(self._caller, arguments.forgettable(None, scope, {}, named))

    def set_reason_codes(
        self,
        pak_id: str,
        codes: Iterable[ReasonCodeEntry | Mapping[str, Any] | str],
        *,
        request_id: str | None = None,
    ) -> tuple[ReasonCodeEntry, ...]:
        """Make `codes` all reasons why a Pak matters; return them. It takes the right to change it.

        A code is one of the registry's, alone or with a weight from 0 to 1.
        """
        given = [_code(one) for one in validate.listed("reason_code", codes)]
        wanted = sorted(validate.reason_codes(given, strict=True))
        put = self._caller.catalogue.set_pak_reason_codes
        return self._set(pak_id, wanted, put, "pak.reason_codes", ReasonCodeEntry, request_id)

    def set_risk_flags(
        self,
        pak_id: str,
        flags: Iterable[RiskFlagEntry | Mapping[str, Any]],
        *,
        request_id: str | None = None,
    ) -> tuple[RiskFlagEntry, ...]:
        """Make `flags` all that is to be careful of with a Pak; return them.

        It takes the right to change it. A flag is one of the registry's, with its severity.
        """
        given = [_flag(one) for one in validate.listed("risk_flag", flags)]
        wanted = sorted(validate.risk_flags(given, strict=True))
        put = self._caller.catalogue.set_pak_risk_flags
        return self._set(pak_id, wanted, put, "pak.risk_flags", RiskFlagEntry, request_id)

    def _set(
        self,
        pak_id: str,
        wanted: Sequence[Entry],
        put: Callable[..., None],
        act: str,
        kind: type[Entry],
        request_id: str | None,
    ) -> tuple[Entry, ...]:
        caller = self._caller
        need(caller.principal, "write")
        name = arguments.name("pak_id", pak_id)
        request = Request.of(
            caller.open_store, caller.principal, request_id, verb=act, body=[name, wanted]
        )

        def change() -> tuple[Entry, ...]:
            # Who may not is told so without a wait for the write lock.
            caller.answer(partial(self._need_right, name))
            with caller.open_store.commit() as commit:
                caller.need_living_key()
                raise_if_repeated(request)
                self._need_right(name, caller.sight_before(commit))
                put(name, wanted, now=caller.now())
                detail = ", ".join(one[0] for one in wanted)
                caller.open_store.note(caller.principal, act, hash_name(name), detail)
                keep(request, [list(one) for one in wanted], names=[name])
            return tuple(wanted)

        return answered(request, change, told=lambda kept: tuple(kind(*one) for one in kept))

    def _need_right(self, pak_id: str, sight: Sight) -> None:
        memory = need_changeable(self._caller, sight, pak_id)
        if takes_instruct(memory):
            need(self._caller.principal, "instruct")

    def _readable(self, sight: Sight) -> frozenset[str]:
        return self._caller.open_store.names(sight.index, sight.select(Where(active_only=False)))

    def _rows(self, pak_ids: Sequence[str], sight: Sight) -> dict[str, CatalogueRow]:
        """Return rows by id; a successor is named to who may read it."""
        catalogue, readable = self._caller.catalogue, self._readable(sight)
        shows_plain = self._caller.open_store.shows_plain_words
        rows, flags = {}, catalogue.get_pak_risk_flags_of_each(pak_ids)
        for pak_id, pak in catalogue.get_paks(pak_ids).items():
            if pak.superseded_by is not None and pak.superseded_by not in readable:
                pak = pak._replace(superseded_by=None)
            shown = clean_row(pak) if shows_plain else pak
            rows[pak_id] = CatalogueRow(shown, tuple(flags[pak_id]))
        return rows


def _filters(project: object, pak_type: object) -> dict[str, str | None]:
    """Return what Paks must equal, checked."""
    given = {"project": project, "pak_type": pak_type}
    return {name: check.optional_text(name, one, nul=True) for name, one in given.items()}


def _code(given: Any) -> ReasonCodeEntry:
    """Return a code as it was given, or made of its name or of a mapping."""
    if isinstance(given, ReasonCodeEntry):
        return given
    if isinstance(given, str):
        return ReasonCodeEntry(given)
    if isinstance(given, Mapping) and {"reason_code"} <= given.keys() <= {"reason_code", "weight"}:
        return ReasonCodeEntry(**given)
    raise InvalidInput(
        f"a reason code is a name, or an object of reason_code and weight, not {given!r:.80}.",
        hint="the registry lists 28 codes.",
    )


def _flag(given: Any) -> RiskFlagEntry:
    """Return a flag as it was given, or made of a mapping."""
    if isinstance(given, RiskFlagEntry):
        return given
    if isinstance(given, Mapping) and given.keys() == {"risk_flag", "severity"}:
        return RiskFlagEntry(**given)
    raise InvalidInput(
        f"a risk flag is an object of risk_flag and severity, not {given!r:.80}.",
        hint="the registry lists 13 flags; a severity is info, warn or block.",
    )
