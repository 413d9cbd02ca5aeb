"""Write without end; print each write once it is acknowledged: `id number`."""

from __future__ import annotations

import itertools
import sys

from recollect.paks import ReasonCodeEntry, RecallStore

path, prefix = sys.argv[1:]


def pak(pak_id: str, number: int) -> dict[str, str]:
    return {
        "pak_id": pak_id,
        "pak_type": "vault",
        "source_type": "doc",
        "authority": "human",
        "title": f"written {number}",
        "summary": "words " * 30,
        "content_hash": "same",
    }


def acknowledge(*pak_ids: str, number: int) -> None:
    sys.stdout.write("".join(f"{pak_id} {number}\n" for pak_id in pak_ids))
    sys.stdout.flush()


with RecallStore.open(path) as store:
    for number in itertools.count():
        pak_id = f"{prefix}-{number}"
        store.upsert_pak(**pak(pak_id, number))
        acknowledge(pak_id, number=number)
        again = f"{prefix}-{number // 2}"
        store.upsert_pak(**pak(again, number))
        acknowledge(again, number=number)
        batch = [f"{pak_id}-{part}" for part in range(20)]
        store.upsert_paks(pak(part, number) for part in batch)
        acknowledge(*batch, number=number)
        store.set_pak_reason_codes(pak_id, [ReasonCodeEntry("current_task")])
        store.upsert_pak(**pak(f"{prefix}-gone", number))
        store.delete_pak(f"{prefix}-gone")
