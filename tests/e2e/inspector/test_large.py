"""A store of a hundred thousand memories is browsed like one of ten."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect
from tests.e2e.inspector.browsing import grave, is_too_wide
from tests.e2e.inspector.conftest import Visit
from tests.e2e.inspector.stores import Site, site_of

from recollect import Recollect
from recollect.testing import FakeEmbedder

SIZE = 100_000


class Indifferent(FakeEmbedder):
    """Takes all texts for equally alike: words alone decide, and nothing is worked out."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), self.dimension), np.float32)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    path = tmp_path_factory.mktemp("large") / "large.db"
    memory = Recollect.open(path, embedder=Indifferent(4), links=False, cache_file=False)
    memory.remember_many(
        [
            {
                "content": f"Order {number} left in box {number % 977}.",
                "thread": f"day {number % 300}",
                "tags": [f"lane {number % 20}"],
                "occurred_at": f"202{number % 6}-{1 + number % 12:02}-{1 + number % 28:02}",
                "scope": "company",
            }
            for number in range(SIZE)
        ]
    )
    # The index, and what lists count by, are made here: the test is about pages.
    memory.list(limit=1, counts=True)
    with site_of(memory, seconds=120.0) as site:
        yield site


@pytest.mark.soak
@pytest.mark.timeout(1_200)
def test_a_hundred_thousand_memories_are_browsed_paged_and_found(large: Site, visit: Visit) -> None:
    page = visit(large, "/keep", phone=True, dark=True)
    expect(page.locator(".head")).to_contain_text("100,000 can be read")
    assert grave(page, "color-contrast") == []
    assert not is_too_wide(page)
    seen: set[str] = set()
    for _ in range(3):
        seen |= set(page.locator(".rows .pak").all_inner_texts())
        with page.expect_navigation():
            page.get_by_role("link", name="Next page").click()
    assert len(seen) == 3 * 20
    page.goto("/keep?words=order+54321")
    expect(page.locator(".rows > li").first).to_contain_text("Order 54321 ")
    page.goto("/threads")
    expect(page.locator(".head")).to_contain_text("300")
    page.get_by_role("link", name="day 17", exact=True).click()
    expect(page.locator(".head")).to_contain_text("334 turns")
    expect(page.locator(".turn")).to_have_count(40)
    page.get_by_role("link", name="Next page").click()
    expect(page.locator(".turn").first).to_contain_text("Order 12017 ")
    page.goto("/timeline")
    assert page.get_by_label(re.compile(r"^202[0-5]: 16,66[67]$")).count() == 6
    page.goto("/activity")
    expect(page.locator(".tiles")).to_contain_text("100,000")
