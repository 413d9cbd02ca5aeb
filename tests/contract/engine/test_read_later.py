"""What an answer tells when it is read late: what it told at once; and it keeps no index."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Callable
from functools import partial
from threading import Thread

import pytest

from recollect import Recollect
from recollect.model import canonical_json

Open = Callable[..., Recollect]

TEXTS = (
    "Celery runs our jobs in the background.",
    "Background jobs ran late on 3 May 2024.",
    "The jobs of the shop run with Celery, in the background.",
    "Redis holds what waits.",
    "Ann and Bob drink tea.",
    "Jobs that fail are run again.",
)
QUESTION = "how do jobs run in the background?"
NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def filled(open_memory: Open) -> Recollect:
    memory = open_memory()
    for number, text in enumerate(TEXTS):
        thread = "t" if number % 2 else None
        memory.remember(text, pak_id=f"m{number}", thread=thread, speaker=thread and "Ann")
    memory.dispute("m0", "m1")
    return memory


def test_an_answer_is_the_same_however_late_it_is_read(filled: Recollect) -> None:
    at_once = canonical_json(filled.recall(QUESTION, top_k=2, now=NOW))
    late = filled.recall(QUESTION, top_k=2, now=NOW)
    filled.update("m0", content="Nothing of that kind.")
    filled.forget(["m2"])
    filled.reindex()
    assert canonical_json(late) == at_once


def test_an_answer_that_was_sent_elsewhere_is_the_same(filled: Recollect) -> None:
    ask = partial(filled.recall, QUESTION, top_k=2, now=NOW, token_budget=30)
    sent = pickle.loads(pickle.dumps(ask()))
    assert sent == ask()
    assert canonical_json(sent) == canonical_json(ask())


def test_threads_that_read_one_answer_read_the_same(filled: Recollect) -> None:
    told: list[str] = []
    answer = filled.recall(QUESTION, top_k=3, now=NOW)
    threads = [Thread(target=lambda: told.append(canonical_json(answer))) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(told) == 4
    assert len({*told}) == 1


def test_who_keeps_an_answer_keeps_no_index(filled: Recollect) -> None:
    answer = filled.recall(QUESTION, top_k=2, now=NOW)
    follower = filled._open_store.follower
    assert follower.index is not None
    index, graph = weakref.ref(follower.index), weakref.ref(follower.index._contents.graph)
    filled.reindex()
    filled.recall(QUESTION)
    gc.collect()
    assert index() is None
    assert graph() is None
    assert [one.why for one in answer.results]


def test_what_a_caller_alters_after_asking_is_no_part_of_the_answer(filled: Recollect) -> None:
    tags, tree = ["work"], {"speaker": {"eq": "Ann"}}
    answer = filled.recall(QUESTION, tags=tags, filter=tree, now=NOW)
    tags.append("play")
    tree["speaker"]["eq"] = "Bob"
    assert (answer.query["tags"], answer.query["filter"]) == (["work"], {"speaker": {"eq": "Ann"}})
