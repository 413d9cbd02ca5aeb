"""What is stored is shown and never obeyed: scripts, handlers, links, directions, endless lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.inspector.browsing import grave, is_too_wide
from tests.e2e.inspector.conftest import Visit
from tests.e2e.inspector.stores import Site, site_of

from recollect import Recollect
from recollect.model import PERMISSIONS, Principal
from recollect.testing import FakeEmbedder

SCRIPT = "<script>window.pwned = 1</script>"
HANDLER = '"><img src=x onerror="window.pwned = 2"><svg onload=window.pwned=3>'
LINK = "javascript:window.pwned=4//"
MARKDOWN = "[click](javascript:window.pwned=5) <a href='javascript:window.pwned=6'>here</a>"
TEMPLATE = "{{ 7 * 7 }} {% for x in ().__class__ %} ${7*7} #{7*7}"
ATTRIBUTE = "' autofocus onfocus='window.pwned=7' x='"
BIDI = "safe \u202etxt.exe\u202c \u2066isolated\u2069 \u200b\ufeff end"
CLOSING = "</title></textarea></style></template><!--<script>window.pwned=8</script>-->"
HOSTILE = (SCRIPT, HANDLER, LINK, MARKDOWN, TEMPLATE, ATTRIBUTE, BIDI, CLOSING)
LONG = "x" * 1_000_000
# What would act, if stored text were taken for markup.
_ACTIVE = """() => {
  const main = document.querySelector('main');
  const found = [...main.querySelectorAll('script, iframe, object, embed, img, style, link, base')];
  for (const one of main.querySelectorAll('*')) {
    for (const attribute of one.attributes) {
      const value = attribute.value.trim().toLowerCase();
      if (attribute.name.startsWith('on') || attribute.name === 'style') found.push(one);
      if (['href', 'src', 'action', 'formaction', 'xlink:href'].includes(attribute.name)
          && !/^(\\/|#|\\?)/.test(value)) found.push(one);
    }
  }
  return found.map((one) => one.outerHTML.slice(0, 200));
}"""
# Texts that would turn the direction of what stands around them, or hide.
_TURNED = """() => {
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    if (/[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\ufeff]/.test(walker.currentNode.data)) {
      found.push(walker.currentNode.parentElement.outerHTML.slice(0, 200));
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    path = tmp_path_factory.mktemp("hostile") / "hostile.db"
    memory = Recollect.open(path, embedder=FakeEmbedder())
    admin = memory.as_principal(Principal("local", "admin", (), PERMISSIONS))
    for number, text in enumerate(HOSTILE):
        admin.remember(
            f"{text} body {number}",
            pak_id=f"hostile-{number}",
            title=f"{text} title",
            summary=text,
            tags=[text],
            project=text.strip("/"),
            topic=text,
            source=text,
            entity=text,
            relation="is",
            value=text,
            thread=text,
            speaker=text,
            metadata={"note": text},
        )
        admin.trust.set(text, 0.2)
    admin.dispute("hostile-0", "hostile-1", note=SCRIPT + HANDLER)
    admin.remember(LONG, pak_id="long", thread="long", speaker="y" * 900, tags=["z" * 900])
    names = ("title", "project", "topic", "source", "entity", "relation", "thread", "speaker")
    wide: Any = {name: name[0] * 990 for name in names}
    admin.remember(
        "wide " + "w" * 300_000,
        pak_id="wide",
        summary="s" * 900_000,
        value="v" * 9_900,
        metadata={"m" * 500: "n" * 9_900},
        tags=["t" * 990, "u" * 990],
        **wide,
    )
    admin.dispute("wide", "long", note="o" * 9_900)
    admin.catalogue.set_risk_flags("wide", [{"risk_flag": "raw_logs_deferred", "severity": "warn"}])
    admin.gardens.create("wide-garden", name="g" * 900, scope="company")
    admin.ingest([{"entity": SCRIPT, "relation": "r", "value": HANDLER}], source=SCRIPT)
    admin.gardens.create("garden", name=HANDLER, scope="company")
    admin.gardens.add("garden", SCRIPT, role="reader")
    memory.keys.create(Principal("local", "<b>eve</b>", (), ("read",)), name=SCRIPT)
    with site_of(memory) as site:
        yield site


PATHS = (
    "/keep",
    f"/keep?words={quote(HANDLER)}",
    "/timeline",
    "/threads",
    "/names/tag",
    "/names/speaker",
    "/names/project",
    "/trust",
    "/keys",
    "/quarantine",
    "/disputes",
    "/gardens",
    "/gardens/garden",
    "/audit",
    "/activity",
    "/threads/long",
    "/forget?thread=long",
    f"/ask?query={quote(HANDLER + SCRIPT)}",
    *(f"/pak/hostile-{number}" for number in range(len(HOSTILE))),
    "/pak/long",
    "/pak/wide",
    "/keep?flag=raw_logs_deferred",
    "/names/flag",
    "/names/risk",
    "/names/pak_type",
    "/frame?name=evidence&query=wide",
    "/ask?query=wide&b_frame=task",
    f"/threads/{'t' * 990}",
    "/gardens/wide-garden",
    "/receipts",
    "/forget?pak_id=wide",
)


def look(page: Page, path: str) -> None:
    """Look at a page: nothing on it acts, turns, or makes it wider than the screen."""
    assert page.goto(path).status == 200, path
    assert page.evaluate("window.pwned") is None, path
    assert page.evaluate(_ACTIVE) == [], path
    assert page.evaluate(_TURNED) == [], path
    assert not is_too_wide(page), path


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_no_page_obeys_what_is_stored(hostile: Site, visit: Visit, phone: bool) -> None:
    page = visit(hostile, "/keep", phone=phone)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    for path in PATHS:
        look(page, path)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_name_that_is_hostile_is_a_name(hostile: Site, visit: Visit, number: int) -> None:
    name = HOSTILE[number]
    page = visit(hostile, f"/threads/{quote(name, safe='')}")
    look(page, page.url)
    shown = page.locator(".turn .who").inner_text()
    if name is not BIDI:
        assert page.locator(".turn .body").inner_text() == f"{name} body {number}"
        assert shown == name[:80] or shown.endswith("…")
    for path in (f"/keep?thread={quote(name)}", f"/forget?thread={quote(name)}"):
        look(page, path)
        assert page.locator(".rows > li").count() == 1


def test_controls_of_direction_are_signs_with_names(hostile: Site, visit: Visit) -> None:
    page = visit(hostile, f"/threads/{quote(BIDI, safe='')}")
    signs = page.locator(".turn .control")
    assert signs.count() >= 5
    assert "txt.exe" in page.locator(".turn .body").inner_text()


def test_a_form_of_hostile_values_sends_them_as_they_are(hostile: Site, visit: Visit) -> None:
    page = visit(hostile, f"/keep?project={quote(ATTRIBUTE)}")
    assert page.locator("input[name=project]").input_value() == ATTRIBUTE
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".rows > li")).to_have_count(1)
    page.goto("/trust")
    row = page.locator("tr", has_text="autofocus")
    row.locator("input[name=trust]").fill("0.7")
    row.get_by_role("button", name="Set").click()
    expect(page.locator(".said")).to_contain_text("is trusted 0.7")
    assert hostile.memory.trust.list()[ATTRIBUTE] == 0.7
    assert page.evaluate("window.pwned") is None


def test_a_line_of_a_million_letters_is_cut_and_told(hostile: Site, visit: Visit) -> None:
    page = visit(hostile, "/threads/long")
    assert "all 1,000,000 characters" in page.locator(".turn").inner_text()
    assert len(page.content()) < 60_000
    page.goto("/keep?thread=long")
    assert len(page.content()) < 60_000
    assert grave(page) == []


def test_problems_show_what_was_typed_and_nothing_more(hostile: Site, visit: Visit) -> None:
    page = visit(hostile, "/keep")
    for path in (
        f"/threads/{quote(SCRIPT + 'x', safe='')}",
        f"/gardens/{quote(HANDLER, safe='')}",
        f"/keep?cursor={quote(SCRIPT)}",
        f"/keep?filter={quote(SCRIPT)}",
        f"/names/{quote(HANDLER, safe='')}",
        f"/ask?query=wide&top_k={quote(HANDLER)}&since={quote(SCRIPT)}",
        f"/keep?since={quote(ATTRIBUTE)}&words={quote(CLOSING)}",
    ):
        assert page.goto(path).status in (400, 404, 422)
        assert page.evaluate("window.pwned") is None
        assert page.evaluate(_ACTIVE) == []


def test_the_sign_in_page_obeys_nothing_of_its_address(hostile: Site, visit: Visit) -> None:
    page = visit(hostile, f"/sign-in?next={quote(LINK)}", key=None)
    assert page.locator("input[name=next]").input_value() == "/ask"
    for away in ("//evil.example/", "/\\evil.example", "https://evil.example"):
        page.goto(f"/sign-in?next={quote(away, safe='')}")
        page.locator("input[name=key]").fill(hostile.keys["reader"])
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(f"{hostile.url}/ask")


def test_what_is_downloaded_is_never_a_page(hostile: Site, tmp_path: Path) -> None:
    with hostile.client("admin") as client:
        for path in ("/keep.json", "/threads/long.json", "/trust.json"):
            answer = client.get(path)
            assert answer.headers["content-type"] == "application/json"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert b"<" in answer.content or path == "/threads/long.json"
