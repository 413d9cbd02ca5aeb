"""What a hook changed passes the same checks as a caller's words: what a verb refuses, no hook gets
written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from recollect import Recollect
from recollect.hooks import HookDenied
from recollect.hooks.sdk import modify

pytestmark = pytest.mark.usefixtures("patient_hooks")


def links(memory: Recollect) -> list[tuple[str, float]]:
    found = memory.inspect("a")
    assert found is not None
    return [(one.pak_id, one.weight) for one in found.links]


@pytest.fixture
def memory(open_memory: Callable[..., Recollect]) -> Recollect:
    memory = open_memory(links=False)
    memory.remember("the queue runs on redis", pak_id="a")
    memory.remember("the kiln is booked", pak_id="b")
    memory.link("a", "b", weight=0.75)
    return memory


@pytest.mark.parametrize("weight", [0, 0.0, -0.5, 1.5, float("nan"), True, "1", 10**400])
def test_a_weight_that_no_caller_may_give_leaves_a_link_as_it_was(
    memory: Recollect, weight: Any
) -> None:
    assert links(memory) == [("b", 0.75)]
    memory.hooks.register("pre_link", lambda _: modify(weight=weight), fail_mode="closed")
    with pytest.raises(HookDenied):
        memory.link("a", "b", weight=0.5)
    assert links(memory) == [("b", 0.75)]
