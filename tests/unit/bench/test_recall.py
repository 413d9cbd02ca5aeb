from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from bench import recall_data
from bench.recall import BLOCK, OtherJobs, rates_of
from bench.recall_stores import SyntheticEmbedder, built, items, name_of, opened, path_of
from bench.recall_worker import bare_pass, passes

from recollect.embed.static import StaticEmbedder
from recollect.index.analyse import terms
from recollect.ports.embedder import WeightedQueryEmbedder


def test_the_same_number_is_always_the_same_text() -> None:
    first = " ".join(recall_data.texts(0, 20))

    assert hashlib.sha256(first.encode()).hexdigest()[:16] == "991225e67139fe58"


def test_texts_have_some_thirty_words_and_are_all_different() -> None:
    texts = list(recall_data.texts(500, 1000))

    lengths = [len(text.split()) for text in texts]
    assert len(set(texts)) == 1000
    assert min(lengths) == 20
    assert max(lengths) == 40
    assert 29 < sum(lengths) / 1000 < 31


def test_words_are_as_frequent_as_zipf_says() -> None:
    words = Counter(" ".join(recall_data.texts(0, 5000)).split())
    vocabulary = recall_data.vocabulary()

    first = words[vocabulary[0]]
    assert words.most_common(1)[0][0] == vocabulary[0]
    assert words[vocabulary[1]] == pytest.approx(first / 2, rel=0.1)
    assert words[vocabulary[9]] == pytest.approx(first / 10, rel=0.2)


def test_words_are_stemmed_as_english_ones() -> None:
    vocabulary = recall_data.vocabulary()

    assert len(set(vocabulary)) == recall_data.WORDS
    assert len({stem for word in vocabulary for stem in terms(word)}) < 0.95 * recall_data.WORDS


def test_a_project_holds_one_in_a_hundred() -> None:
    projects = Counter(recall_data.project(number) for number in range(10_000))

    assert set(projects.values()) == {100}


def test_a_question_is_made_of_the_words_of_one_text() -> None:
    question = recall_data.question(3, 100)

    assert len(question.split()) == 6
    assert any(set(question.split()) <= set(text.split()) for text in recall_data.texts(0, 100))
    assert question != recall_data.question(4, 100)


def test_a_vector_depends_on_its_own_text_only() -> None:
    vectors = recall_data.Vectors()

    together = vectors.of(["one", "two", "three"])
    assert np.array_equal(vectors.of(["two"])[0], together[1])
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0)
    assert abs(float(together[0] @ together[1])) < 0.3


def test_a_question_pays_for_the_static_embedder() -> None:
    embedder, static = SyntheticEmbedder(), StaticEmbedder()

    assert isinstance(embedder, WeightedQueryEmbedder)
    assert np.array_equal(embedder.embed_query("run jobs"), static.embed_query("run jobs"))
    assert not np.array_equal(
        embedder.embed_documents(["run jobs"]), static.embed_documents(["run jobs"])
    )


def test_other_tables_or_another_size_are_another_store() -> None:
    names = {name_of(1000, ["a"]), name_of(1000, ["b"]), name_of(2000, ["a"])}

    assert len(names) == 3
    assert name_of(1000, ["a"]) in names


def test_a_store_that_is_not_whole_is_not_measured(tmp_path: Path) -> None:
    opened(path_of(20, tmp_path)).close()
    with pytest.raises(RuntimeError, match="0 memories instead of 20"):
        built(20, tmp_path)
    path_of(20, tmp_path).unlink()
    with opened(built(20, tmp_path)) as memory:
        assert memory.stats()["memories"] == 20


def test_items_carry_text_and_project() -> None:
    assert items(107, 1) == [{"content": recall_data.text(107), "project": "project-07"}]


def test_a_rate_is_that_of_a_block_of_calls() -> None:
    assert rates_of([0.01] * BLOCK + [0.02] * BLOCK) == pytest.approx([100.0, 50.0])


def test_the_bare_pass_goes_over_every_row() -> None:
    assert bare_pass(12)().shape == (12,)
    assert len(passes(12, 3)) == 3


def test_other_jobs_never_keep_more_cores_busy_than_there_are() -> None:
    others = OtherJobs()
    time.sleep(0.05)

    assert 0.0 <= others.cores() <= (os.cpu_count() or 1) + 1
