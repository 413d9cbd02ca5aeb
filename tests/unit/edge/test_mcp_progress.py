"""How far a call is is told while it goes on, and each time it is further."""

from __future__ import annotations

import anyio
import anyio.to_thread

from recollect.edge.mcp.progress import told_meanwhile


def test_a_call_that_cannot_say_how_far_it_is_tells_how_long_it_has_been() -> None:
    async def story() -> list[float]:
        heard: list[float] = []
        enough = anyio.Event()

        async def tell(done: float, total: float | None, message: str | None) -> None:
            assert (total, message) == (None, "working")
            heard.append(done)
            if len(heard) == 3:
                enough.set()

        async with told_meanwhile(tell, every_s=0.001):
            await enough.wait()
        return heard

    heard = anyio.run(story)
    assert heard[:3] == sorted(set(heard[:3]))


def test_the_last_word_is_how_much_was_done_and_no_word_goes_back() -> None:
    async def story() -> list[tuple[float, float | None]]:
        heard: list[tuple[float, float | None]] = []

        async def tell(done: float, total: float | None, message: str | None) -> None:
            heard.append((done, total))

        async with told_meanwhile(tell, every_s=60) as far:
            await anyio.to_thread.run_sync(far, 3, 7)
            await anyio.to_thread.run_sync(far, 7, 7)
        async with told_meanwhile(tell, every_s=60):
            pass
        return heard

    assert anyio.run(story) == [(7.0, 7.0)]
