"""What can go wrong with an embedder, below the one root in `recollect.errors`.

EmbedderError
├── EmbedderMissing         (ImportError)      a package or its data files are not installed
├── EmbedderUnavailable     (ConnectionError)  it does not answer, or refuses to
├── EmbedderBadAnswer       (ValueError)       it answered with something that is no vector
└── EmbedderMismatch        (ValueError)       the store was filled by another model
"""

from __future__ import annotations

from recollect.errors import RecollectError

__all__ = [
    "EmbedderBadAnswer",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderMissing",
    "EmbedderUnavailable",
]


class EmbedderError(RecollectError):
    """No usable vector could be had; the text itself is not at fault."""

    code = "embedder_error"


class EmbedderMissing(EmbedderError, ImportError):
    """A package that the embedder needs, or a data file of it, is not installed."""

    code = "embedder_missing"


class EmbedderUnavailable(EmbedderError, ConnectionError):
    """The embedder does not answer, or refuses to."""

    code = "embedder_unavailable"


class EmbedderBadAnswer(EmbedderError, ValueError):
    """The embedder answered with something that is not one finite vector for each text."""

    code = "embedder_bad_answer"


class EmbedderMismatch(EmbedderError, ValueError):
    """The stored vectors were made by another model; comparing them would be meaningless."""

    code = "embedder_mismatch"
