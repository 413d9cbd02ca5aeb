"""The shares of notes and messages, chosen on all sets but one: `python -m bench.quality --choose`.

In: sets. Out: for each what it has with the shares that the other sets choose, with the shipped
ones, and with the best for itself. Sets of the same texts are left out together, so that no text
chooses for itself; of messages each conversation is left out in turn. The choice is that with the
largest mean, over the kinds of texts, of recall@10 and the mean reciprocal rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bench.quality.compared import Beside, all_of
from bench.quality.sets import CONVERSATIONS
from recollect.evaluation.task import Task
from recollect.recall.recipe import MESSAGES, NOTES, RECIPE, Recipe
from recollect.recall.similarity import Tables, mixed

__all__ = ["MESSAGE_SHARES", "NOTE_SHARES", "Chosen", "chosen", "rank_metrics"]

_AT = 10
_MESSAGES = "beam-dev"
Numbers = tuple[float, float]  # recall@10, mean reciprocal rank


def _notes(words: float, plain: float) -> Recipe:
    return replace(RECIPE, notes=replace(NOTES, words=words, meaning=1.0 - words), plain=plain)


def _messages(own: float, thread: float) -> Recipe:
    near = (1.0 - own - thread) / 2
    shares = {"words": own / 2, "meaning": own / 2, "near_words": near, "near_meaning": near}
    return replace(RECIPE, messages=replace(MESSAGES, **shares, thread=thread))


NOTE_SHARES: Mapping[str, Recipe] = {
    f"words {words:g}, plain {plain:g}": _notes(words, plain)
    for plain, words in product((0.5, 0.65, 0.75, 0.85, 1.0), (0.45, 0.5, 0.55, 0.6, 0.65))
}
MESSAGE_SHARES: Mapping[str, Recipe] = {
    f"own {own:g}, thread {thread:g}": _messages(own, thread)
    for own, thread in product((0.5, 0.6, 0.7, 0.8), (0.05, 0.1, 0.15, 0.2))
}
_SHIPPED = {"words 0.55, plain 0.65", "own 0.7, thread 0.15"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A set that was left out, the shares that the others choose, and what it has by them."""

    name: str
    questions: int
    shares: str
    so: Numbers
    shipped: Numbers
    best: Numbers


def chosen(tasks: Sequence[Task]) -> Iterator[Chosen]:
    """Choose on all sets but those of the same texts, measure on them; each in turn."""
    notes = {one.name: _by_shares([one], NOTE_SHARES) for one in tasks if _of_notes(one)}
    counts = {one.name: sum(len(each.questions) for each in one.collections) for one in tasks}
    yield from _left_out(notes, {name: _family(name) for name in notes}, counts)
    for task in tasks:
        if task.name == _MESSAGES:
            parts = [
                replace(task, name=each.name, collections=(each,)) for each in task.collections
            ]
            found = {one.name: _by_shares([one], MESSAGE_SHARES) for one in parts}
            sizes = {one.name: len(one.collections[0].questions) for one in parts}
            yield from _left_out(found, {name: name for name in found}, sizes)


def _left_out(
    found: Mapping[str, Mapping[str, Numbers]],
    families: Mapping[str, str],
    counts: Mapping[str, int],
) -> Iterator[Chosen]:
    for name, own in found.items():
        others = {one: by for one, by in found.items() if families[one] != families[name]}
        shares = max(own, key=lambda one: _worth(one, others, families)) if others else ""
        shipped = next(by for one, by in own.items() if one in _SHIPPED)
        so = own[shares] if others else shipped
        yield Chosen(name, counts[name], shares, so, shipped, max(own.values(), key=sum))


def _worth(
    shares: str, found: Mapping[str, Mapping[str, Numbers]], families: Mapping[str, str]
) -> float:
    """Return the mean over kinds of texts, so that what is there twice counts once."""
    kinds: dict[str, list[float]] = {}
    for name, by in found.items():
        kinds.setdefault(families[name], []).append(sum(by[shares]))
    return float(np.mean([np.mean(each) for each in kinds.values()]))


def _of_notes(task: Task) -> bool:
    return task.name not in CONVERSATIONS


def _family(name: str) -> str:
    return name.partition("-")[0]


def _by_shares(tasks: Sequence[Task], shares: Mapping[str, Recipe]) -> dict[str, Numbers]:
    """Return what a set has by each of some shares; what depends on `plain` alone is had once."""
    found: dict[str, Numbers] = {}
    for plain in dict.fromkeys(one.plain for one in shares.values()):
        asked = replace(RECIPE, plain=plain)
        questions = [one for task in tasks for each in all_of(task, asked) for one in each]
        for name, recipe in shares.items():
            if recipe.plain == plain:
                numbers = [rank_metrics(one, recipe) for one in questions]
                recall, mrr = np.mean(numbers, axis=0).tolist()
                found[name] = (recall, mrr)
    return found


def rank_metrics(one: Beside, recipe: Recipe) -> Numbers:
    """Return recall@10 and the reciprocal rank of one question by a recipe's tables."""
    tables = Tables(recipe.notes, recipe.of_turns(one.turn_terms))
    order = np.argsort(-mixed(one.compared, tables), kind="stable")[:_AT]
    right = np.flatnonzero(one.gold[order])
    first = 1.0 / (int(right[0]) + 1) if len(right) else 0.0
    return len(right) / max(len(one.question.gold), 1), first
