"""A process that serves the stores of a folder, and does what it is told, a line at a time.

Its arguments: the folder, and what to do. Each thing that it did it says in a line of its own.
"""

from __future__ import annotations

import os
import sys

from recollect import Node


def say(word: str) -> None:
    print(word, flush=True)


def write_until_killed(node: Node) -> None:
    """Make stores, write to them and drop some, and say each of these once it is done."""
    for number in range(10_000):
        name = f"store-{number % 7}"
        if number < 7:
            node.create(name)
        if number % 50 == 49:
            node.drop("store-6")
            say("dropped store-6")
            node.create("store-6")
            say("created store-6")
        with node.store(name) as memory:
            memory.remember(f"Number {number}.", pak_id=f"{name}:{number}")
        say(f"{name}:{number}")


def echo(node: Node) -> None:
    """Store what is read from a line, or say what is known."""
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        with node.store("shared") as memory:
            if word == "remember":
                memory.remember(rest, pak_id=rest)
                say("done")
            else:
                say(" ".join(sorted(one.fact.pak_id for one in memory.recall(rest).results)))


def fork(node: Node) -> None:
    """Write on both sides of a fork, with a store that is lent meanwhile."""
    node.create("forked")
    with node.store("forked") as memory:
        memory.remember("Before.", pak_id="before")
        child = os.fork()
        who = "parent" if child else "child"
        memory.remember(f"Of the {who}, lent before.", pak_id=f"{who}-lent")
    with node.store("forked") as memory:
        memory.remember(f"Of the {who}.", pak_id=who)
    if not child:
        node.close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    say(f"child {os.waitstatus_to_exitcode(status)}")
    say(f"users {node.usage().users}")


if __name__ == "__main__":
    folder, what = sys.argv[1:]
    with Node(folder, embedder="none", memory_limit_bytes=150_000, most_connections=4) as node:
        {"write": write_until_killed, "echo": echo, "fork": fork}[what](node)
