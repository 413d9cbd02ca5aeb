"""Under which name a store keeps its model, and how strings are made fit for a tokeniser or JSON.

A title says what a text is about, often in words that the text has not, so it is embedded with it.
Stores that were filled before that hold vectors of the content alone; the name under which a store
keeps its model tells the two apart, and `reembed` leads from one to the other.
"""

from __future__ import annotations

from recollect.patterns import regex

__all__ = ["kept_as", "model_of", "reads_titles", "replace_surrogates"]

_WITH_TITLES = "+title"

_SURROGATE = regex("[\ud800-\udfff]")


def kept_as(model_id: str) -> str:
    """Return the name under which a store keeps a model whose vectors are of titles too."""
    return model_id + _WITH_TITLES


def model_of(kept: str) -> str:
    """Return the model that a store keeps under a name."""
    return kept.removesuffix(_WITH_TITLES)


def reads_titles(kept: str | None) -> bool:
    """Return whether the vectors that a store keeps under a name are of titles too.

    Those of a store that has none yet will be.
    """
    return kept is None or kept.endswith(_WITH_TITLES)


def replace_surrogates(text: str) -> str:
    """Return the text with every lone surrogate replaced; UTF-8 cannot carry one."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
