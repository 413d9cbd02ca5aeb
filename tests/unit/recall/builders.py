"""Candidates and blocks for the tests of the pure stages, with as little said as possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from recollect.model import FrameDefinition, Memory, ScoredBlock, Signals, Weights
from recollect.recall.blocks import Ranked
from recollect.recall.score import SignalColumns, composite

Five = tuple[float, float, float, float, float]

NO_SIGNALS = Signals(0.0, 0.0, 0.0, 0.0, 0.0)


def ranked(
    pak_id: str,
    score: float,
    *,
    confidence: float = 0.5,
    last_reinforced: float = 0.0,
    updated_at: int = 0,
) -> Ranked:
    """Make a candidate."""
    return Ranked(score, updated_at, pak_id, confidence, last_reinforced)


def block(
    pak_id: str,
    content: str | None = None,
    *,
    score: float = 0.5,
    guaranteed: bool = False,
    **memory: Any,
) -> ScoredBlock:
    """Make a hydrated block; its text is its id unless told."""
    text = pak_id if content is None else content
    return ScoredBlock(
        memory=Memory(pak_id=pak_id, content=text, title=pak_id, **memory),
        score=score,
        signals=NO_SIGNALS,
        guaranteed=guaranteed,
    )


def columns(*rows: Five) -> SignalColumns:
    """Make signal columns from rows in the order sim, conf, rec, cent, reinf."""
    return SignalColumns(*np.array(rows, dtype=np.float64).reshape(-1, 5).T)


def scores(frame: FrameDefinition | Weights, *rows: Five) -> list[float]:
    """Score rows with a frame's weights."""
    weights = frame if isinstance(frame, Weights) else frame.weights
    return [float(score) for score in composite(columns(*rows), weights)]
