"""A chat assistant's memory in sixty lines: turns, facts that change, users apart, one forgotten.

Run it: `python examples/chat.py`. It prints what would stand in the prompt; no model is called.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from recollect import Recollect
from recollect.policy import Principal

ANN = [
    ("trip", "Ann", "I live in Hamburg and I want to see the sea this summer."),
    ("trip", "assistant", "Lisbon in June is warm, and the trains to the coast are cheap."),
    ("trip", "Ann", "Yes, let's do that."),
    ("diet", "Ann", "I don't eat fish, and nuts make me ill."),
    ("diet", "assistant", "Shall I leave nuts out of every recipe?"),
    ("diet", "Ann", "Yes, let's do that."),
    ("work", "Ann", "The review with Carla is on Thursday at ten."),
]


class Assistant:
    """What one user said, and what is known of them."""

    def __init__(self, memory: Recollect, user: str) -> None:
        self.user = user
        self.memory = memory.as_principal(Principal("chat", user))

    def hear(self, thread: str, speaker: str, text: str, at: datetime) -> None:
        """Keep a turn, word for word."""
        self.memory.remember(text, thread=thread, speaker=speaker, occurred_at=at)

    def learn(self, relation: str, value: str) -> None:
        """Keep a fact about the user; a newer one takes the place of the older."""
        self.memory.remember(
            f"{self.user}'s {relation} is {value}.",
            entity=self.user,
            relation=relation,
            value=value,
            on_conflict="supersede",
        )

    def prompt(self, question: str) -> str:
        """Return what goes into the prompt beside a question."""
        return self.memory.frame("evidence", question, top_k=3, token_budget=300).text


def main(path: str = "memory://") -> None:
    """Three conversations, a fact that changes, and a user who leaves."""
    with Recollect.open(path) as memory:
        ann, bob = Assistant(memory, "Ann"), Assistant(memory, "Bob")
        for minute, (thread, speaker, text) in enumerate(ANN):
            ann.hear(thread, speaker, text, datetime(2026, 5, 4, 9, minute, tzinfo=UTC))
        ann.learn("home", "Hamburg")
        ann.learn("home", "Berlin")
        print(ann.prompt("Where is Ann's home?"))
        print(ann.prompt("Which food should we avoid?"))
        print("Bob is told:", bob.prompt("Where is Ann's home?") or "nothing")
        gone = ann.memory.forget(owner="Ann")
        print(f"Ann left: {len(gone.pak_ids)} memories erased, wiped: {gone.wiped}")


if __name__ == "__main__":
    main(*sys.argv[1:])
