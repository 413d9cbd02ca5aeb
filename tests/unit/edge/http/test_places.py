from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from recollect.edge.http.places import Gone, Places
from recollect.errors import ServerBusy, ServerTooSlow

AT_MOST_S = 10


def _in(
    act: Callable[[Places], Coroutine[Any, Any, Any]],
    *,
    at_once: int = 1,
    waiting: int = 100,
    seconds: float = AT_MOST_S,
) -> Any:
    async def main() -> Any:
        places = Places(at_once=at_once, waiting=waiting, seconds=seconds)
        try:
            return await asyncio.wait_for(act(places), AT_MOST_S)
        finally:
            places.close()

    return asyncio.run(main())


def test_each_of_many_is_given_its_own_answer() -> None:
    async def act(places: Places) -> list[int]:
        calls = [places.run(lambda number=number: number) for number in range(60)]
        return list(await asyncio.gather(*calls))

    assert _in(act, at_once=4) == list(range(60))


def test_an_answer_is_told_though_many_wait_behind_a_long_call() -> None:
    """Answers are told a few at a time: one that is ready does not wait for a call without end."""
    may_end = threading.Event()

    async def act(places: Places) -> int:
        first = asyncio.ensure_future(places.run(lambda: 1))
        rest = [asyncio.ensure_future(places.run(may_end.wait)) for _ in range(10)]
        found = await first
        may_end.set()
        await asyncio.gather(*rest)
        return found

    assert _in(act) == 1


def test_an_error_comes_to_who_waits_for_it() -> None:
    async def act(places: Places) -> None:
        await places.run(lambda: int("no number"))

    with pytest.raises(ValueError, match="no number"):
        _in(act)


def test_a_full_house_hears_so_at_once_and_a_place_is_free_again() -> None:
    may_end = threading.Event()

    async def act(places: Places) -> tuple[int, bool]:
        under_way = [asyncio.ensure_future(places.run(may_end.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(ServerBusy):
            await places.run(lambda: None)
        may_end.set()
        await asyncio.gather(*under_way)
        return places.taken, await places.run(lambda: True)

    assert _in(act, waiting=1) == (0, True)


def test_who_goes_away_while_waiting_frees_the_place_and_nothing_is_done() -> None:
    may_end, done = threading.Event(), threading.Event()

    async def gone() -> None:
        return

    async def act(places: Places) -> tuple[int, bool]:
        long = asyncio.ensure_future(places.run(may_end.wait))
        await asyncio.sleep(0)
        with pytest.raises(Gone):
            await places.run(done.set, gone=gone)
        taken = places.taken
        may_end.set()
        await long
        return taken, done.is_set()

    assert _in(act) == (1, False)


def test_what_takes_too_long_is_told_so_and_keeps_its_place_until_it_is_done() -> None:
    may_end = threading.Event()

    async def act(places: Places) -> int:
        with pytest.raises(ServerTooSlow):
            await places.run(may_end.wait)
        taken = places.taken
        may_end.set()
        while places.taken:
            await asyncio.sleep(0.01)
        return taken

    assert _in(act, seconds=0.05) == 1
