"""Do what is said on standard input, line by line, and say when it is durable."""

import sys

from tests.e2e.engine.stores import opened

with opened(sys.argv[1]) as memory:
    for line in sys.stdin:
        verb, _, what = line.strip().partition(" ")
        if verb == "remember":
            print(memory.remember(what).pak_id, flush=True)
        elif verb == "forget":
            print(bool(memory.forget(what)), flush=True)
        elif verb == "register":
            print(memory.frames.register(what, extends="task").name, flush=True)
        elif verb == "frame":
            print(memory.frame(what).cached, flush=True)
