"""Try to read and to write a catalogue as a user without rights; print what happened as JSON."""

from __future__ import annotations

import json
import os
import sys

from recollect.errors import RecollectError
from recollect.paks import RecallStore

NOBODY = 65534

path, read_only = sys.argv[1], sys.argv[2] == "read_only"
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def error(raised: RecollectError) -> dict[str, str]:
    return {"error": type(raised).__name__, "hint": raised.hint, "text": str(raised)}


def attempt() -> dict[str, object]:
    try:
        store = RecallStore.open(path, read_only=read_only)
    except RecollectError as raised:
        return {"open": error(raised)}
    with store:
        done: dict[str, object] = {
            "count": store.count_paks(),
            "found": [hit.pak.pak_id for hit in store.search("zebra")],
            "ok": store.check().ok,
        }
        try:
            store.delete_pak("p1")
        except RecollectError as raised:
            done["write"] = error(raised)
        return done


print(json.dumps(attempt()))
