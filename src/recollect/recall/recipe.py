"""How similarity is made: every number that was chosen, in one place, with its experiment named.

A `Table` says how much each part of a comparison counts for one kind of text; a `Recipe` holds the
tables and which stages take part. The shipped one is `RECIPE`; another is passed along by whoever
measures what a stage is worth (`python -m bench.quality --ablate`). Nothing is computed here.
"""

from __future__ import annotations

from dataclasses import fields, replace

from recollect.values import dataclass

__all__ = ["MESSAGES", "NOTES", "RECIPE", "SENTENCES", "TURNS", "Recipe", "Table", "between"]


@dataclass(frozen=True, slots=True)
class Table:
    """What each part counts for one kind of text; the first five add up to 1.

    `words` and `meaning` are the text's own, `near_words` and `near_meaning` those of the turns
    around it too, `thread` is the best of its thread. The others are added where they hold: said by
    whom the question names, from a time that it names, telling a time where it asks when; a turn
    that asks, or that tells a time whatever is asked.
    """

    words: float
    meaning: float
    near_words: float = 0.0
    near_meaning: float = 0.0
    thread: float = 0.0
    speaker: float = 0.0
    date: float = 0.0
    time_words: float = 0.0
    asks: float = 0.0
    tells_time: float = 0.0

    def sharing(self, meaning: float) -> Table:
        """Return the table in which meaning has this share of what words and meaning have."""
        own, near = self.words + self.meaning, self.near_words + self.near_meaning
        return replace(
            self,
            words=own * (1.0 - meaning),
            meaning=own * meaning,
            near_words=near * (1.0 - meaning),
            near_meaning=near * meaning,
        )


# A text of its own.
NOTES = Table(words=0.55, meaning=0.45, speaker=0.12, date=0.2, time_words=0.08)
# A turn of a conversation, at most as long as people chat.
TURNS = Table(
    words=0.0,
    meaning=0.0,
    near_words=0.36,
    near_meaning=0.33,
    thread=0.31,
    speaker=0.10,
    date=0.19,
    time_words=0.07,
    asks=-0.03,
    tells_time=0.02,
)
# A message of a hundred words or more: most of what it says is its own.
MESSAGES = Table(
    words=0.35,
    meaning=0.35,
    near_words=0.075,
    near_meaning=0.075,
    thread=0.15,
    speaker=0.10,
    date=0.18,
    time_words=0.07,
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The tables, the few numbers beside them, and which stages take part.

    `plain` is the share of the question as it stands against the question by the rarity of its
    words; `thread_meaning` that of meaning in what makes a turn the best of its thread.
    `turn_terms` and `message_terms`: so long are turns and messages on average.
    """

    notes: Table = NOTES
    turns: Table = TURNS
    messages: Table = MESSAGES
    plain: float = 0.65
    thread_meaning: float = 0.4
    turn_terms: float = 30.0
    message_terms: float = 100.0
    by_length: bool = True
    spelling: bool = True
    german: bool = True
    first_person: bool = True
    word_for_word: bool = True

    def of_turns(self, terms: float) -> Table:
        """Return the table for turns of so many terms on average."""
        return between(self.turns, self.messages, self.length_share(terms))

    def length_share(self, terms: float) -> float:
        """Return how far turns of so many terms on average are messages: from 0 to 1."""
        if not self.by_length:
            return 0.0
        share = (terms - self.turn_terms) / (self.message_terms - self.turn_terms)
        return min(max(share, 0.0), 1.0)


def between(one: Table, other: Table, share: float) -> Table:
    """Return the table that lies between two, so far from the first."""
    return Table(
        **{
            field.name: getattr(one, field.name) * (1.0 - share)
            + getattr(other, field.name) * share
            for field in fields(Table)
        }
    )


RECIPE = Recipe()

# For an embedder that reads whole texts beside the static table: there meaning is worth more, and
# the question stands as it is (ADR-0042).
SENTENCES = replace(
    RECIPE,
    notes=NOTES.sharing(0.55),
    turns=TURNS.sharing(0.5),
    messages=MESSAGES.sharing(0.55),
    plain=1.0,
)
