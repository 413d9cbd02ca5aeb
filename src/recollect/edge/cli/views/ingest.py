"""What people see of facts from outside: how many were taken, which wait, and which were refused.

In: what the engine reports. Out: lines. What a fact says is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from recollect.edge.cli.views.elements import count_of, plain
from recollect.model import Ingested

__all__ = ["lines"]


def lines(done: Ingested) -> Iterator[Text]:
    """Yield what became of facts, the refused ones by their place in the list."""
    yield Text(
        f"Took in {count_of(done.accepted, 'fact', 'facts')};"
        f" {done.quarantined:,} wait in quarantine, {done.refused:,} refused."
    )
    for number, item in enumerate(done.items, start=1):
        if item.state == "refused":
            yield Text.assemble((f"Fact {number}: ", "bold red"), plain(item.error or ""))
    if done.quarantined:
        yield Text("`recollect quarantine list` names what waits.")
