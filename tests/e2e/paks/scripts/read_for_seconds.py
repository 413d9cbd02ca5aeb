"""Read for some seconds in every way there is; print how many rounds that were."""

from __future__ import annotations

import sys
import time

from recollect.paks import PakListFilters, RecallStore

path, read_only, seconds = sys.argv[1], sys.argv[2] == "read_only", float(sys.argv[3])

rounds = seen = 0
until = time.monotonic() + seconds
with RecallStore.open(path, read_only=read_only) as store:
    while time.monotonic() < until:
        count = store.count_paks()
        assert count >= seen, "Paks went missing"
        seen = count
        page = store.list_paks(PakListFilters(project="writer-1", limit=20))
        assert {row.project for row in page.items} <= {"writer-1"}
        found = store.get_paks(row.pak_id for row in page.items)
        assert len(found) == len(page.items)
        for hit in store.search("rewritten", limit=5):
            assert hit.pak.title.startswith("rewritten")
            assert [code for code, _ in store.get_pak_reason_codes(hit.pak.pak_id)] in (
                ["current_task"],
                [],  # between the write of the Pak and that of its code
            )
        assert store.get_pak("writer-1-passing") is None
        rounds += 1
print(rounds)
