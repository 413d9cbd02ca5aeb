"""A browser that watches itself: what goes wrong on a page fails the test, whatever it was about.

Nothing on the console, no exception of a script, no break of the Content-Security-Policy, and no
request to anywhere but the server.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    expect,
)
from playwright.sync_api import sync_playwright as start_playwright
from tools.chromium import cannot_be_had, find

# Violations of a policy are said as errors of the console; this says them in any case.
_HEAR = """
document.addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
});
"""
_GRAVE = ("serious", "critical")
expect.set_options(timeout=30_000)
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 860}


class Loop:
    """The loop of Playwright's blocking interface, put aside while others start theirs.

    It stays on the thread that started it, and as long as it is there nobody else may run one.
    """

    def __init__(self) -> None:
        self._loop: Any = None

    def aside(self) -> None:
        self._loop = asyncio._get_running_loop()
        asyncio._set_running_loop(None)

    def back(self) -> None:
        asyncio._set_running_loop(self._loop)


@contextmanager
def launched() -> Iterator[tuple[Browser, Loop]]:
    """Start the browser; without one, skip, or fail under CI."""
    here = find()
    if here is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(cannot_be_had())
    loop = Loop()
    with start_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(here.program),
            args=["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
            env={**os.environ, **here.environment},
        )
        loop.aside()
        try:
            yield browser, loop
        finally:
            loop.back()
            browser.close()


class Watched:
    """A context of its own in the browser: cookies, a size, colours; and what went wrong in it."""

    def __init__(self, browser: Browser, site: str, **how: Any) -> None:
        given = {"viewport": DESK, "reduced_motion": "reduce", "locale": "en-GB", **how}
        self.context: BrowserContext = browser.new_context(base_url=site, **given)
        self.context.set_default_timeout(90_000)
        self.context.add_init_script(_HEAR)
        self.site = site
        self.complaints: list[str] = []
        self._documents: set[str] = set()
        self.context.on("console", self._heard)
        self.context.on("weberror", lambda error: self.complaints.append(f"script: {error.error}"))
        self.context.on("request", self._asked)

    def page(self) -> Page:
        return self.context.new_page()

    def close(self) -> None:
        self.context.close()
        assert self.complaints == [], self.complaints

    def _asked(self, request: Request) -> None:
        if request.resource_type == "document":
            self._documents.add(request.url)
        if not request.url.startswith((f"{self.site}/", "data:")):
            self.complaints.append(f"elsewhere: {request.url[:200]}")

    def _heard(self, message: ConsoleMessage) -> None:
        # A page that says 403 or 404 is a page all the same; what it loads must be there. For an
        # answer that is no page the browser itself asks for an icon.
        is_page = message.text.startswith("Failed to load resource") and (
            message.location["url"] in {*self._documents, f"{self.site}/favicon.ico"}
        )
        if message.type in ("error", "warning") and not is_page:
            self.complaints.append(f"console: {message.text[:300]}")


def press(page: Page, *keys: str) -> None:
    """Press keys, once the page listens: its script is there later than its text."""
    listens(page)
    for key in keys:
        page.keyboard.press(key)


def listens(page: Page) -> None:
    """Wait until the script of the page that is open now hears keys."""
    page.locator("html[data-listens]").wait_for(state="attached")


def grave(page: Page, *rules: str) -> list[str]:
    """Return what axe finds serious, or worse; of some rules, or of all."""
    only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else None
    found = Axe().run(page, options=only).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]}"
        for one in found
        if one["impact"] in _GRAVE
        for node in one["nodes"]
    ]


def is_too_wide(page: Page) -> bool:
    """Return whether a page has to be moved sideways to be read."""
    return bool(
        page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    )


def in_thread(act: Any) -> Any:
    """Return what is done in a thread of its own, where no loop runs."""
    found: list[Any] = []
    worker = threading.Thread(target=lambda: found.append(act()))
    worker.start()
    worker.join()
    return found[0]


def grave_in_both(page: Page) -> list[str]:
    """Return what axe finds serious in the light, and what cannot be read in the dark."""
    found = grave(page)
    page.emulate_media(color_scheme="dark")
    found += grave(page, "color-contrast")
    page.emulate_media(color_scheme="light")
    return found
