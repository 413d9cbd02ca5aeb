"""The demo's memory: the sample shop's memories, lived through in the order they were learnt.

In: a path for a new database. Out: an open memory with every sample in it: its text and tags in
the engine, its reason codes, risk flags, anchors and relations in the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from recollect import check
from recollect.engine import Recollect
from recollect.paks import PakAnchorEntry, PakRelationEntry, ReasonCodeEntry, RiskFlagEntry
from recollect.samples import LINK_WEIGHT, SampleMemory, as_learnt, linked

__all__ = ["fill"]


class _Calendar:
    """A clock that stands where it is put, so that the demo is the same on any day."""

    def __init__(self) -> None:
        self.at = datetime.fromtimestamp(0)

    def now(self) -> float:
        return self.at.timestamp()


@contextmanager
def fill(path: Path) -> Iterator[Recollect]:
    """Open a new memory at `path` and remember the shop's samples in it."""
    calendar = _Calendar()
    with Recollect.open(path, embedder="static", clock=calendar) as memory:
        samples = as_learnt()
        for sample in samples:
            calendar.at = check.instant(sample.remembered_at) or calendar.at
            memory.remember(**sample.told())
        calendar.at += timedelta(days=1)
        _connect(memory, samples)
        yield memory


def _connect(memory: Recollect, samples: list[SampleMemory]) -> None:
    """Attach what the catalogue knows, link what is related, dispute what was superseded."""
    with memory.paks.transaction():
        for sample in samples:
            _attach(memory, sample)
    for one, other in linked(samples):
        memory.link(one, other, weight=LINK_WEIGHT)
    for sample in samples:
        if sample.superseded_by is not None:
            memory.dispute(sample.pak_id, sample.superseded_by, note="superseded")


def _attach(memory: Recollect, sample: SampleMemory) -> None:
    catalogue, pak_id, now = memory.paks, sample.pak_id, sample.remembered_at
    catalogue.set_pak_reason_codes(
        pak_id,
        [ReasonCodeEntry(code, weight) for code, weight in sample.reason_codes.items()],
        now=now,
    )
    catalogue.set_pak_risk_flags(
        pak_id,
        [RiskFlagEntry(flag, severity) for flag, severity in sample.risk_flags.items()],
        now=now,
    )
    catalogue.set_pak_anchors(
        pak_id,
        [PakAnchorEntry(one.anchor_id, one.source_path, one.kind) for one in sample.anchors],
    )
    catalogue.set_pak_relations(
        pak_id,
        [PakRelationEntry(one.related_pak_id, one.relation_type) for one in sample.relations],
        now=now,
    )
    if sample.superseded_by is not None:
        _supersede(memory, sample)


def _supersede(memory: Recollect, sample: SampleMemory) -> None:
    pak = memory.paks.get_pak(sample.pak_id)
    if pak is not None:
        fields = pak._replace(superseded_by=sample.superseded_by)._asdict()
        del fields["created_at"], fields["updated_at"]
        memory.paks.upsert_pak(**fields, now=pak.updated_at)
