"""Write what a seed says to a store while a thread of the same handle asks; print what it got."""

import json
import random
import sys
from threading import Event, Thread

from recollect import Recollect
from recollect.model import canonical_json
from recollect.testing import FakeClock, FakeEmbedder

WORDS = ["red", "green", "blue", "kettle", "lorry", "bakery", "morning", "late", "early", "queue"]
QUESTIONS = ("red kettle", "the late lorry", None)


def opened(path: str) -> Recollect:
    """Open a store in which time stands still: what is asked depends on what is written alone."""
    return Recollect.open(path, clock=FakeClock(), hours="wall", embedder=FakeEmbedder())


def step(memory: Recollect, random: random.Random, number: int) -> None:
    """Do the next thing of a history; each moves the store by one revision."""
    known = [one.pak_id for one in memory.list(limit=100).items]
    chance = random.random()
    if chance < 0.15 and len(known) > 3:
        memory.forget(random.choice(known))
    elif chance < 0.25 and len(known) > 3:
        memory.link(*random.sample(known, 2))
    elif chance < 0.35 and len(known) > 3:
        memory.dispute(*random.sample(known, 2))
    else:
        text = " ".join(random.choices(WORDS, k=6))
        again = known and chance > 0.85
        name = random.choice(known) if again else f"m{number}"
        memory.remember(f"{text} {number}", pak_id=name, tags=[random.choice(WORDS)])


def ask(memory: Recollect, seen: list[tuple[int, int, int, str]], done: Event) -> None:
    """Ask until it is over; note between which revisions each answer was given."""
    while not done.is_set():
        for number, question in enumerate(QUESTIONS):
            before = memory.stats()["revision"]
            answer = canonical_json(memory.recall(question, frame="attention"))
            seen.append((number, before, memory.stats()["revision"], answer))


def main(path: str, seed: int, steps: int) -> None:
    """Write and ask at once."""
    history, done = random.Random(seed), Event()
    seen: list[tuple[int, int, int, str]] = []
    with opened(path) as memory:
        reader = Thread(target=ask, args=(memory, seen, done))
        reader.start()
        for number in range(steps):
            step(memory, history, number)
        done.set()
        reader.join()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
