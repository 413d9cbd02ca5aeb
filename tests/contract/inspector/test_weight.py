"""What a page weighs: at most 40 KB without scripts, and 120 with all that it loads."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from tests.contract.inspector.conftest import OWNER, TOKEN

from recollect import Recollect
from recollect.edge.cli.demo_memory import fill
from recollect.edge.http.app import make_app
from recollect.edge.http.options import ServerOptions

PLAIN, ALL = 40_000, 120_000
_LOADED = re.compile(r'(?:href|src)="(/static/[^"]+)"')
SAID = (
    "Has the {} order been packed, or does it wait for the blue mugs that come from the kiln?",
    "It has. {} boxes go out at noon with the second van; the mugs follow on the 20th.",
    "A customer asks whether order {} can change its address once it is on its way to them.",
    "Changed, and noted under the ticket; they were told that it may come {} hours later.",
)
LONG = "Clean the booth, weigh the glaze, stir it for ten minutes and let it rest. " * 400
ASKED = "query=Card+payment+timed+out%3A+send+it+again%3F"
PATHS = (
    *("/ask", f"/ask?{ASKED}", f"/ask?{ASKED}&top_k=3&why=payments-provider"),
    *(f"/ask?{ASKED}&stage=candidates", f"/ask?{ASKED}&b_frame=task", "/ask?all=1"),
    *("/ask?query=booth+glaze+order", "/frame?name=task&query=card", "/frame?query=order&top_k=9"),
    *("/frame?name=task&query=card&r_budget=90", "/receipts", "/keep", "/keep?words=order+mugs"),
    *("/keep?project=shipping&speaker=Ines", "/keep?order=title", "/threads", "/threads/desk"),
    *("/threads/desk?turn=90", "/timeline", "/timeline?since=2026-03-01&until=2026-03-31"),
    *("/names/tag", "/names/project", "/forget", "/forget?project=shipping", "/forget?tag=old"),
    *("/quarantine", "/gardens", "/gardens/crew", "/trust", "/keys", "/disputes", "/audit"),
    *("/activity", "/hooks", "/pak/crate", "/pak/manual", "/pak/line", "/pak/payments-retry-limit"),
    *("/pak/nobody", "/sign-in"),
)


def _live(memory: Recollect) -> None:
    memory.remember_many(
        [
            {
                "content": SAID[number % 4].format(1_000 + number),
                "thread": "desk",
                "speaker": ("Ines", "Tom")[number % 2],
                "project": "shipping",
                "occurred_at": f"2026-03-{1 + number // 12:02}",
                "tags": [f"shelf {number % 30}", "orders"],
            }
            for number in range(120)
        ]
    )
    memory.remember("Order 4711 ships in a crate.", pak_id="crate", tags=["old"])
    for number in range(12):
        memory.update("crate", content=f"Order 4711 ships in {number} crates.", tags=["new"])
    memory.remember(LONG, pak_id="manual", title="Manual of the spray booth")
    memory.remember("x" * 1_000_000, pak_id="line")
    memory.gardens.create("crew", name="Kiln crew", scope="company")
    for number in range(30):
        memory.gardens.add("crew", f"somebody {number}", role="writer")
        memory.trust.set(f"source {number}", 0.2)
    facts = [{"entity": f"glaze {n}", "relation": "price", "value": f"{n} EUR"} for n in range(30)]
    memory.ingest(facts, source="source 1", scope="company")
    ids = [one.pak_id for one in memory.list(thread="desk", limit=30).items]
    for one, other in zip(ids[::2], ids[1::2], strict=True):
        memory.dispute(one, other, note="Which of the two is it?")
    for word in ("card", "order", "mugs", "van") * 16:
        memory.recall(f"What about the {word}?")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    path = tmp_path_factory.mktemp("weight") / "shop.db"
    with fill(path):
        pass
    memory = Recollect.open(path, embedder="static", receipts=True)
    _live(memory)
    options = ServerOptions(db=str(path), token=TOKEN, owner_token=OWNER, receipts=True)
    with TestClient(make_app(options, memory=memory), base_url="http://127.0.0.1:8377") as client:
        client.headers["authorization"] = f"Bearer {OWNER}"
        yield client


@pytest.mark.parametrize("path", PATHS)
def test_each_page_is_light(browser: TestClient, path: str) -> None:
    weigh = functools.cache(lambda name: len(browser.get(name).content))
    page = browser.get(path)
    loaded = set(_LOADED.findall(page.text))
    scripts = sum(weigh(one) for one in loaded if one.endswith(".js"))
    plain = len(page.content) + sum(weigh(one) for one in loaded if not one.endswith(".js"))
    assert plain <= PLAIN
    assert plain + scripts <= ALL
