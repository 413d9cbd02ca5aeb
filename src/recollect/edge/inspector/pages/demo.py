"""The first visit: an empty memory is filled with the demo's, through the verbs, as whoever asks.

In: an empty memory. Out: the sample shop's memories in it, with why they matter, what they are
linked to, and one dispute. Where something is already, nothing is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.edge.inspector.page import Form, Go, Page
from recollect.errors import InvalidInput
from recollect.samples import LINK_WEIGHT, as_learnt, linked

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit
    from recollect.samples import SampleMemory

__all__ = ["FORMS", "PAGES"]


def _fill(visit: Visit) -> Go:
    if visit.ask("stats")["memories"]:
        raise InvalidInput("this memory is not empty.", hint="the demo fills an empty one.")
    samples = as_learnt()
    for sample in samples:
        _remember(visit, sample)
    for one, other in linked(samples):
        visit.ask("link", pak_id=one, other=other, weight=LINK_WEIGHT)
    for sample in samples:
        if sample.superseded_by is not None:
            note = "the later decision says otherwise"
            visit.ask("dispute", pak_id=sample.pak_id, other=sample.superseded_by, note=note)
    return Go("/ask?query=Card+payment+timed+out%3A+send+it+again%3F", said=_SAID)


_SAID = "The demo's thirty memories are here. This is what an agent would be told."


def _remember(visit: Visit, sample: SampleMemory) -> None:
    visit.ask("remember", **sample.told(), now=sample.remembered_at)
    codes = [{"reason_code": code, "weight": one} for code, one in sample.reason_codes.items()]
    flags = [{"risk_flag": flag, "severity": one} for flag, one in sample.risk_flags.items()]
    if codes:
        visit.ask("paks.set_reason_codes", pak_id=sample.pak_id, reason_codes=codes)
    if flags:
        visit.ask("paks.set_risk_flags", pak_id=sample.pak_id, risk_flags=flags)


PAGES: tuple[Page, ...] = ()
FORMS: tuple[Form, ...] = (Form("/demo", _fill),)
