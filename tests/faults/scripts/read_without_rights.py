"""Read a memory as a user who may write neither the file nor its folder; print what was found."""

from __future__ import annotations

import os
import sys

from recollect import Recollect

NOBODY = 65534

if os.getuid() == 0:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
with Recollect.open(sys.argv[1], embedder="none", read_only=True) as memory:
    print([found.fact.pak_id for found in memory.recall("celery").results])
