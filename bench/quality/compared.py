"""Questions of a set beside all that they are asked of, as the engine's own stages compare them.

In: a task. Out: for each collection an open memory, and for each question the columns that its
similarity is made of, with which rows answer it. What fits numbers to sets reads these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect import Recollect
from recollect.embed import load_embedder
from recollect.embed.ahead import reads_whole
from recollect.evaluation.runner import clock_of
from recollect.evaluation.task import Collection, Question, Task
from recollect.ports.embedder import Embedder
from recollect.recall.compare import Comparison
from recollect.recall.question import ask
from recollect.recall.ranges import time_asked
from recollect.recall.recipe import RECIPE, SENTENCES, Recipe
from recollect.recall.similarity import Compared, Tables, mixed
from recollect.recall.times import day_of

__all__ = ["Beside", "all_of", "beside", "filled", "recipe_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """A question beside every text of its store; `gold` says which answer it.

    `turn_terms`: so many terms turns have there on average; 0 where there are none.
    """

    question: Question
    compared: Compared
    tables: Tables
    gold: NDArray[np.bool_]
    turn_terms: float = 0.0

    @property
    def similarity(self) -> NDArray[np.float64]:
        """How alike each text is, as the recipe has it that it was compared by."""
        return mixed(self.compared, self.tables)


@contextmanager
def filled(collection: Collection, embedder: str | Embedder | None = None) -> Iterator[Recollect]:
    """Give a memory of a collection's texts, for as long as it is looked at."""
    with Recollect.open("memory://", embedder=embedder, clock=clock_of(collection)) as memory:
        memory.remember_many([item.arguments for item in collection.items])
        yield memory


def beside(
    memory: Recollect, questions: Iterator[Question], recipe: Recipe = RECIPE
) -> Iterator[Beside]:
    """Yield questions beside all that a memory holds."""
    store, sight = memory._open_store, memory._caller.sight()
    index, selection = sight.index, sight.select()
    names = index.pak_ids(selection.slots)
    for question in questions:
        asked = ask(
            question.text,
            embedder=store.embedder,
            index=index,
            selection=selection,
            asked=time_asked(question.text, day_of(sight.now)),
            recipe=recipe,
        )
        comparison = Comparison(index, asked, selection, recipe)
        gold = np.array([name in question.gold for name in names], dtype=np.bool_)
        length = 0.0 if comparison.line is None else index.average_turn(selection)
        yield Beside(question, comparison.parts_of_all(), comparison.tables, gold, length)


def recipe_of(embedder: str | None) -> Recipe:
    """Return the recipe that the engine takes with an embedder."""
    return SENTENCES if reads_whole(type(load_embedder(embedder or "static"))) else RECIPE


def all_of(
    task: Task, recipe: Recipe = RECIPE, embedder: str | None = None
) -> Iterator[list[Beside]]:
    """Yield for each collection of a task its questions beside its texts."""
    for collection in task.collections:
        with filled(collection, embedder) as memory:
            yield list(beside(memory, iter(collection.questions), recipe))
