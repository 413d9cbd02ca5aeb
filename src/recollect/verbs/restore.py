"""A whole store out of its export: all of it in one commit, into a store that holds nothing yet.

In: the lines of an export, by whoever opened the store. Out: what became of each memory. Every line
is checked before anything is written. Vectors are made anew, by the embedder of this store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.embed import ModelIdentity, check_model
from recollect.embed.text import kept_as, reads_titles
from recollect.errors import InvalidInput
from recollect.frames.check import checked
from recollect.hours import later
from recollect.model import FrameDefinition, Remembered, RememberRequest
from recollect.model.memory import embedded_text
from recollect.model.pak import (
    PakAnchorEntry,
    PakRelationEntry,
    ReasonCodeEntry,
    RiskFlagEntry,
)
from recollect.ports.store import (
    FrameRow,
    Likeness,
    NewMemory,
    Used,
    UsedLink,
    Uses,
)
from recollect.spool import Spool
from recollect.verbs.requests import keep, raise_if_repeated
from recollect.write import transfer
from recollect.write.draft import ARGUMENTS
from recollect.write.link import edge_between, pair
from recollect.write.vectors import Embeddings, embed_texts
from recollect.write.whole_import import (
    frame_owner,
    memory_from,
    read_whole,
)

if TYPE_CHECKING:
    from recollect.model.pak import (
        PakRow,
    )
    from recollect.ports.store import (
        Commit,
        Who,
    )
    from recollect.verbs.caller import Caller
    from recollect.verbs.requests import Request
    from recollect.write.whole_import import (
        Hanging,
        RestoredMemory,
        UseRow,
    )

__all__ = ["Restoration", "restored_before"]

_AT_ONCE = 512

Progress = Callable[[int, int], None]
Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Restoration:
    """One export that becomes a store."""

    def __init__(
        self, caller: Caller, export: transfer.Export, request: Request | None = None
    ) -> None:
        self._caller = caller
        self._request = request
        self._store = caller.store
        self._whole = read_whole(export)
        self._frames = [transfer.read_at(line, _frame) for line in self._whole.frames]
        self._memories: Spool[RestoredMemory] = Spool()
        with caller.open_store.snapshot():
            self._need_empty()

    def draft(self, words: transfer.Line | Mapping[str, Any]) -> RememberRequest:
        """Return the memory of a line, or what hooks made of that line, checked."""
        if isinstance(words, transfer.Line):
            self._line, fields = words, words.fields
        else:
            fields = _changed(self._line.fields, words)
        self._drafted = memory_from(fields)
        memory = self._drafted.memory
        return RememberRequest({name: getattr(memory, name) for name in ARGUMENTS}, memory)

    def taken(self, heard: Iterable[Answer]) -> Iterator[Answer]:
        """Yield what hooks said of each line; as they left it, its memory is taken."""
        for one in heard:
            self._memories.append(self._drafted)
            yield one

    def store_each(
        self, joins: Iterable[transfer.Join], progress: Progress | None
    ) -> Iterator[Remembered]:
        """Write all of it, and yield what became of each memory."""
        _need_links(self._whole.link_uses, joins)
        new = Spool(self._embedded(progress))
        with self._caller.open_store.commit() as commit:
            raise_if_repeated(self._request)
            self._need_empty()
            self._write(new, joins, commit)
            # Which memories these are stands in the export; how many they are may be too much.
            keep(self._request, [number for number, one in enumerate(new) if one.pending])
        for one in new:
            yield Remembered(one.memory.pak_id, True, "pending" if one.pending else "ready")

    def _embedded(self, progress: Progress | None) -> Iterator[NewMemory]:
        """Yield the rows to write, embedded outside of the commit; what waited goes on waiting."""
        embedder = self._caller.open_store.embedder
        state = self._store.state.read()
        dimension, with_titles = state.dimension, reads_titles(state.model_id)
        done = 0
        for part in _parts(self._memories):
            wanted = [one for one in part if not one.pending]
            texts = [
                embedded_text(one.memory.title, one.memory.content, with_title=with_titles)
                for one in wanted
            ]
            embedded = embed_texts(embedder, texts, dimension=dimension)
            yield from _rows(part, wanted, embedded)
            self._caller.open_store.embedder_error = embedded.error
            done += len(part)
            if progress is not None:
                progress(done, len(self._memories))

    def _write(self, new: Spool[NewMemory], joins: Iterable[transfer.Join], commit: Commit) -> None:
        store, whole = self._store, self._whole
        self._keep_model(new, commit)
        for garden in whole.gardens:
            store.access.put_garden(garden)
        for member in whole.members:
            store.access.set_role(*member)
        for trust in whole.trusts:
            store.access.set_trust(*trust)
        for tenant, frame in self._frames:
            store.state.put_frame(tenant, frame.definition.name, frame)
        rows = {
            one.memory.pak_id: at.row_id
            for part in _parts(new)
            for one, at in zip(part, store.memories.write(part), strict=True)
        }
        self._write_catalogue(one.pak for one in new)
        self._write_pairs(rows, joins)
        self._write_uses(rows)
        for versions in _parts(whole.versions):
            store.versions.put(dict(versions))
        store.state.set_clock(later(commit.before.clock, whole.clock))
        store.state.fire("curate_complete")
        told = f"{len(new)} of {len(new)} memories"
        self._caller.open_store.note(self._caller.principal, "import", "export", told)

    def _keep_model(self, new: Iterable[NewMemory], commit: Commit) -> None:
        state, embedder = commit.before, self._caller.open_store.embedder
        if state.model_id is not None:
            check_model(ModelIdentity(state.model_id, state.dimension or 0), embedder)
        elif self._caller.open_store.embedder_error is None:
            ready = next((one for one in new if not one.pending), None)
            if ready is not None:
                dimension = 0 if ready.vector is None else len(ready.vector)
                self._store.state.set_model(kept_as(embedder.model_id), dimension)

    def _write_catalogue(self, placed: Iterable[PakRow]) -> None:
        """Write what only the catalogue knows: other entries, successors, what hangs on them."""
        catalogue, whole = self._caller.catalogue, self._whole
        for entries in _parts(whole.paks):
            catalogue.keep_rows(entries)
        replaced = (
            one._replace(superseded_by=whole.successors[one.pak_id])
            for one in chain(placed, whole.paks)
            if one.pak_id in whole.successors
        )
        for entries in _parts(replaced):
            catalogue.keep_rows(entries)
        for kind in whole.hanging:
            for one in kind:
                self._hang(one)

    def _hang(self, one: Hanging) -> None:
        catalogue = self._caller.catalogue
        match one.entry:
            case ReasonCodeEntry():
                catalogue.add_pak_reason_code(one.pak_id, one.entry, now=one.created_at)
            case RiskFlagEntry():
                catalogue.add_pak_risk_flag(one.pak_id, one.entry, now=one.created_at)
            case PakRelationEntry():
                catalogue.add_pak_relation(one.pak_id, one.entry, now=one.created_at)
            case PakAnchorEntry():
                catalogue.add_pak_anchor(one.pak_id, one.entry)

    def _write_pairs(self, rows: Mapping[str, int], joins: Iterable[transfer.Join]) -> None:
        store = self._store
        links = (
            edge_between(rows[one], rows[other], join.weight, automatic=join.automatic)
            for join in joins
            if join.kind == "link"
            for one, other in [join.ends]
        )
        for edges in _parts(links):
            store.edges.put(edges)
        for lists in _parts(self._whole.alike):
            alike = chain.from_iterable(lists)
            held = [Likeness(rows[one.pak_id], rows[one.other], one.closeness) for one in alike]
            store.edges.change_lists(held, ())
        for join in joins:
            if join.kind == "dispute":
                store.edges.dispute(
                    join.ends, note=join.note, now=join.created_at or self._caller.now()
                )
                if not join.is_open:
                    store.edges.resolve(join.ends)

    def _write_uses(self, rows: Mapping[str, int]) -> None:
        links = (one for _, one in self._whole.link_uses)
        for some in _parts(chain(self._whole.uses, links)):
            for who, uses in _uses_by(some, rows).items():
                self._store.uses.put(who, uses)

    def _need_empty(self) -> None:
        if any(self._store.records.count().values()):
            raise InvalidInput(
                "an export of a whole store goes into a store that holds nothing yet.",
                hint="import it into a new file.",
            )


def restored_before(export: transfer.Export, pending: Sequence[int]) -> list[Remembered]:
    """Return what was said when this export was taken in, given which of them had to wait."""
    waits = set(pending)
    return [
        Remembered(line.fields["pak_id"], True, "pending" if number in waits else "ready")
        for number, line in enumerate(export.memories)
    ]


def _need_links(used: Iterable[tuple[str, UseRow]], joins: Iterable[transfer.Join]) -> None:
    """Refuse what says that a link was used that is not in the export."""
    left: dict[frozenset[str], str] = {}
    for where, one in used:
        left.setdefault(frozenset(one.ends), where)
    for join in joins:
        if join.kind == "link":
            left.pop(frozenset(join.ends), None)
    for where in left.values():
        raise InvalidInput(
            f"{where} names a link that is not in the export.",
            hint="keep the lines of an export together, as they are.",
        )


def _uses_by(some: Iterable[UseRow], rows: Mapping[str, int]) -> dict[Who, Uses]:
    """Return what each principal has used, by the rows that memories have here."""
    memories: defaultdict[Who, list[Used]] = defaultdict(list)
    links: defaultdict[Who, list[UsedLink]] = defaultdict(list)
    for one in some:
        if len(one.ends) == 1:
            memories[one.who].append(Used(rows[one.ends[0]], one.uses, one.last))
        else:
            links[one.who].append(UsedLink(*pair(*(rows[end] for end in one.ends)), one.uses))
    return {who: Uses(memories[who], links[who]) for who in sorted({*memories, *links})}


def _parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield a few hundred of many at a time."""
    left = iter(items)
    return iter(lambda: list(islice(left, _AT_ONCE)), [])


def _changed(fields: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a line with what hooks changed; another text has another hash."""
    changed = {**fields, **{name: words[name] for name in ARGUMENTS}}
    if changed["content"] != fields["content"]:
        del changed["content_hash"]
    return changed


def _frame(fields: Mapping[str, Any]) -> tuple[str, FrameRow]:
    try:
        definition = FrameDefinition.from_dict(fields["definition"])
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise InvalidInput(
            "the definition is not one of a frame.", hint="keep the lines of an export as they are."
        ) from error
    tenant, extends = frame_owner(fields)
    return tenant, FrameRow(checked(definition), extends)


def _rows(
    part: Sequence[RestoredMemory], wanted: Sequence[RestoredMemory], embedded: Embeddings
) -> Iterator[NewMemory]:
    vectors = {
        one.memory.pak_id: vector for one, vector in zip(wanted, embedded.vectors, strict=True)
    }
    for one in part:
        yield NewMemory(
            one.memory,
            one.pak,
            vectors.get(one.memory.pak_id),
            pending=one.pending or embedded.error is not None,
        )
