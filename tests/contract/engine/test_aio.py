"""`AsyncRecollect`: the same verbs with the same signatures, awaited, and they work."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from recollect import AsyncRecollect, Recollect, RecollectError
from recollect.policy import Principal
from recollect.testing import FakeClock, FakeEmbedder

VERBS = sorted(
    name
    for name, member in inspect.getmembers(Recollect)
    if callable(member) and not name.startswith("_")
)
PROPERTIES = sorted(
    name
    for name, member in inspect.getmembers(Recollect, lambda member: isinstance(member, property))
    if not name.startswith("_")
)


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_its_twin_with_the_same_parameters(verb: str) -> None:
    ours = inspect.signature(getattr(Recollect, verb)).parameters
    theirs = inspect.signature(getattr(AsyncRecollect, verb)).parameters
    assert list(theirs.values()) == list(ours.values())
    streams = inspect.isgeneratorfunction(getattr(Recollect, verb))
    awaited = inspect.isasyncgenfunction if streams else inspect.iscoroutinefunction
    assert awaited(getattr(AsyncRecollect, verb))


def test_there_is_no_verb_too_many_and_the_properties_are_there() -> None:
    public = {name for name in dir(AsyncRecollect) if not name.startswith("_")}
    assert public == {*VERBS, *PROPERTIES}


def test_the_verbs_work_awaited_and_at_once(tmp_path: Path) -> None:
    async def story() -> list[str]:
        embedder, clock = FakeEmbedder(), FakeClock()
        async with await AsyncRecollect.open(
            tmp_path / "a.db", embedder=embedder, clock=clock
        ) as memory:
            await asyncio.gather(
                *(memory.remember(f"queue {n}", pak_id=f"p{n}") for n in range(20))
            )
            await memory.link("p0", "p1", weight=0.5)
            await memory.forget("p19")
            answers = await asyncio.gather(*(memory.recall("queue") for _ in range(10)))
            assert all(answer == answers[0] for answer in answers)
            assert (await memory.frame("attention", "queue")).blocks
            assert (await memory.get("p0")).pak_id == "p0"
            assert len((await memory.list(limit=50)).items) == 19
            memory.frames.register("mine", extends="task")
            assert memory.paks.get_pak("p0") is not None
            assert memory.path == tmp_path / "a.db"
            assert await memory.check() == ()
            ann = await memory.as_principal(Principal("acme", "ann"))
            await ann.remember("a secret of ann's")
            assert len([line async for line in ann.export()]) == 1
            assert len([line async for line in memory.export(ann.principal)]) == 1
            with pytest.raises(RecollectError):
                await memory.remember("  ")
            return [result.fact.pak_id for result in answers[0].results]

    awaited = asyncio.run(story())
    with Recollect.open(tmp_path / "a.db", embedder=FakeEmbedder(), clock=FakeClock()) as memory:
        assert memory.frames.get("mine").source == "user"
        assert memory.stats()["memories"] == 20
        assert len(memory.list(limit=50).items) == 19
        assert len(awaited) == 5
