"""What each stage is worth: every set once more with one stage switched off.

In: a task. Out: for each stage the recall and the mean reciprocal rank without it. Stages are
switched by a recipe, or by how texts are embedded, so that what is measured is the engine and
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from bench.quality.compared import filled
from bench.quality.fit import measured_with
from recollect.embed.static import StaticEmbedder
from recollect.evaluation.task import Task
from recollect.recall.recipe import RECIPE, Recipe, Table

__all__ = ["ROOTS", "WITHOUT", "ablated"]


def _turns(**changed: float) -> Recipe:
    return replace(RECIPE, turns=replace(RECIPE.turns, **changed))


def _everywhere(**changed: float) -> Recipe:
    def without(table: Table) -> Table:
        return replace(table, **changed)

    return replace(
        RECIPE,
        notes=without(RECIPE.notes),
        turns=without(RECIPE.turns),
        messages=without(RECIPE.messages),
    )


WITHOUT: Mapping[str, Recipe] = MappingProxyType(
    {
        "nothing": RECIPE,
        "the plain question": replace(RECIPE, plain=0.0),
        "slips mended": replace(RECIPE, spelling=False),
        "German stems and small words": replace(RECIPE, german=False),
        "I is the user": replace(RECIPE, first_person=False),
        "shares by length": replace(RECIPE, by_length=False),
        "word for word": replace(RECIPE, word_for_word=False),
        "the speaker": _everywhere(speaker=0.0),
        "the date": _everywhere(date=0.0),
        "time words": _everywhere(time_words=0.0),
        "what kind of turn": _turns(asks=0.0, tells_time=0.0),
        "the thread": _turns(thread=0.0),
        "neighbours": replace(
            RECIPE,
            turns=replace(RECIPE.notes, thread=0.0),
            messages=replace(RECIPE.notes, thread=0.0),
        ),
    }
)


ROOTS = "roots of how often tokens come"


def ablated(task: Task) -> Iterator[tuple[str, float, float]]:
    """Yield each stage with the recall@10 and the mean reciprocal rank without it."""
    scores: dict[str, list[dict[str, float]]] = {name: [] for name in (*WITHOUT, ROOTS)}
    for collection in task.collections:
        with filled(collection) as memory:
            for name, recipe in WITHOUT.items():
                scores[name] += measured_with(memory, collection, recipe)
        with filled(collection, StaticEmbedder(every_time=True)) as memory:
            scores[ROOTS] += measured_with(memory, collection, RECIPE)
    for name, found in scores.items():
        count = len(found)
        yield (
            name,
            sum(one["recall@10"] for one in found) / count,
            sum(one["mrr"] for one in found) / count,
        )
