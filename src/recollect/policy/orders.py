"""Orders to a model in other languages than English, as words that stand in one sentence.

In: a folded text. Out: the names of the shapes that it holds. A shape is a row of sets of words,
and a sentence that has one of every set is of that shape, in whatever order: verbs stand first in
one language and last in another. The words are in `orders.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from recollect.patterns import regex

__all__ = ["HINT_LETTERS", "Orders"]

_SHAPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ignore_instructions", ("ignore", "rules", "earlier")),
    ("ignore_instructions", ("ignore", "told", "earlier")),
    ("prompt_leak", ("show", "prompt")),
    ("prompt_leak", ("show", "secret", "rules")),
    ("hidden_from_user", ("hush", "user")),
    ("standing_order", ("from_now", "answer")),
    ("role_play", ("you_are", "unbound")),
    ("exfiltration", ("send", "key", "address")),
)
# So many letters of a word decide whether it is worth a closer look.
HINT_LETTERS = 4
# And so few, of the words that have no more.
_FEW_LETTERS = 3
_SENTENCE = regex(r"[^.!?;\n\u3002\uff01\uff1f\u0964]{1,400}")
# Of these alphabets a word may begin anywhere: nothing stands between words, or endings are glued.
_NO_SPACES = regex("[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff]")


class Orders:
    """The shapes, made from the words as `fold` leaves them."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        # Loaded with the words: reading memories takes neither.
        import tomllib

        words = tomllib.loads(Path(__file__).with_name("orders.toml").read_text("utf-8"))
        self._sets = {name: _pattern(row, fold) for name, row in words.items()}
        hints = {name: _hints(map(fold, row)) for name, row in words.items()}
        self._hints = {row: tuple(hints[name] for name in row) for _, row in _SHAPES}
        fresh, rules = self._sets["new"].pattern, self._sets["rules"].pattern
        self._new_rules = re.compile(rf"(?:{fresh})\w*\W{{0,3}}(?:{rules})\w*\W{{0,2}}[:\uff1a]")

    def shapes_in(self, folded: str, begun: AbstractSet[str]) -> Iterator[str]:
        """Yield the name of each shape that a folded text holds, once or more often.

        `begun` are the first letters of its words: nearly always they tell that there is none.
        """
        if (":" in folded or "\uff1a" in folded) and self._new_rules.search(folded):
            yield "new_instructions"
        glued = not folded.isascii() and _NO_SPACES.search(folded) is not None
        begun = begun | {word[:_FEW_LETTERS] for word in begun}
        likely = [
            (name, row)
            for name, row in _SHAPES
            if glued or not any(map(begun.isdisjoint, self._hints[row]))
        ]
        for sentence in _SENTENCE.findall(folded) if likely else ():
            for name, row in likely:
                if all(self._sets[words].search(sentence) for words in row):
                    yield name


def _hints(words: Iterable[str]) -> frozenset[str]:
    return frozenset(re.split(r"\W", word)[0][:HINT_LETTERS] for word in words)


def _pattern(words: Iterable[str], fold: Callable[[str], str]) -> re.Pattern[str]:
    folded = dict.fromkeys(map(fold, words))
    glued = [word for word in folded if _NO_SPACES.search(word)]
    others = [word for word in folded if not _NO_SPACES.search(word)]
    return re.compile("|".join([*glued, rf"\b(?:{'|'.join(others)})"]))
