"""How alike a memory and a question are: one number from 0 to 1, made of named parts.

In: columns of numbers from 0 to 1. Out: their mix, and, for one memory, what each part adds to it.
A memory outside of any thread is its own neighbourhood and its own thread, so for it the mix is
that of its words and its meaning and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.model import Signals

__all__ = ["MIX", "Mix", "match", "mixed", "parts"]


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares of what makes two texts alike; and what closes part of the gap that is left.

    `meaning` is the share of meaning against words. `own`, `nearby` and `thread` are the shares of
    the text itself, the turns around it, and the best of its thread. A memory said by a person whom
    the question names is nearer to 1 by `speaker` of what is missing, and so on.
    """

    meaning: float
    own: float
    nearby: float
    thread: float
    speaker: float
    date: float
    time_words: float


# Chosen on LoCoMo dev, leaving out one conversation at a time (ADR-0008).
MIX = Mix(
    meaning=0.4,
    own=0.15,
    nearby=0.5,
    thread=0.35,
    speaker=0.15,
    date=0.25,
    time_words=0.1,
)

_DECIMALS = 9


def match(
    lexical: NDArray[np.float64], semantic: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the mix of words and meaning; words alone where there is no meaning to compare."""
    if semantic is None:
        return lexical
    return MIX.meaning * semantic + (1 - MIX.meaning) * lexical


def mixed(
    own: NDArray[np.float64],
    *,
    nearby: NDArray[np.float64] | None = None,
    thread: NDArray[np.float64] | None = None,
    speaker: NDArray[np.float64] | None = None,
    date: NDArray[np.float64] | None = None,
    time_words: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the similarity, to nine decimals; None stands for a part that is not in play.

    `nearby` and `thread` are not a number for a memory outside of any thread.
    """
    alike = own
    if nearby is not None and thread is not None:
        in_thread = MIX.own * own + MIX.nearby * nearby + MIX.thread * thread
        alike = np.where(np.isnan(thread), own, in_thread)
    raised = ((speaker, MIX.speaker), (date, MIX.date), (time_words, MIX.time_words))
    nearer = [weight * column for column, weight in raised if column is not None]
    if nearer:
        alike = alike + (1.0 - alike) * sum(nearer[1:], nearer[0])
    return np.round(alike, _DECIMALS)


def parts(signals: Signals) -> dict[str, float]:
    """Return what each part adds to a memory's similarity; they add up to it."""
    if signals.lexical is None:
        return {}
    words, meaning = 1 - MIX.meaning, MIX.meaning
    if signals.semantic is None:
        words, meaning = 1.0, 0.0
    own = 1.0 if signals.thread is None else MIX.own
    found = {
        "lexical": own * words * signals.lexical,
        "semantic": own * meaning * (signals.semantic or 0.0),
        "nearby": MIX.nearby * (signals.nearby or 0.0),
        "thread": MIX.thread * (signals.thread or 0.0),
    }
    missing = 1.0 - sum(found.values())
    found |= {
        "speaker": missing * MIX.speaker * (signals.speaker or 0.0),
        "date": missing * MIX.date * (signals.date or 0.0),
        "time_words": missing * MIX.time_words * (signals.time_words or 0.0),
    }
    return {name: round(part, _DECIMALS) for name, part in found.items() if part}
