"""Answers as data: what was scored, what came back, what was left out and why.

Frozen values, standard library only, so that a cached answer can be handed out safely.
`to_dict` of each gives plain data; `canonical_json` gives the bytes that must never differ.
"""

from __future__ import annotations

import json
from dataclasses import field
from hashlib import blake2b
from typing import Any, Literal

from recollect.model.memory import Memory, without_silent
from recollect.values import as_plain, dataclass, made_when_read

__all__ = [
    "MATCHES",
    "Dropped",
    "FrameResult",
    "Match",
    "PackageFlag",
    "RecallResponse",
    "RecallResult",
    "ScoredBlock",
    "Signals",
    "canonical_json",
    "name_of_frame",
]


# How well a memory fits a question, and the words for it, the worst first.
Match = Literal["strong", "fair", "weak"]
MATCHES: tuple[Match, ...] = ("weak", "fair", "strong")


@dataclass(frozen=True, slots=True)
class Signals:
    """The inputs of a score, each from 0 to 1, and those that similarity is made of.

    `lexical` and `semantic` are the memory's own words and meaning; `nearby` is both with the turns
    around it, `thread` the best of those in its thread. `speaker`: the question names who said it;
    `date`: it is from a time that the question names; `time_words`: the question asks when, and it
    tells a time; `word_for_word`: its text is the question. Of turns, `asks`: it is a question
    itself, which speaks against it; `tells_time`: it tells a time, whatever is asked. Each is None
    when it had nothing to say: no query, no vector, no thread.
    """

    similarity: float
    confidence: float
    recency: float
    centrality: float
    reinforcement: float
    lexical: float | None = None
    semantic: float | None = None
    nearby: float | None = None
    thread: float | None = None
    speaker: float | None = None
    date: float | None = None
    time_words: float | None = None
    asks: float | None = None
    tells_time: float | None = None
    word_for_word: float | None = None


@made_when_read("signals", "why")
@dataclass(frozen=True, slots=True)
class ScoredBlock:
    """A memory as scored for one request; `match` is None where no question was asked."""

    memory: Memory
    score: float
    signals: Signals
    was_expanded: bool = False
    guaranteed: bool = False
    disputed: bool = False
    why: tuple[str, ...] = ()
    match: Match | None = None

    @property
    def pak_id(self) -> str:
        """The memory's id."""
        return self.memory.pak_id

    @property
    def expanded(self) -> bool:
        """Whether it was reached along a link."""
        return self.was_expanded

    @property
    def content(self) -> str:
        """The memory's text."""
        return self.memory.content


@dataclass(frozen=True, slots=True)
class Dropped:
    """A memory that was considered and left out: at which stage, for what reason.

    What a window of time left out is told together: without an id, and with a `count`.
    """

    pak_id: str
    stage: str
    reason: str
    count: int | None = None


@made_when_read("why", "signals")
@dataclass(frozen=True, slots=True)
class RecallResult:
    """One line of an answer. `risk` names the shapes of injection that its text holds.

    `expanded`: it was reached along a link. `guaranteed`: the frame promises it by its tag.
    `disputed`: it lost an open dispute and is here because it is guaranteed. `match` is how well it
    fits the question, None where there was none.
    """

    fact: Memory
    score: float
    why: tuple[str, ...]
    signals: Signals
    risk: tuple[str, ...] = ()
    expanded: bool = False
    guaranteed: bool = False
    disputed: bool = False
    match: Match | None = None


@made_when_read("query", "dropped")
@dataclass(frozen=True, slots=True)
class RecallResponse:
    """What `recall` returns. `degraded` names the sources that could not take part.

    `instructions` are memories that tell a model what to do; they never stand among `results`.
    """

    results: tuple[RecallResult, ...]
    instructions: tuple[RecallResult, ...]
    generated_at: str
    query: dict[str, Any]
    tokens_used: int
    truncated: bool
    degraded: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    meta: dict[str, Any] = field(default_factory=lambda: {"diagnostic": {}})

    @property
    def match(self) -> Match | None:
        """How well the best of the results fits; None without a question, or without results."""
        found = {one.match for one in self.results}
        return next((word for word in reversed(MATCHES) if word in found), None)

    @property
    def recall_id(self) -> str:
        """The name of this answer: a digest of it, so equal answers have equal names.

        How long hooks took is no part of it.
        """
        return _name_of(_plain(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        shown = _plain(self)
        # What hooks took is taken out for the name, and only where there were any.
        name = self.recall_id if shown["meta"].get("hooks") else _name_of(shown)
        return {**shown, "match": self.match, "recall_id": name}


@dataclass(frozen=True, slots=True)
class PackageFlag:
    """What to be careful of in a package as a whole, and how badly: info, warn or block."""

    risk_flag: str
    severity: str


@dataclass(frozen=True, slots=True)
class FrameResult:
    """What `frame` returns: the prompt text, the blocks behind it, and what was left out.

    `flags` describe the package as a whole, the loudest first. `recall_id` is the name of this
    answer where a receipt of it is kept.
    """

    text: str
    blocks: tuple[ScoredBlock, ...]
    frame_name: str
    cached: bool
    tokens_used: int
    token_budget: int
    over_budget: bool
    dropped: tuple[Dropped, ...]
    degraded: tuple[str, ...]
    flags: tuple[PackageFlag, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict, hash=False)
    recall_id: str | None = None

    @property
    def empty_because(self) -> str | None:
        """Why nothing is in it, if a window of time left out all that there was."""
        windows = [one for one in self.dropped if one.stage == "window"]
        if self.blocks or not windows:
            return None
        return "; ".join(f"{one.count} {one.reason}" for one in windows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; `meta` only when a hook had a part in it."""
        told = _plain(self)
        if self.empty_because is not None:
            told["empty_because"] = self.empty_because
        return {name: one for name, one in told.items() if name not in _NOT_OF_ALL or one}


# What only some frames say.
_NOT_OF_ALL = ("meta", "recall_id")


def canonical_json(answer: RecallResponse | FrameResult) -> str:
    """Return an answer as JSON with one spelling: sorted keys, no spaces, shortest numbers."""
    return _json(answer.to_dict())


def name_of_frame(answer: FrameResult, asked: object) -> str:
    """Return a name for a frame: a digest of it, and of who asked what, and when."""
    return _name_of({**_plain(answer), "recall_id": asked})


def _name_of(shown: dict[str, Any]) -> str:
    for run in shown["meta"].get("hooks", ()):
        del run["ms"]
    return f"recall_{blake2b(_json(shown).encode(), digest_size=12).hexdigest()}"


def _plain(answer: RecallResponse | FrameResult) -> dict[str, Any]:
    """Return an answer as plain data; what says nothing, and is not in all answers, is left out."""
    shown: dict[str, Any] = as_plain(answer)
    told = (*shown.get("results", ()), *shown.get("instructions", ()), *shown.get("blocks", ()))
    for one in told:
        without_silent(one["fact"] if "fact" in one else one["memory"])
    for one in shown["dropped"]:
        if one["count"] is None:
            del one["count"]
    return shown


def _json(data: object) -> str:
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
