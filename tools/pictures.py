"""The pictures of the inspector in the documents, taken anew: `python -m tools.pictures`.

In: the sample shop, served here, and the Chromium of the tests. Out: PNG files in docs/images. Look
at each of them before you keep it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from tests.e2e.inspector.stores import Site, shop_site

from recollect.model import PERMISSIONS, Principal
from recollect.values import dataclass
from tools.chromium import fetch

__all__ = ["PICTURES", "take"]

_FOLDER = Path(__file__).parent.parent / "docs" / "images"
_ASKED = "query=Card+payment+timed+out%3A+send+it+again%3F"


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, and how it is looked at."""

    path: str
    width: int = 1180
    height: int = 760
    dark: bool = False


PICTURES = {
    # First, while nobody has asked anything yet: how long that took is of the machine.
    "inspector-activity": Picture("/activity", height=460),
    "inspector-ask": Picture(f"/ask?{_ASKED}", height=820),
    "inspector-why-not": Picture(f"/ask?{_ASKED}&top_k=3&why=payments-provider", dark=True),
    "inspector-beside": Picture("/ask?query=card+payment&b_frame=task", height=820),
    "inspector-frame": Picture("/frame?name=task&query=retry+failed+card+payments&r_budget=120"),
    "inspector-memory": Picture("/pak/payments-retry-limit", height=1000),
    "inspector-phone": Picture(f"/ask?{_ASKED}", width=390, height=800),
    "inspector-keep": Picture("/keep"),
    "inspector-conversation": Picture("/threads/blue%20glaze", dark=True),
    "inspector-forget": Picture("/forget?project=payments"),
    "inspector-timeline": Picture("/timeline?since=2026-02-01&until=2026-02-28", dark=True),
    "inspector-quarantine": Picture("/quarantine", height=460),
}


def take(names: list[str]) -> None:
    """Take the pictures of these names, or all."""
    here = fetch()
    _FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(here.program),
            args=["--no-sandbox", "--font-render-hinting=none"],
            env={**os.environ, **here.environment},
        )
        with shop_site(Path(folder) / "shop.db", receipts=True) as site:
            _live(site)
            for name in names or PICTURES:
                picture = PICTURES[name]
                context = browser.new_context(
                    base_url=site.url,
                    viewport={"width": picture.width, "height": picture.height},
                    color_scheme="dark" if picture.dark else "light",
                )
                context.add_cookies([site.cookie("admin")])
                page = context.new_page()
                page.goto(picture.path)
                page.screenshot(path=_FOLDER / f"{name}.png")
                context.close()
        browser.close()


def _live(site: Site) -> None:
    """Let something happen to a memory, so that there is something to see."""
    admin = site.memory.as_principal(Principal("local", "admin", (), PERMISSIONS))
    admin.update(
        "payments-retry-limit",
        content="A failed card payment is tried again after 3 seconds and after 9, never more."
        " After that the order stays open for a day and the order page offers to pay again.",
    )
    note = "Was it tried again without a key?"
    admin.dispute("payments-retry-limit", "payments-double-charge", note=note)
    admin.frame("task", "retry failed card payments")


if __name__ == "__main__":
    take(sys.argv[1:])
