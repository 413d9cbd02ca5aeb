"""What `frame` declares to write: one more use of what it returned, and of the links among it.

Ids come in and are counted for one principal as part of a commit; what changed goes out, so that
the index of this process need not read it again. Nobody else's numbers move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.ports.store import Changes

if TYPE_CHECKING:
    from recollect.ports.store import Commit, Store, Who

__all__ = ["reinforce"]


def reinforce(
    store: Store, who: Who, pak_ids: Sequence[str], *, active_hours: float, commit: Commit
) -> Changes:
    """Count that a principal used these memories and the links that join them."""
    if not pak_ids:
        return Changes(commit.head, (), (), ())
    used = store.uses.count(who, pak_ids, at=active_hours)
    return Changes(commit.head, (), (), (), {who: used})
