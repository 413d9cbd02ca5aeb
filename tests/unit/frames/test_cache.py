from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace

import pytest
from tests.unit.recall.builders import block

from recollect.frames import ATTENTION_FRAME, SELF_FRAME, CacheKey, FrameCache
from recollect.model import FrameResult

KEY = CacheKey(
    frame=SELF_FRAME, tenant="acme", principal="ann", query=None, top_k=5, token_budget=600
)
RESULT = FrameResult(
    text="## Identity\n- I am.",
    blocks=(block("a", "I am."),),
    frame_name="self",
    cached=False,
    tokens_used=5,
    token_budget=600,
    over_budget=False,
    dropped=(),
    degraded=(),
)


@pytest.fixture
def cache() -> FrameCache:
    cache = FrameCache()
    cache.put(KEY, RESULT, now=100.0, ttl_seconds=3600, token=("r", 1))
    return cache


def test_a_hit_equals_the_miss_but_says_that_it_is_cached(cache: FrameCache) -> None:
    hit = cache.get(KEY, now=200.0, token=("r", 1))

    assert hit is not None
    assert hit.cached
    assert replace(hit, cached=False) == RESULT
    assert not RESULT.cached


def test_a_hit_cannot_be_changed(cache: FrameCache) -> None:
    hit = cache.get(KEY, now=200.0, token=("r", 1))
    assert hit is not None

    with pytest.raises(FrozenInstanceError):
        hit.text = "other"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        hit.blocks[0].memory.content = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, frame=ATTENTION_FRAME),
        replace(KEY, frame=replace(SELF_FRAME, guarantees=())),
        replace(KEY, principal="bob"),
        replace(KEY, query="redis"),
        replace(KEY, query=""),
        replace(KEY, top_k=6),
        replace(KEY, token_budget=601),
    ],
)
def test_whatever_an_answer_depends_on_is_part_of_the_key(
    cache: FrameCache, other: CacheKey
) -> None:
    assert cache.get(other, now=200.0, token=("r", 1)) is None
    assert cache.get(KEY, now=200.0, token=("r", 1)) is not None


def test_an_answer_lives_up_to_its_time(cache: FrameCache) -> None:
    assert cache.get(KEY, now=3699.9, token=("r", 1)) is not None
    assert cache.get(KEY, now=3700.0, token=("r", 1)) is None


def test_another_token_ends_an_answer_for_good(cache: FrameCache) -> None:
    assert cache.get(KEY, now=200.0, token=("r", 2)) is None
    assert cache.get(KEY, now=200.0, token=("r", 1)) is None
    assert len(cache) == 0


def test_a_later_answer_takes_the_place_of_an_earlier(cache: FrameCache) -> None:
    cache.put(KEY, replace(RESULT, text="new"), now=200.0, ttl_seconds=10, token=("r", 2))

    hit = cache.get(KEY, now=205.0, token=("r", 2))

    assert hit is not None
    assert hit.text == "new"
    assert len(cache) == 1


def test_the_least_recently_used_answer_goes_first() -> None:
    cache = FrameCache(most_entries=2)
    first, second, third = (replace(KEY, top_k=k) for k in (1, 2, 3))
    for key in (first, second):
        cache.put(key, RESULT, now=0.0, ttl_seconds=10, token=0)
    cache.get(first, now=1.0, token=0)

    cache.put(third, RESULT, now=1.0, ttl_seconds=10, token=0)

    assert cache.get(second, now=1.0, token=0) is None
    assert cache.get(first, now=1.0, token=0) is not None
    assert cache.get(third, now=1.0, token=0) is not None


def test_it_holds_128_answers_unless_told() -> None:
    cache = FrameCache()
    for k in range(1000):
        cache.put(replace(KEY, top_k=k), RESULT, now=0.0, ttl_seconds=10, token=0)

    assert len(cache) == 128


def test_clearing_lets_go_of_everything(cache: FrameCache) -> None:
    cache.clear()

    assert len(cache) == 0
    assert cache.get(KEY, now=200.0, token=("r", 1)) is None


def test_threads_may_share_it() -> None:
    cache = FrameCache(most_entries=8)

    def work(seed: int) -> None:
        for step in range(500):
            key = replace(KEY, top_k=(seed * 7 + step) % 20)
            cache.put(
                key, replace(RESULT, frame_name=str(key.top_k)), now=0.0, ttl_seconds=9, token=0
            )
            hit = cache.get(key, now=1.0, token=0)
            assert hit is None or hit.frame_name == str(key.top_k)

    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(work, range(8)):
            pass

    assert len(cache) == 8


def test_answers_of_one_frame_in_one_tenant_are_let_go(cache: FrameCache) -> None:
    others = (
        replace(KEY, frame=ATTENTION_FRAME),
        replace(KEY, tenant="globex"),
    )
    same = (replace(KEY, query="redis"), replace(KEY, principal="bob"))
    for key in (*others, *same):
        cache.put(key, RESULT, now=100.0, ttl_seconds=3600, token=("r", 1))
    cache.invalidate("self", tenant="acme")
    for key in (KEY, *same):
        assert cache.get(key, now=200.0, token=("r", 1)) is None
    for key in others:
        assert cache.get(key, now=200.0, token=("r", 1)) is not None


def test_whoever_asks_has_room_of_its_own() -> None:
    cache = FrameCache(most_entries=2)
    cache.put(KEY, RESULT, now=0.0, ttl_seconds=10, token=0)
    for number in range(9):
        for other in (replace(KEY, principal="bob"), replace(KEY, tenant="globex")):
            cache.put(replace(other, top_k=number), RESULT, now=0.0, ttl_seconds=10, token=0)

    assert cache.get(KEY, now=1.0, token=0) is not None
    assert len(cache) == 5


def test_what_is_too_old_goes_also_if_nobody_asks_again() -> None:
    cache = FrameCache()
    for number in range(5):
        cache.put(replace(KEY, principal=number), RESULT, now=0.0, ttl_seconds=10, token=0)
    for _ in range(6):
        cache.put(KEY, RESULT, now=11.0, ttl_seconds=10, token=0)

    assert len(cache) == 1
