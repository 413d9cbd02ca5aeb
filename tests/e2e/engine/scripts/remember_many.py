"""Remember many, and print how many are acknowledged each time."""

import sys

from tests.e2e.engine.stores import opened, row

path, links = sys.argv[1:]
memory = opened(path, links=links == "links")
print("ready", flush=True)
memory.remember_many(
    [row("a", number) for number in range(20_000)],
    progress=lambda done, _: print(done, flush=True),
)
