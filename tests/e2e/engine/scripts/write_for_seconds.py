"""Write for some seconds, recalling each word at once; print how many were written."""

import sys
import time

from tests.e2e.engine.stores import WRITTEN, opened, row, word

path, writer, seconds, links = sys.argv[1:]
with opened(path, links=links == "links") as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    end, number = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        made = memory.remember(**row(writer, number), now=WRITTEN)
        found = memory.recall(word(writer, number)).results
        assert [one.fact.pak_id for one in found if one.signals.lexical] == [made.pak_id], number
        if number % 10 == 9:
            gone = row(writer, number - 5)["pak_id"]
            assert memory.forget(gone)
            left = memory.recall(word(writer, number - 5), top_k=50).results
            assert gone not in [one.fact.pak_id for one in left]
        number += 1
print(number, flush=True)
