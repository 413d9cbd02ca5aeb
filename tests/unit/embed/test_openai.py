from __future__ import annotations

import base64
import json
import traceback
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recollect.embed import (
    EmbedderBadAnswer,
    EmbedderMismatch,
    EmbedderUnavailable,
    ModelIdentity,
    check_model,
)
from recollect.embed.openai import BatchLimits, OpenAIEmbedder
from recollect.embed.retry import Backoff
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "sk-very-secret-0123456789"


class Asker:
    """Builds embedders on the loopback server and keeps the waits they asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.waits: list[float] = []
        self._made: list[OpenAIEmbedder] = []

    def __call__(self, **options: Any) -> OpenAIEmbedder:
        settings: dict[str, Any] = {
            "base_url": self.url,
            "api_key": KEY,
            "timeout_s": 5.0,
            "sleep": self.waits.append,
            "random": lambda: 1.0,
        }
        self._made.append(OpenAIEmbedder("tiny", **(settings | options)))
        return self._made[-1]

    def close(self) -> None:
        for embedder in self._made:
            embedder.close()


@pytest.fixture
def ask(server: Any) -> Iterator[Asker]:
    asker = Asker(server.url)
    yield asker
    asker.close()


def status(code: int, body: bytes = b"", **headers: str) -> Callable[..., None]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, _: handler.reply(code, body, named)


def body(text: bytes | str) -> Callable[..., None]:
    raw = text.encode() if isinstance(text, str) else text
    return lambda handler, _: handler.reply(200, raw)


def items(*pairs: tuple[Any, Any]) -> Callable[..., None]:
    data = [{"index": index, "embedding": embedding} for index, embedding in pairs]
    return body(json.dumps({"data": data}))


def close_mid_body(handler: Any, _: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def test_each_text_gets_its_own_row_and_the_request_is_openais(server: Any, ask: Asker) -> None:
    vectors = ask().embed_documents(["abc", "z"])

    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[3.0, 97.0, 0.5], [1.0, 122.0, 0.5]]
    assert server.paths == ["/v1/embeddings"]
    assert server.keys == [f"Bearer {KEY}"]
    assert server.requests == [{"model": "tiny", "encoding_format": "float", "input": ["abc", "z"]}]


def test_a_question_is_one_vector(ask: Asker) -> None:
    assert ask().embed_query("abc").tolist() == [3.0, 97.0, 0.5]


def test_dimensions_are_asked_for_only_when_given(server: Any, ask: Asker) -> None:
    ask(dimensions=3, encoding_format="base64").embed_query("abc")

    assert server.requests[0]["dimensions"] == 3
    assert server.requests[0]["encoding_format"] == "base64"


def test_without_a_key_no_authorisation_is_sent(server: Any, ask: Asker) -> None:
    ask(api_key=None).embed_query("abc")

    assert server.keys == [None]


def test_texts_are_sent_in_batches_by_count_and_by_length(server: Any, ask: Asker) -> None:
    texts = ["aaaa", "bbbb", "cccc", "d", "e", "f", "g"]

    vectors = ask(limits=BatchLimits(items=3, chars=9)).embed_documents(texts)

    assert [request["input"] for request in server.requests] == [
        ["aaaa", "bbbb"],
        ["cccc", "d", "e"],
        ["f", "g"],
    ]
    assert vectors[:, 1].tolist() == [float(ord(text[0])) for text in texts]


def test_a_text_longer_than_the_limit_is_sent_by_its_beginning(server: Any, ask: Asker) -> None:
    ask(limits=BatchLimits(text_chars=4)).embed_query("abcdefgh")

    assert server.requests[0]["input"] == ["abcd"]


def test_a_blank_text_is_zero_and_never_sent(server: Any, ask: Asker) -> None:
    vectors = ask().embed_documents(["", "abc", " \n"])

    assert vectors.tolist() == [[0.0] * 3, [3.0, 97.0, 0.5], [0.0] * 3]
    assert server.requests[0]["input"] == ["abc"]


def test_no_texts_give_no_rows_of_the_known_dimension(server: Any, ask: Asker) -> None:
    assert ask(dimensions=3).embed_documents([]).shape == (0, 3)
    assert server.requests == []


def test_a_lone_surrogate_is_replaced_before_sending(server: Any, ask: Asker) -> None:
    ask().embed_query("a\ud800b")

    assert server.requests[0]["input"] == ["a\ufffdb"]


def test_base64_vectors_are_read(server: Any, ask: Asker) -> None:
    packed = base64.b64encode(np.array([1.5, -2.0], dtype="<f4").tobytes()).decode()
    server.script = [items((0, packed))]

    assert ask().embed_query("abc").tolist() == [1.5, -2.0]


def test_shuffled_items_are_put_in_the_order_of_their_texts(server: Any, ask: Asker) -> None:
    server.script = [items((2, [3.0]), (0, [1.0]), (1, [2.0]))]

    assert ask().embed_documents(["a", "b", "c"]).tolist() == [[1.0], [2.0], [3.0]]


def test_two_server_errors_are_waited_out_with_growing_pauses(server: Any, ask: Asker) -> None:
    server.script = [status(500), status(503)]

    vector = ask(backoff=Backoff(attempts=3, first_s=0.5)).embed_query("abc")

    assert vector.tolist() == [3.0, 97.0, 0.5]
    assert ask.waits == [0.5, 1.0]
    assert len(server.requests) == 3


def test_a_busy_server_is_left_alone_as_long_as_it_asks(server: Any, ask: Asker) -> None:
    server.script = [status(429, Retry_After="7")]

    assert ask().embed_query("abc").tolist() == [3.0, 97.0, 0.5]
    assert ask.waits == [7.0]


def test_a_server_that_asks_for_too_long_a_wait_is_not_asked_again(server: Any, ask: Asker) -> None:
    server.script = [status(429, Retry_After="3600")]

    with pytest.raises(EmbedderUnavailable, match="answered 429"):
        ask().embed_query("abc")
    assert ask.waits == []
    assert len(server.requests) == 1


def test_a_server_that_stays_broken_is_given_up_after_the_attempts(server: Any, ask: Asker) -> None:
    server.script = [status(500, b"overloaded")] * 9

    with pytest.raises(EmbedderUnavailable, match="answered 500: overloaded") as caught:
        ask(backoff=Backoff(attempts=3)).embed_query("abc")
    assert isinstance(caught.value, ConnectionError)
    assert caught.value.code == "embedder_unavailable"
    assert caught.value.hint != ""
    assert len(server.requests) == 3


def test_a_server_that_hangs_is_given_up(server: Any, ask: Asker) -> None:
    server.script = [lambda _handler, _body: server.released.wait(30)] * 2

    with pytest.raises(EmbedderUnavailable, match="ReadTimeout"):
        ask(timeout_s=0.1, backoff=Backoff(attempts=2)).embed_query("abc")
    assert len(ask.waits) == 1


def test_an_answer_cut_off_midway_is_asked_for_again(server: Any, ask: Asker) -> None:
    server.script = [close_mid_body]

    assert ask().embed_query("abc").tolist() == [3.0, 97.0, 0.5]
    assert len(server.requests) == 2


def test_nobody_listening_is_unavailable(ask: Asker) -> None:
    embedder = ask(base_url="http://127.0.0.1:9/v1", backoff=Backoff(attempts=2))

    with pytest.raises(EmbedderUnavailable, match="ConnectError"):
        embedder.embed_query("abc")
    assert len(ask.waits) == 1


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (400, "See what the server says"),
        (401, "Check the API key"),
        (403, "may use this model"),
        (404, "Check the base URL"),
        (307, "See what the server says"),
    ],
)
def test_a_refusal_is_final_and_hints_at_its_cause(
    server: Any, ask: Asker, code: int, hint: str
) -> None:
    server.script = [status(code)]

    with pytest.raises(EmbedderUnavailable, match=f"answered {code}") as caught:
        ask().embed_query("abc")
    assert hint in caught.value.hint
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [400, 401, 403, 500])
def test_a_key_quoted_by_the_server_is_not_repeated(server: Any, ask: Asker, code: int) -> None:
    server.script = [status(code, b"x" * 190 + b" wrong key " + KEY.encode())] * 4

    with pytest.raises(EmbedderUnavailable) as caught:
        ask().embed_query("abc")
    assert KEY[:8] not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("key", [KEY + "\u00e9", KEY + "\x00", "sk\n" + KEY])
def test_a_key_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAIEmbedder("tiny", api_key=key)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_the_key_is_not_in_the_repr(ask: Asker) -> None:
    assert repr(ask()) == "OpenAIEmbedder('tiny', base_url='127.0.0.1')"


def test_a_line_end_after_the_key_is_dropped(server: Any, ask: Asker) -> None:
    ask(api_key=KEY + "\n").embed_query("abc")

    assert server.keys == [f"Bearer {KEY}"]


@pytest.mark.parametrize(
    "url", ["localhost:80/v1", "", "ftp://host/v1", "http://", "http://me:pass@host/v1"]
)
def test_a_base_url_that_is_none_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAIEmbedder("tiny", base_url=url)
    assert "pass@" not in str(caught.value)


@pytest.mark.parametrize(
    ("step", "complaint"),
    [
        (body("<html>"), "not JSON"),
        (body("[" * 100_000), "not JSON"),
        (body(b"\xff\xfe\xff"), "not JSON"),
        (body("[]"), "no list 'data'"),
        (body('{"error": "x"}'), "no list 'data'"),
        (items((0, [1.0])), "1 vectors came back for 2 texts"),
        (items((0, [1.0]), (1, [1.0]), (2, [1.0])), "3 vectors came back for 2 texts"),
        (items((0, [1.0]), (0, [1.0])), "index 0 is repeated"),
        (items((0, [1.0]), (2, [1.0])), "index 2 is repeated or out of range"),
        (items((-1, [1.0]), (0, [1.0])), "index -1 is repeated or out of range"),
        (items((None, [1.0]), (1, [1.0])), "no integer 'index'"),
        (items((True, [1.0]), (0, [1.0])), "no integer 'index'"),
        (body('{"data": [1, 2]}'), "no integer 'index'"),
        (items((0, [float("nan")]), (1, [1.0])), "NaN or infinity"),
        (items((0, [float("-inf")]), (1, [1.0])), "NaN or infinity"),
        (items((0, [1e39]), (1, [1.0])), "NaN or infinity"),
        (items((0, [10**400]), (1, [1.0])), "beyond any float"),
        (items((0, [1.0, 2.0]), (1, [1.0])), "1 and of 2 dimensions"),
        (items((0, []), (1, [])), "empty"),
        (items((0, None), (1, [1.0])), "neither a list of numbers nor base64"),
        (items((0, ["1.0"]), (1, [1.0])), "neither a list of numbers nor base64"),
        (items((0, [[1.0]]), (1, [1.0])), "neither a list of numbers nor base64"),
        (items((0, "not base64!"), (1, [1.0])), "not base64"),
        (items((0, "AAA="), (1, [1.0])), "not base64 of float32"),
    ],
)
def test_an_answer_that_is_no_set_of_vectors_is_refused(
    server: Any, ask: Asker, step: Callable[..., None], complaint: str
) -> None:
    server.script = [step]

    with pytest.raises(EmbedderBadAnswer, match=complaint) as caught:
        ask().embed_documents(["a", "b"])
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "embedder_bad_answer"
    assert caught.value.hint != ""
    assert len(server.requests) == 1


def test_the_dimension_is_learned_once_and_held_to(server: Any, ask: Asker) -> None:
    embedder = ask()
    assert embedder.dimension == 3
    assert embedder.dimension == 3
    assert len(server.requests) == 1
    server.script = [items((0, [1.0, 2.0]))]

    with pytest.raises(EmbedderBadAnswer, match="2 dimensions instead of 3"):
        embedder.embed_query("abc")


def test_an_answer_of_another_dimension_than_asked_for_is_refused(ask: Asker) -> None:
    with pytest.raises(EmbedderBadAnswer, match="3 dimensions instead of 8"):
        ask(dimensions=8).embed_query("abc")


def test_a_store_that_knows_the_dimension_opens_while_the_server_is_down(
    server: Any, ask: Asker
) -> None:
    embedder = ask()

    check_model(ModelIdentity("openai:tiny", 8), embedder)

    assert embedder.dimension == 8
    assert server.requests == []
    with pytest.raises(EmbedderBadAnswer, match="3 dimensions instead of 8"):
        embedder.embed_query("abc")


def test_a_store_of_another_dimension_is_not_opened(ask: Asker) -> None:
    with pytest.raises(EmbedderMismatch, match="with 8 dimensions"):
        check_model(ModelIdentity("openai:tiny", 8), ask(dimensions=3))


def test_threads_may_share_one_embedder(server: Any, ask: Asker) -> None:
    embedder = ask()
    found: dict[str, list[float]] = {}

    def work(letter: str) -> None:
        found[letter] = embedder.embed_query(letter).tolist()

    threads = [Thread(target=work, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {letter: [1.0, float(ord(letter)), 0.5] for letter in "abcdefgh"}
