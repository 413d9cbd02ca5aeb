"""Answers taken apart, for people: each score by its signals, the stages as a funnel, two beside.

In: answers as the verbs give them. Out: the same with what follows from them. Nothing is asked,
and nothing is added that the answer does not say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from recollect.edge.inspector.marks import shared
from recollect.edge.inspector.page import Data
from recollect.recall.pack import count_tokens

__all__ = [
    "CANDIDATES",
    "SIGNALS",
    "as_result",
    "beside",
    "funnel",
    "kept_at",
    "scored",
    "weights_of",
]

SIGNALS = ("similarity", "confidence", "recency", "centrality", "reinforcement")
CANDIDATES = "candidates"
NO_FLAGS: Mapping[str, Sequence[str]] = {}

# In the order in which an answer passes them: what each is called, and what it leaves out.
_STAGES = (
    ("suppress", "Disputes", "of two that contradict each other, the better one stays"),
    ("min_score", "Least score", "what scores less than was asked for is left out"),
    ("min_match", "Least match", "what fits less well than was asked for is left out"),
    ("diversity", "Repeats", "what says the same waits behind what is new"),
    ("top_k", "How many", "the best are taken, as many as were asked for"),
    ("budget", "Token budget", "whole memories are taken while they fit"),
)


def weights_of(frame: Data, *, has_query: bool) -> dict[str, float]:
    """Return what each signal counts; without a question similarity's share is dealt out."""
    weights: dict[str, float] = frame["weights"]
    if has_query:
        return weights
    rest = sum(one for name, one in weights.items() if name != "similarity")
    return {
        name: 0.0 if name == "similarity" or not rest else one / rest
        for name, one in weights.items()
    }


def scored(
    result: Data,
    weights: Mapping[str, float],
    question: str | None,
    flagged: Mapping[str, Sequence[str]] = NO_FLAGS,
) -> Data:
    """Return a result with its score taken apart, words that it shares, tokens, risk flags."""
    return {
        **result,
        "flags": [flag for flag, ids in flagged.items() if result["fact"]["pak_id"] in ids],
        "parts": [
            {
                "name": name,
                "value": result["signals"][name],
                "weight": weights[name],
                "contribution": result["signals"][name] * weights[name],
            }
            for name in SIGNALS
        ],
        "matched": shared(result["fact"]["content"], question),
        "tokens": count_tokens(result["fact"]["content"]),
    }


def as_result(block: Data) -> Data:
    """Return a block of a frame as a recall gives its results."""
    memory = block["memory"]
    return {**block, "fact": memory, "risk": memory["risks"], "expanded": block["was_expanded"]}


def funnel(given: int, dropped: Sequence[Data], memories: int) -> list[Data]:
    """Return the stages: how many each kept, and what it dropped."""
    by_stage = Counter(one["stage"] for one in dropped if one["stage"] != "window")
    left = given + by_stage.total()
    out_of_window = sum(one.get("count") or 1 for one in dropped if one["stage"] == "window")
    stages = [_stage("readable", "Readable", "what this principal may read", memories, 0)]
    if out_of_window:
        within = max(left, memories - out_of_window)
        stages.append(_stage("window", "Time", "too long ago", within, out_of_window))
    reason = "what has nothing in common with the question, ended, or is filtered out"
    before = stages[-1]["kept"]
    stages.append(_stage(CANDIDATES, "Candidates", reason, left, before - left))
    known = {name for name, _, _ in _STAGES}
    more = tuple((name, name, "") for name in by_stage if name not in known)
    for name, label, says in (*_STAGES, *more):
        if by_stage[name]:
            left -= by_stage[name]
            stages.append(_stage(name, label, says, left, by_stage[name]))
    return stages


def kept_at(name: str, stages: Sequence[Data], answer: Data) -> list[Data]:
    """Return what a stage kept: what was given, and what a later one left out, with its label."""
    names = [one["stage"] for one in stages]
    later = {one["stage"]: one["label"] for one in stages[names.index(name) + 1 :]}
    given = [*answer["instructions"], *answer["results"]]
    return [
        *({"pak_id": one["fact"]["pak_id"], "left_out": None} for one in given),
        *(
            {"pak_id": one["pak_id"], "left_out": later[one["stage"]]}
            for one in answer["dropped"]
            if one["stage"] in later and one["pak_id"]
        ),
    ]


def _stage(name: str, label: str, says: str, kept: int, dropped: int) -> Data:
    return {
        "stage": name,
        "label": label,
        "says": says,
        "kept": kept,
        "dropped": max(0, dropped),
    }


def beside(results: Sequence[Data], others: Sequence[Data]) -> list[Data]:
    """Return results, each with what became of it in the other answer."""
    places = {_id(one): number for number, one in enumerate(others, start=1)}
    return [
        {**one, "place": number, "other_place": places.get(_id(one))}
        for number, one in enumerate(results, start=1)
    ]


def _id(result: Data) -> str:
    pak_id: str = result.get("fact", result)["pak_id"]
    return pak_id
