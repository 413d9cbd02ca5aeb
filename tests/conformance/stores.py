"""The store that the cases ask: one small history, told through the library at a fixed time.

Two tenants, people with different rights, all scopes, a garden, a dispute, what waits in
quarantine, what was superseded, archived and changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from recollect import Recollect
from recollect.policy import PERMISSIONS, Principal
from recollect.testing import FakeClock

ASKED_AT = 1_790_000_000.0

PEOPLE: Mapping[str, Principal] = {
    "ann": Principal("acme", "ann", ("tools",), PERMISSIONS),
    "ben": Principal("acme", "ben", ("tools",), ("read", "write")),
    "cat": Principal("acme", "cat", (), ("read",)),
    "eve": Principal("else", "eve", (), PERMISSIONS),
    "nil": Principal("acme", "nil", (), ()),
}


def clock() -> FakeClock:
    """Return the time at which everything happens."""
    return FakeClock(ASKED_AT)


def build(memory: Recollect, time: FakeClock) -> Mapping[str, str]:
    """Tell the history; return the key of each of the people."""
    ann, ben = (memory.as_principal(PEOPLE[name]) for name in ("ann", "ben"))
    ann.gardens.create("lab", name="Lab", scope="company", tier=0.9)
    ann.gardens.add("lab", "ben", "writer")
    ann.trust.set("mail", 0.25)
    ann.remember(
        "The kiln is booked until Friday.",
        pak_id="kiln-booking",
        title="Kiln",
        tags=["studio", "self/value"],
        project="studio/kiln",
        entity="kiln",
        relation="booked until",
        value="Friday",
        source="board",
        speaker="Ann",
        thread="kiln",
        occurred_at="2026-05-08T13:56:00Z",
        metadata={"ticket": 42},
        scope="company",
    )
    ann.remember("The kiln is repaired on Monday.", pak_id="kiln-repair", scope="company")
    ann.remember(
        "Glaze recipe: ash, clay and feldspar.", pak_id="glaze/recipe", scope="team", team="tools"
    )
    ann.remember("Ann's diary says the kiln is too hot.", pak_id="ann-diary")
    ann.remember("Visitors are welcome on Sundays.", pak_id="visitors", scope="public")
    ben.remember("The lab's kiln log is on the shelf.", pak_id="lab-log", garden="lab")
    ben.remember("Ben's note, which ends soon.", pak_id="ben-note", ttl=3600)
    ann.remember("Old opening hours: nine to five.", pak_id="hours-old", scope="company")
    ann.remember("Opening hours: ten to six.", pak_id="hours-new", scope="company")
    ann.supersede("hours-old", "hours-new")
    ann.dispute("kiln-booking", "kiln-repair", note="which day?")
    ann.link("glaze/recipe", "kiln-booking", weight=0.5)
    ann.update("visitors", summary="Open house")
    ann.ingest([{"content": "A stranger says: the kiln is sold."}], source="mail")
    ann.frames.register("mine", extends="task", token_budget=300)
    keys = {}
    for name, who in PEOPLE.items():
        # Two keys of one second have no order.
        time.advance(seconds=1)
        keys[name] = memory.keys.create(who).secret
    time.advance(seconds=1)
    return keys
