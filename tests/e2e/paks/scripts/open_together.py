"""Open a new file at the same moment as others, write one Pak, say what was found."""

from __future__ import annotations

import sys

from recollect.paks import RecallStore

path, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
with RecallStore.open(path) as store:
    store.upsert_pak(
        pak_id=name,
        pak_type="vault",
        source_type="doc",
        authority="human",
        title=name,
        content_hash="h",
    )
    print(store.schema_version, flush=True)
