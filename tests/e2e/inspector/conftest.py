"""One browser for all tests of a process, one server for those of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests.e2e.inspector.browsing import DESK, PHONE, Loop, Watched, launched
from tests.e2e.inspector.stores import Site, shop_site

Visit = Callable[..., Page]


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, Loop]]:
    with launched() as started:
        yield started


@pytest.fixture
def browser(chromium: tuple[Browser, Loop]) -> Iterator[Browser]:
    """The browser, with its loop on the thread for as long as the test takes."""
    started, loop = chromium
    loop.back()
    yield started
    loop.aside()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The sample shop, served; with an admin, a reader, and things to look after."""
    with shop_site(tmp_path_factory.mktemp("shop") / "shop.db") as site:
        yield site


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open a page of a site, signed in with a key; `phone`, `dark`, `scripts` say how."""
    opened: list[Watched] = []

    def go(
        site: Site,
        path: str,
        *,
        key: str | None = "admin",
        phone: bool = False,
        dark: bool = False,
        scripts: bool = True,
        **how: Any,
    ) -> Page:
        watched = Watched(
            browser,
            site.url,
            viewport=PHONE if phone else DESK,
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            **how,
        )
        opened.append(watched)
        if key is not None:
            watched.context.add_cookies([site.cookie(key)])
        page = watched.page()
        page.goto(path)
        return page

    yield go
    for watched in opened:
        watched.close()
