"""Frames: the built-in ones, a user's own, and the cache of their answers."""

from __future__ import annotations

from recollect.errors import FrameExists, FrameImmutable, UnknownFrame
from recollect.frames.builtin import (
    ATTENTION_FRAME,
    BUILTIN_FRAMES,
    CACHE_EVENTS,
    EVIDENCE_FRAME,
    SELF_FRAME,
    TASK_FRAME,
)
from recollect.frames.cache import CacheKey, FrameCache
from recollect.frames.registry import FrameFields, FrameRegistry, FrameRows

__all__ = [
    "ATTENTION_FRAME",
    "BUILTIN_FRAMES",
    "CACHE_EVENTS",
    "EVIDENCE_FRAME",
    "SELF_FRAME",
    "TASK_FRAME",
    "CacheKey",
    "FrameCache",
    "FrameExists",
    "FrameFields",
    "FrameImmutable",
    "FrameRegistry",
    "FrameRows",
    "UnknownFrame",
]
