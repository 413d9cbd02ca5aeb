"""Write for some seconds in every way there is; print how many Paks must be there now."""

from __future__ import annotations

import sys
import time

from recollect.paks import ReasonCodeEntry, RecallStore

path, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])


def pak(pak_id: str, title: str) -> dict[str, str]:
    return {
        "pak_id": pak_id,
        "pak_type": "vault",
        "project": name,
        "source_type": "doc",
        "authority": "human",
        "title": title,
        "content_hash": "same",
    }


written = 0
until = time.monotonic() + seconds
with RecallStore.open(path) as store:
    while time.monotonic() < until:
        assert store.upsert_pak(**pak(f"{name}-{written}", f"written by {name}")).inserted
        store.upsert_paks(
            pak(f"{name}-{number}", f"written by {name}")
            for number in range(written + 1, written + 10)
        )
        store.upsert_pak(**pak(f"{name}-{written}", f"rewritten by {name}"))
        store.set_pak_reason_codes(f"{name}-{written}", [ReasonCodeEntry("current_task", 0.5)])
        store.upsert_pak(**pak("shared", f"last written by {name}"))
        with store.transaction():
            store.upsert_pak(**pak(f"{name}-passing", "soon gone"))
            assert store.delete_pak(f"{name}-passing")
        written += 10
print(written)
