"""Vectors from any server that speaks OpenAI's `POST {base_url}/embeddings`.

Texts come in, checked vectors go out. Sleeping and chance are arguments; the environment is not
read, proxies included. The API key appears in the request's header and nowhere else: no message,
no repr, no cause of an error.
"""

from __future__ import annotations

import random as chance
import time
from dataclasses import field
from threading import Lock
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np

from recollect.embed.answer import read_answer
from recollect.embed.lock import ModelIdentity, mismatch_error
from recollect.embed.retry import Backoff, retry_after_s
from recollect.embed.text import replace_surrogates
from recollect.errors import EmbedderBadAnswer, EmbedderUnavailable, InvalidInput
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["OPENAI_URL", "BatchLimits", "OpenAIEmbedder"]

OPENAI_URL = "https://api.openai.com/v1"

_WORTH_ANOTHER_TRY = frozenset({408, 425, 429})
_HINTS = {
    401: "Check the API key.",
    403: "Check that the API key may use this model.",
    404: "Check the base URL and the model's name.",
    413: "The texts are too long for this server; lower `BatchLimits`.",
}


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much goes into one request; of a longer text the first `text_chars` speak for all."""

    items: int = 128
    chars: int = 200_000
    text_chars: int = 20_000


_LIMITS, _BACKOFF = BatchLimits(), Backoff()


class OpenAIEmbedder:
    """Asks a server for vectors; safe to share between threads."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI_URL,
        api_key: str | None = None,
        dimensions: int | None = None,
        encoding_format: str = "float",
        timeout_s: float = 30.0,
        proxy: str | None = None,
        limits: BatchLimits = _LIMITS,
        backoff: Backoff = _BACKOFF,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = chance.random,
    ) -> None:
        self._model = model
        self._url = _endpoint(base_url)
        self._request_fields = {"model": model, "encoding_format": encoding_format}
        self._dimensions = dimensions
        self._known_dimension = _KnownDimension(dimensions)
        self._limits = limits
        self._backoff = backoff
        self._sleep = sleep
        self._random = random
        self._secret = _printable(api_key)
        headers = {"Authorization": f"Bearer {self._secret}"} if self._secret else {}
        self._client = httpx.Client(
            headers=headers, timeout=timeout_s, proxy=proxy, trust_env=False
        )

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._model!r}, base_url={self._url.host!r})"

    @property
    def model_id(self) -> str:
        """Identity by model name: the same model behind another URL is the same model."""
        return f"openai:{self._model}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector; the server is asked once if nobody has told yet."""
        if self._known_dimension.dimension is None:
            self._ask(["dimension"])
        return self._known_dimension.dimension or 0

    def expect_dimension(self, dimension: int) -> None:
        """Take the dimension of the vectors already stored; any other is refused from now on."""
        known = self._known_dimension.settle(dimension)
        if known != dimension:
            raise mismatch_error(
                ModelIdentity(self.model_id, dimension),
                f"'{self.model_id}' with {known} dimensions",
            )

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text; a blank text is zero and is never sent."""
        sendable = [replace_surrogates(text[: self._limits.text_chars]) for text in texts]
        filled = [at for at, text in enumerate(sendable) if text.strip()]
        parts = [
            self._ask([sendable[at] for at in batch])
            for batch in _batches(filled, sendable, self._limits)
        ]
        result = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if parts:
            result[filled] = np.concatenate(parts)
        return result

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the question's vector."""
        return self.embed_documents([text]).reshape(-1)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, texts: list[str]) -> NDArray[np.float32]:
        body: dict[str, Any] = {**self._request_fields, "input": texts}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        vectors = read_answer(self._post(body), len(texts))
        known = self._known_dimension.settle(vectors.shape[1])
        if known != vectors.shape[1]:
            raise EmbedderBadAnswer(
                f"{self._url.host} answered with {vectors.shape[1]} dimensions instead of {known}.",
                hint="The server may have changed its model; the stored vectors are another's.",
            )
        return vectors

    def _post(self, body: dict[str, Any]) -> bytes:
        """Return the answer's bytes, asking again while that may help."""
        attempt = 0
        while True:
            outcome = self._try_once(body)
            if isinstance(outcome, bytes):
                return outcome
            if not self._backoff.allows_more(attempt, server_wait_s=outcome.server_wait_s):
                raise outcome.error
            self._sleep(
                self._backoff.wait_s(
                    attempt, chance=self._random(), server_wait_s=outcome.server_wait_s
                )
            )
            attempt += 1

    def _try_once(self, body: dict[str, Any]) -> bytes | _Setback:
        try:
            response = self._client.post(self._url, json=body)
        except httpx.TransportError as error:
            return _Setback(self._failure(error))
        if response.is_success:
            return response.content
        if response.status_code in _WORTH_ANOTHER_TRY or response.is_server_error:
            return _Setback(self._refusal(response), retry_after_s(response.headers))
        raise self._refusal(response)

    def _failure(self, error: httpx.TransportError) -> EmbedderUnavailable:
        failure = EmbedderUnavailable(
            f"The embedder at {self._url.host} does not answer ({type(error).__name__}).",
            hint="Check the base URL and the network; texts stored meanwhile wait as pending.",
        )
        failure.__cause__ = error
        return failure

    def _refusal(self, response: httpx.Response) -> EmbedderUnavailable:
        status = response.status_code
        answer = " ".join(response.text.split())
        # Servers like to quote the key they were given.
        if self._secret:
            answer = answer.replace(self._secret, "[key]")
        quoted = f": {answer[:200]}" if answer and status not in (401, 403) else ""
        return EmbedderUnavailable(
            f"The embedder at {self._url.host} answered {status}{quoted}.",
            hint=_HINTS.get(status, "See what the server says, and try again later."),
        )


@dataclass(frozen=True, slots=True)
class _Setback:
    """A failure worth another try, and the seconds the server asked to be left alone."""

    error: EmbedderUnavailable
    server_wait_s: float = 0.0


@dataclass(slots=True)
class _KnownDimension:
    """The dimension, once somebody has told it; the first word counts."""

    dimension: int | None
    _lock: Lock = field(default_factory=Lock)

    def settle(self, dimension: int) -> int:
        """Take the dimension if none is known, and return the known one."""
        with self._lock:
            if self.dimension is None:
                self.dimension = dimension
            return self.dimension


def _batches(filled: list[int], texts: Sequence[str], limits: BatchLimits) -> Iterator[list[int]]:
    """Yield the positions of texts that go into one request together."""
    batch: list[int] = []
    chars = 0
    for at in filled:
        if batch and (len(batch) >= limits.items or chars + len(texts[at]) > limits.chars):
            yield batch
            batch, chars = [], 0
        batch.append(at)
        chars += len(texts[at])
    if batch:
        yield batch


def _endpoint(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url.rstrip("/") + "/embeddings")
    except httpx.InvalidURL:
        url = httpx.URL("")
    # A password inside the URL would travel into logs and messages.
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise InvalidInput(
            "The embedder's base URL must be http(s)://host[:port][/path], without a password.",
            hint="For example http://localhost:11434/v1; pass the key as `api_key`.",
        )
    return url


def _printable(api_key: str | None) -> str:
    secret = (api_key or "").strip()
    # Checked here because the HTTP library would quote a bad header in its error.
    if not secret.isascii() or not secret.isprintable():
        raise InvalidInput("The API key holds characters that no HTTP header may carry.")
    return secret
