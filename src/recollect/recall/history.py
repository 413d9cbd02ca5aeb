"""What became of a memory: each of its versions, and those of what it superseded.

In: an id, and what the asker may read. Out: `Version`s. Each is shown to whoever may read the
memory now and could read it where it was then; what one may not read leaves no gap: versions are
counted, and compared, among those that are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from recollect.model import Memory, Version, changed_fields, words_of
from recollect.policy.sanitizer import risks
from recollect.policy.view import HIDDEN_FIELDS
from recollect.ports.store import KeptVersion
from recollect.recall.score import decay_for
from recollect.recall.sight import Sight

__all__ = ["chain_of", "history"]


def history(pak_id: str, sight: Sight) -> tuple[Version, ...]:
    """Return the versions of what a memory superseded, then its own; the oldest first."""
    names = chain_of(pak_id, sight)[::-1]
    standing, kept = sight.memories(names), sight.versions(names)
    return tuple(
        version
        for name in names
        if name in standing
        for version in _versions(standing[name], kept.get(name, ()), sight)
    )


def chain_of(pak_id: str, sight: Sight) -> list[str]:
    """Return a memory that may be read, and all that it superseded, the latest first."""
    if not sight.may_read(pak_id):
        return []
    names = {pak_id: None}
    waiting = [pak_id]
    while waiting:
        # By hand anything may be named a successor, also in a circle.
        before = [name for name in sight.predecessors(waiting.pop(0)) if name not in names]
        names |= dict.fromkeys(before)
        waiting += before
    return list(names)


def _versions(standing: Memory, kept: Sequence[KeptVersion], sight: Sight) -> Iterator[Version]:
    """Yield the versions of one memory; one that says the same as the one before is none."""
    shown: list[Version] = []
    for at, by, memory in _as_written(standing, kept, sight):
        changed = changed_fields(shown[-1].memory, memory) if shown else ()
        if changed or not shown:
            shown.append(Version(standing.pak_id, len(shown) + 1, at, by, changed, memory))
    yield from shown[:-1]
    yield replace(shown[-1], memory=standing, is_current=True)


def _as_written(
    standing: Memory, kept: Sequence[KeptVersion], sight: Sight
) -> Iterable[tuple[str, str, Memory]]:
    found = []
    for one in kept:
        memory = standing if one.memory is None else _as_read(one.memory, sight)
        if one.memory is None or _may_be_shown(memory, one, sight):
            found.append((one.at, one.by, memory))
    if not kept or kept[-1].memory is not None:
        found.append((standing.updated_at, standing.place.owner, standing))
    return found


def _as_read(memory: Memory, sight: Sight) -> Memory:
    """Return a version as it would be read today: what is derived from it is derived now."""
    hidden: dict[str, Any] = dict.fromkeys(HIDDEN_FIELDS)
    found = risks(*dict.fromkeys(words_of(memory)))
    decay = decay_for(memory.tags, memory.category)
    return sight.shown(replace(memory, risks=found, decay=decay, **hidden))


def _may_be_shown(memory: Memory, one: KeptVersion, sight: Sight) -> bool:
    """Return whether a version whose place may be read may be shown.

    With a sanitizer that blocks, what looks like an injection is not there; and a garden that was
    made since is another garden of the same name.
    """
    if sight.view.without_risky and memory.risks:
        return False
    slug = memory.place.garden
    if slug is None:
        return True
    gardens = sight.store.access.gardens(memory.place.tenant, slug=slug)
    return slug in gardens and gardens[slug].created_at <= one.at
