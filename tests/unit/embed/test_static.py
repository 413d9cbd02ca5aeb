from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.embed import EmbedderMissing, static, table
from recollect.embed.static import MAX_QUERY_CHARS, MAX_TOKENS, StaticEmbedder
from recollect.errors import InvalidInput
from recollect.ports.embedder import LearnsDimension, WeightedQueryEmbedder

EMBEDDER = StaticEmbedder()
TEXTS = st.text(st.characters(codec=None), max_size=120)


def one(text: str) -> bytes:
    return EMBEDDER.embed_documents([text]).tobytes()


def test_the_identity_names_the_table_this_release_was_measured_with() -> None:
    assert EMBEDDER.model_id == "static:wordllama-256:a255d3cd8e92:roots"
    assert EMBEDDER.dimension == 256


def test_it_offers_weighted_questions_and_knows_its_dimension() -> None:
    assert isinstance(EMBEDDER, WeightedQueryEmbedder)
    assert not isinstance(EMBEDDER, LearnsDimension)


def test_a_known_text_has_its_known_vector() -> None:
    """The table's own rows, read by the library whose format it is, averaged by hand."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = table._wheel_folder()
    rows = load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"]
    tokeniser = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    text = "Use Celery with Redis for background tasks."

    ids = tokeniser.encode(text, add_special_tokens=False).ids
    mean = rows[ids].astype(np.float64).mean(axis=0)
    expected = mean / np.linalg.norm(mean)

    assert np.allclose(EMBEDDER.embed_documents([text])[0], expected, atol=1e-7)


def test_vectors_are_unit_float32() -> None:
    vectors = EMBEDDER.embed_documents(["background jobs in Django", "a cat sat", "z" * 9_000])

    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_meaning_is_nearer_than_chance() -> None:
    near, far = EMBEDDER.embed_documents(
        ["Use Celery for asynchronous background tasks.", "The cat slept in the warm kitchen."]
    )
    question = EMBEDDER.embed_query("how do I run background jobs?")

    assert question @ near > question @ far + 0.1


@pytest.mark.parametrize("text", ["", " ", "\n\t  \u2003"])
def test_a_blank_text_is_the_zero_vector(text: str) -> None:
    assert not EMBEDDER.embed_documents([text]).any()
    assert not EMBEDDER.embed_query(text).any()
    assert EMBEDDER.embed_query(text).shape == (256,)


def test_no_texts_give_no_rows() -> None:
    assert EMBEDDER.embed_documents([]).shape == (0, 256)


@given(st.lists(TEXTS, max_size=40), st.randoms())
@settings(max_examples=60, deadline=None)
def test_a_text_has_the_same_bytes_alone_and_in_any_batch(texts: list[str], random: object) -> None:
    order = list(range(len(texts)))
    random.shuffle(order)  # type: ignore[attr-defined]

    whole = EMBEDDER.embed_documents(texts)
    shuffled = EMBEDDER.embed_documents([texts[at] for at in order])

    assert np.isfinite(whole).all()
    assert [row.tobytes() for row in whole] == [one(text) for text in texts]
    assert [row.tobytes() for row in shuffled] == [whole[at].tobytes() for at in order]


def test_the_size_of_a_block_does_not_change_a_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"memory {at} about redis queues " * (at % 40) for at in range(200)]
    expected = EMBEDDER.embed_documents(texts).tobytes()

    for tokens in (1, 7, 512, 5_000):
        monkeypatch.setattr(static, "_BLOCK_TOKENS", tokens)
        assert EMBEDDER.embed_documents(texts).tobytes() == expected


def test_threads_get_the_same_bytes() -> None:
    texts = [f"note {at}: restart worker {at % 7} when the queue is stuck" for at in range(300)]
    expected = EMBEDDER.embed_documents(texts).tobytes()

    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda _: StaticEmbedder().embed_documents(texts).tobytes(), range(16))
        )

    assert found == [expected] * 16


@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_fresh_process_gets_the_same_bytes_with_any_number_of_threads(threads: str) -> None:
    program = (
        "import sys; from recollect.embed.static import StaticEmbedder; "
        "texts = [f'note {at} about queues and workers' for at in range(100)]; "
        "sys.stdout.buffer.write(StaticEmbedder().embed_documents(texts).tobytes()); "
        "assert 'wordllama' not in sys.modules"
    )
    environment = os.environ | {
        "OPENBLAS_NUM_THREADS": threads,
        "RAYON_NUM_THREADS": threads,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }

    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True)

    texts = [f"note {at} about queues and workers" for at in range(100)]
    assert done.stderr == b""
    assert done.stdout == EMBEDDER.embed_documents(texts).tobytes()


def test_surrounding_space_does_not_count() -> None:
    assert one("  the queue is stuck\n") == one("the queue is stuck")


def test_a_marker_typed_by_a_user_is_text() -> None:
    ids = static._token_ids("<s> hello </s>")

    assert 1 not in ids
    assert 2 not in ids


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff", "a\x00b", "\U0001f389 \u65e5\u672c\u8a9e"])
def test_any_string_has_a_finite_vector(text: str) -> None:
    assert np.isfinite(EMBEDDER.embed_documents([text])).all()
    assert np.isfinite(EMBEDDER.embed_query(text)).all()


def test_pieces_of_a_long_text_give_the_tokens_of_the_whole() -> None:
    text = "Use Celery with Redis, for background tasks; it's fine. " * 800
    whole = table.load_tokeniser().encode(text.strip(), add_special_tokens=False).ids

    assert len(text) > 4 * 8_192
    assert static._token_ids(text) == whole


@pytest.mark.parametrize("unit", ["the quick brown fox ", "x", "\U0001f389"])
def test_of_a_text_of_five_megabytes_the_first_tokens_count(unit: str) -> None:
    text = unit * (5_000_000 // len(unit))

    ids = static._token_ids(text)

    assert len(ids) == MAX_TOKENS
    assert one(text) == one(text + "and then something else entirely")


def test_a_question_is_taken_apart_into_lower_cased_words() -> None:
    tokens = EMBEDDER.tokenise_query("Did Zo\u00eb's team (in Z\u00fcrich) pick PostgreSQL 16?")

    assert tokens.words == (
        "did",
        "zo\u00eb's",
        "team",
        "in",
        "z\u00fcrich",
        "pick",
        "postgresql",
        "16",
    )
    assert tokens.vectors.shape == (8, 256)
    assert tokens.vectors.dtype == np.float32


@given(TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_word_has_the_same_vector_alone_and_in_a_question(text: str) -> None:
    tokens = EMBEDDER.tokenise_query(text)

    assert tokens.vectors.shape == (len(tokens.words), 256)
    for word, vector in zip(tokens.words, tokens.vectors, strict=True):
        alone = EMBEDDER.tokenise_query(word)
        assert alone.words == (word,)
        assert alone.vectors.tobytes() == vector.tobytes()


def test_equal_weights_are_the_plain_question() -> None:
    text = "how do I run background jobs?"
    tokens = EMBEDDER.tokenise_query(text)

    combined = EMBEDDER.combine(tokens, [2.0] * len(tokens.words))

    assert combined.tobytes() == EMBEDDER.embed_query(text).tobytes()


def test_a_weight_moves_the_question_towards_its_word() -> None:
    tokens = EMBEDDER.tokenise_query("the redis thing")
    redis = EMBEDDER.embed_query("redis")

    plain = EMBEDDER.combine(tokens, np.ones(3)) @ redis
    weighted = EMBEDDER.combine(tokens, [0.1, 3.0, 0.5]) @ redis
    alone = EMBEDDER.combine(tokens, [0.0, 1.0, 0.0])

    assert plain < weighted < 1.0
    assert alone.tobytes() == redis.tobytes()


def test_no_weight_at_all_is_the_zero_vector() -> None:
    tokens = EMBEDDER.tokenise_query("redis queue")

    assert not EMBEDDER.combine(tokens, [0.0, 0.0]).any()
    assert not EMBEDDER.combine(EMBEDDER.tokenise_query("?!"), []).any()


@pytest.mark.parametrize("weights", [[], [1.0], [1.0, 1.0, 1.0], [1.0, float("nan")]])
def test_weights_that_do_not_fit_the_words_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidInput, match="2 words"):
        EMBEDDER.combine(EMBEDDER.tokenise_query("redis queue"), weights)


def test_a_question_without_words_is_taken_as_it_stands() -> None:
    assert EMBEDDER.tokenise_query("\U0001f389").words == ()
    assert EMBEDDER.embed_query("\U0001f389").tobytes() == one("\U0001f389")


def test_of_an_endless_question_the_beginning_counts() -> None:
    tokens = EMBEDDER.tokenise_query("redis " * 1_000_000)

    assert len(tokens.words) == MAX_QUERY_CHARS // 6 + 1
    assert tokens.words[0] == "redis"


@pytest.mark.parametrize(("added", "same"), [(b"\n", True), (b"{}", False)])
def test_the_identity_changes_with_the_tokeniser_but_not_with_a_line_end(
    tmp_path: Path, added: bytes, same: bool
) -> None:
    wheel = table._wheel_folder()
    for name in ("weights", "tokenizers"):
        (tmp_path / name).mkdir()
    (tmp_path / table._TABLE).symlink_to(wheel / table._TABLE)
    (tmp_path / table._TOKENISER).write_bytes((wheel / table._TOKENISER).read_bytes() + added)

    mine, theirs = table._open_table(tmp_path), table._open_table(wheel)

    assert (mine.fingerprint == theirs.fingerprint) is same


def test_missing_files_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "find_spec", lambda _: None)

    with pytest.raises(EmbedderMissing, match=r"l2_supercat_256\.safetensors") as caught:
        table._wheel_folder.__wrapped__()
    assert "pip install" in caught.value.hint


def safetensors(header: str) -> bytes:
    return len(header).to_bytes(8, "little") + header.encode() + b"\0" * 4


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff" * 64, id="noise"),
        pytest.param(safetensors("{}"), id="no tensor"),
        pytest.param(safetensors("[]"), id="no object"),
        pytest.param(
            safetensors('{"embedding.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}'),
            id="another type",
        ),
        pytest.param(
            safetensors(
                '{"embedding.weight":{"dtype":"F16","shape":[9,9],"data_offsets":[0,162]}}'
            ),
            id="cut short",
        ),
    ],
)
def test_a_file_that_is_not_the_table_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.safetensors"
    path.write_bytes(content)

    with pytest.raises(EmbedderMissing, match="not the table"):
        table._map_rows(path)


def test_a_word_has_the_same_vector_whether_it_was_met_before_or_not() -> None:
    met = StaticEmbedder()
    met.tokenise_query("ship the release on friday")
    tokens = met.tokenise_query("the release of a teapot on friday")
    fresh = StaticEmbedder().tokenise_query("the release of a teapot on friday")
    assert tokens.words == fresh.words
    assert tokens.vectors.tobytes() == fresh.vectors.tobytes()


def test_many_words_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.embed.static._MOST_WORDS", 5)
    embedder = StaticEmbedder()
    for text in ("one two three", "four five six seven eight nine", "one ten"):
        tokens = embedder.tokenise_query(text)
        assert tokens.vectors.tobytes() == StaticEmbedder().tokenise_query(text).vectors.tobytes()
    assert len(embedder._known) == 2


def test_a_token_that_comes_again_counts_as_the_root_of_how_often_it_comes() -> None:
    rows = table.load_table().rows
    ids = [static._token_ids(word)[0] for word in ("cat", "dog")]
    cat, dog = rows[ids].astype(np.float64)
    (vector,) = EMBEDDER.embed_documents(["cat dog cat cat cat"])
    (each_time,) = StaticEmbedder(every_time=True).embed_documents(["cat dog cat cat cat"])
    for found, times in ((vector, 2), (each_time, 4)):
        total = times * cat + dog
        assert np.allclose(found, total / np.linalg.norm(total), atol=1e-7)


def test_texts_in_which_nothing_comes_again_have_the_vectors_that_they_had() -> None:
    texts = ["Use Celery with Redis.", "a cat sat", ""]
    assert (
        EMBEDDER.embed_documents(texts).tobytes()
        == StaticEmbedder(every_time=True).embed_documents(texts).tobytes()
    )


def test_the_recipe_of_before_is_a_model_of_its_own() -> None:
    (before,) = EMBEDDER.earlier
    assert before.model_id == "static:wordllama-256:a255d3cd8e92"
    assert before.earlier == ()
