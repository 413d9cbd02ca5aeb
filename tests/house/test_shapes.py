"""The way of a recall, by the types of its stages: how many shapes it takes, and which."""

from __future__ import annotations

import ast
import dataclasses
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.house.snippets import ROOT

from recollect.model import RecallRequest
from recollect.recall import pipeline, respond
from recollect.recall.authorise import authorise
from recollect.recall.candidates import find_candidates
from recollect.recall.guarantee import guarantee
from recollect.recall.hydrate import hydrate
from recollect.recall.pack import pack
from recollect.recall.rank import rank
from recollect.recall.suppress import suppress

MOST = 12
WAY = (
    "RecallRequest",
    "Authorised",
    "Candidates",
    "Ranking",
    "Ranked",
    "Settled",
    "Chosen",
    "ScoredBlock",
    "Packed",
    "Trace",
    "RecallResult",
    "RecallResponse",
)
STAGES = (
    authorise,
    find_candidates,
    rank,
    suppress,
    guarantee,
    hydrate,
    pack,
    pipeline.run,
    respond.response,
)
# What a shape holds and no stage makes: the words of the product, and where the reads go.
PARTS = {
    "Dropped",
    "FrameDefinition",
    "Lexical",
    "Likeness",
    "Memory",
    "Moment",
    "Question",
    "Selection",
    "Sequence",
    "Sight",
    "SignalColumns",
    "Signals",
    "Sources",
    "Table",
    "Tables",
    "TimeAsked",
    "Weights",
}


def ours_in(hint: object) -> Iterator[type]:
    """Yield the classes of ours that a type hint names, inside of tuples, unions and mappings."""
    if isinstance(hint, type) and hint.__module__.startswith("recollect."):
        yield hint
    for part in typing.get_args(hint):
        yield from ours_in(part)


def is_value(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


def shapes() -> Iterator[str]:
    """Yield each shape once: what the request is, what each stage returns, and what that holds."""
    made: list[type] = [RecallRequest]
    for stage in STAGES:
        hints = typing.get_type_hints(stage, known_in(stage.__module__))
        made += ours_in(hints["return"])
    seen: set[type] = set()
    while made:
        kind = made.pop(0)
        if kind in seen or not is_value(kind) or kind.__name__ in PARTS:
            continue
        seen.add(kind)
        yield kind.__name__
        made += [one for hint in hints_of(kind) for one in ours_in(hint)]


def hints_of(kind: type) -> list[object]:
    if kind is RecallRequest:
        return []
    return list(typing.get_type_hints(kind, known_in(kind.__module__)).values())


def known_in(module: str) -> dict[str, object]:
    """Return what a module's annotations may name, with what it imports for type checkers alone."""
    source = Path(sys.modules[module].__file__).read_text(encoding="utf-8")
    found: dict[str, object] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module, "exec"), found)
    return {**found, **vars(sys.modules[module])}


def test_a_recall_takes_the_shapes_that_are_listed_and_no_others() -> None:
    found = list(shapes())
    assert sorted(found) == sorted(WAY)
    assert len(found) <= MOST


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__module__.rpartition(".")[2])
def test_no_stage_answers_with_the_type_that_it_takes(stage: object) -> None:
    hints = typing.get_type_hints(stage, known_in(stage.__module__))
    returned = set(ours_in(hints.pop("return")))
    assert returned
    assert not returned & {one for hint in hints.values() for one in ours_in(hint)}


PURE = (
    "blocks",
    "diversify",
    "guarantee",
    "hydrate",
    "inflection",
    "pack",
    "rank",
    "render",
    "repeats",
    "same",
    "score",
    "similarity",
    "suppress",
    "why",
)


@pytest.mark.parametrize("stage", PURE)
def test_a_pure_stage_is_given_nothing_to_call_but_a_counter_of_tokens(stage: str) -> None:
    source = (ROOT / f"src/recollect/recall/{stage}.py").read_text(encoding="utf-8")
    callables = [
        argument.arg
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        for argument in (*node.args.args, *node.args.kwonlyargs)
        if argument.annotation is not None and "Callable" in ast.unparse(argument.annotation)
    ]
    assert callables == []


# Filters whose names mean nothing else.
FILTERS = ("min_confidence", "include_quarantined")


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_of_recall_is_named_in_at_most_four_source_files(name: str) -> None:
    sources = ROOT / "src/recollect"
    named = {
        str(path.relative_to(sources))
        for path in sources.rglob("*.py")
        if name in path.read_text(encoding="utf-8")
    }
    # Declared and checked, put into the mask, in the signature, as an option.
    places = {"model/request.py", "recall/authorise.py", "engine.py"}
    assert named <= {*places, "edge/cli/options.py"}
    assert named >= places
