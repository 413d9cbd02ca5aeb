"""A note keeper in forty lines: notes with metadata, filters, corrections with a history, a backup.

Run it: `python examples/notes.py`. It works in a folder that is gone afterwards.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from recollect import Recollect

NOTES = [
    {"content": "The kiln is booked until May.", "project": "studio/kiln", "tags": ["booking"]},
    {"content": "Glaze 17 runs at 1,240 degrees.", "metadata": {"glaze": 17, "cone": 6}},
    {"content": "Glaze 9 cracks on stoneware.", "metadata": {"glaze": 9, "cone": 10}},
    {"content": "The clay order comes every second Monday.", "project": "studio/orders"},
]


def main(folder: Path) -> None:
    """Write notes, look for them, correct one, and keep a copy."""
    with Recollect.open(folder / "notes.db") as memory:
        kiln, *_ = memory.remember_many(NOTES)
        hot = memory.recall("which glaze?", filter={"metadata.cone": {"gte": 8}})
        print([one.fact.content for one in hot.results])
        memory.update(kiln.pak_id, content="The kiln is booked until June.")
        print([version.memory.content for version in memory.history(kiln.pak_id)])
        print([one.content for one in memory.list(project="studio").items])
        would_go = memory.forget(project="studio/orders", dry_run=True)
        print(f"{len(would_go.pak_ids)} note of the orders would go")
        print(memory.backup(folder / "notes.copy.db"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(Path(place))
