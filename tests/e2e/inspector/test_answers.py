"""Ask, Frame and a memory's page, used as a person would, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.inspector.browsing import (
    PHONE,
    grave,
    grave_in_both,
    is_too_wide,
    listens,
    press,
)
from tests.e2e.inspector.conftest import Visit
from tests.e2e.inspector.stores import Site, site_of

from recollect import Recollect
from recollect.model import PERMISSIONS, Principal

ASKED = "Card payment timed out: send it again?"
ASK = f"/ask?query={quote(ASKED)}"
PAGES = {
    "ask": ASK,
    "ask without a question": "/ask",
    "why not": f"{ASK}&top_k=2&why=payments-provider",
    "two beside each other": "/ask?query=card+payment&b_frame=task",
    "frame": "/frame?name=task&query=card+payment",
    "another recipe": "/frame?name=task&query=card+payment&r_budget=90",
    "memory": "/pak/payments-retry-limit",
    "disputed memory": "/pak/ship-2",
    "receipts": "/receipts",
    "nothing": "/pak/nobody",
    "not quite": "/ask?query=x&top_k=many",
}

every_page = pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)


@every_page
def test_each_page_is_open_to_all_on_any_screen(visit: Visit, shop: Site, path: str) -> None:
    page = visit(shop, path)
    assert grave_in_both(page) == []
    page.set_viewport_size(PHONE)
    assert not is_too_wide(page)


def test_the_sign_in_is_for_everybody(visit: Visit, shop: Site) -> None:
    page = visit(shop, ASK, key=None, phone=True)
    assert grave_in_both(page) == []
    assert not is_too_wide(page)
    page.get_by_label("Key").fill("rk_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("That key is not good")
    page.get_by_label("Key").fill(shop.keys["reader"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="From all to these")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/sign-in$"))
    page.goto("/ask")
    expect(page).to_have_url(re.compile("/sign-in"))


def test_a_question_is_asked_and_taken_apart(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/ask")
    page.get_by_label("Question", exact=True).fill(ASKED)
    page.get_by_role("button", name="Ask", exact=True).click()
    first = page.locator("article.result").first
    expect(first.get_by_role("link", name="Retry a failed card payment")).to_be_visible()
    expect(first.locator("mark").first).to_have_text("card")
    expect(first.locator("table.signals tfoot strong")).to_be_visible()
    shares = first.locator("table.signals tbody td.number:last-child").all_text_contents()
    total = first.locator("table.signals tfoot strong").text_content()
    assert sum(map(float, shares)) == pytest.approx(float(total or 0), abs=0.002)


def test_one_click_on_what_was_dropped_says_why_not(visit: Visit, shop: Site) -> None:
    page = visit(shop, f"{ASK}&top_k=2")
    page.get_by_text(re.compile(r"\d+ left out: the best are taken")).click()
    lost = page.locator(".gone a").first
    name = lost.text_content()
    lost.click()
    why = page.locator("#why")
    expect(why).to_contain_text("Why not this one?")
    expect(why).to_contain_text(name or "")
    expect(why).to_contain_text("Outscored by")


def test_why_not_takes_any_id(visit: Visit, shop: Site) -> None:
    page = visit(shop, ASK)
    page.get_by_label("Id of a memory").fill("storefront-spa-trial")
    page.get_by_role("button", name="Why?").click()
    expect(page.locator("#why")).to_contain_text("superseded by storefront-server-pages")


def test_two_principals_stand_beside_each_other(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/sign-in", key=None)
    for who in ("reader", "admin"):
        page.goto("/sign-in")
        page.get_by_label("Key").fill(shop.keys[who])
        page.get_by_role("button", name="Sign in").click()
    page.goto("/ask?query=kiln+crew+meets")
    page.get_by_text("Put another beside it").click()
    page.locator("select[name=as]").select_option("admin")
    page.locator("select[name=b_as]").select_option("reader")
    page.get_by_role("button", name="Ask", exact=True).click()
    columns = page.locator(".columns > section")
    expect(columns.nth(0)).to_contain_text("as admin")
    expect(columns.nth(0).locator("li.only").first).to_contain_text(
        "The kiln crew meets on Mondays"
    )
    expect(columns.nth(1)).not_to_contain_text("The kiln crew meets on Mondays")


def test_with_the_keyboard_alone(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/frame")
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    press(page, "g", "a")
    expect(page).to_have_url(re.compile("/ask$"))
    press(page, "/")
    page.keyboard.type(ASKED)
    press(page, "Enter")
    expect(page.locator("article.result").first).to_be_visible()
    press(page, "j", "j")
    second = page.locator("article.result").nth(1)
    expect(second).to_be_focused()
    press(page, "k")
    expect(page.locator("article.result").first).to_be_focused()
    press(page, "Enter")
    expect(page).to_have_url(re.compile("/pak/"))


def test_a_key_typed_into_a_field_is_a_letter(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/ask")
    listens(page)
    page.get_by_label("Question", exact=True).fill("")
    page.keyboard.type("j?/g")
    expect(page.get_by_label("Question", exact=True)).to_have_value("j?/g")


def test_the_text_of_a_frame_is_copied_exactly(visit: Visit, shop: Site) -> None:
    page = visit(
        shop,
        "/frame?name=task&query=card+payment",
        permissions=["clipboard-read", "clipboard-write"],
    )
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("button[data-copied]")).to_be_visible()
    with shop.client("admin") as client:
        told = client.post("/v1/frames/task/preview", json={"query": "card payment"}).json()
    assert page.evaluate("navigator.clipboard.readText()") == told["text"]
    page.locator("a.chunk").first.click()
    expect(page).to_have_url(re.compile("/pak/"))


def test_a_recipe_is_changed_seen_and_saved(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/frame?name=task&query=card+payment")
    page.get_by_label("Token budget").fill("90")
    page.get_by_label("similarity").fill("3")
    page.get_by_role("button", name="See the text change").click()
    expect(page.get_by_role("heading", name="With your changes")).to_be_visible()
    expect(page.locator("del").first).to_be_visible()
    page.get_by_label("Keep it as a frame of your own").fill("tight")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("The frame tight is kept.")
    expect(page.locator("select[name=name]")).to_have_value("tight")
    expect(page.get_by_label("Token budget")).to_have_value("90")


def _text_is_corrected(page: Page) -> None:
    page.get_by_text("Correct the text").click()
    page.get_by_label("What it should say").fill("Mugs ship in three days.")
    page.get_by_role("button", name="Correct it").click()
    expect(page.get_by_role("status")).to_contain_text("It is corrected")
    expect(page.locator(".versions ins").first).to_have_text("three")
    expect(page.locator(".versions del").first).to_have_text("two")


def test_a_memory_is_put_right(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/pak/ship-2")
    expect(page.get_by_text("Which is it?")).to_be_visible()
    expect(
        page.locator(".dispute").get_by_role("link", name="Mugs ship in five days.")
    ).to_be_visible()
    _text_is_corrected(page)
    page.get_by_role("button", name="This one is right").click()
    expect(page.get_by_role("status")).to_contain_text("the other one gave way")
    page.goto("/pak/ship-5")
    expect(page.get_by_text("took its place in answers")).to_be_visible()


def test_links_are_walked(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/pak/payments-retry-limit")
    page.locator("svg.graph a").first.click()
    expect(page).not_to_have_url(re.compile("payments-retry-limit"))
    expect(page.locator("svg.graph")).to_be_visible()


def test_links_are_walked_two_steps_far_where_there_are_scripts(visit: Visit, shop: Site) -> None:
    tools = ("Anvils", "Bellows", "Chisels.json", "Drills")
    for name in tools:
        shop.memory.remember(f"{name} hang in the shed.", pak_id=f"tool {name}", scope="company")
    for one, other in pairwise(tools):
        shop.memory.link(f"tool {one}", f"tool {other}", weight=0.6)
    page = visit(shop, "/pak/tool%20Bellows")
    near = page.locator("svg.graph a").count()
    page.get_by_role("button", name="Two steps far").click()
    expect(page.locator("svg.graph[data-steps='2']")).to_be_visible()
    points = page.locator("svg.graph a")
    assert points.count() > near
    # Each has a place of its own inside the picture.
    places = page.evaluate(
        "[...document.querySelectorAll('svg.graph circle')]"
        ".map((one) => [one.cx.baseVal.value, one.cy.baseVal.value].map(Math.round).join())"
    )
    assert len(set(places)) == len(places) == points.count() + 1
    assert grave(page) == []
    points.last.locator("circle").click()
    expect(page).not_to_have_url(re.compile("Bellows"))
    expect(page.locator("h1")).to_contain_text("hang in the shed")


def test_a_mistyped_number_keeps_the_form_and_is_put_right(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/ask?query=card+payment&top_k=many&project=payments")
    assert grave(page) == []
    field = page.get_by_label("How many")
    expect(field).to_have_value("many")
    expect(page.locator("#wrong-top_k")).to_contain_text("whole number")
    expect(page.get_by_label("Project")).to_have_value("payments")
    field.fill("2")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("article.result")).to_have_count(2)
    expect(page.locator("[aria-invalid]")).to_have_count(0)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    memory = Recollect.open(tmp_path_factory.mktemp("empty") / "a.db", embedder="static")
    with site_of(memory) as site:
        yield site


def test_the_first_visit_fills_an_empty_memory_without_scripts(visit: Visit, empty: Site) -> None:
    page = visit(empty, "/ask", key="writer", scripts=False)
    expect(page.get_by_role("heading", name="This memory is empty")).to_be_visible()
    assert grave_without_scripts(page) == []
    page.get_by_role("button", name="Fill it with the demo").click()
    expect(page.get_by_role("status")).to_contain_text("thirty memories are here")
    expect(page.locator("article.result")).to_have_count(5)


def grave_without_scripts(page: Page) -> list[str]:
    """Return forms that could not be sent without scripts."""
    forms = page.locator("form")
    return [
        forms.nth(number).inner_html()[:80]
        for number in range(forms.count())
        if forms.nth(number).locator("button, input[type=search]").count() == 0
    ]


def test_each_page_works_without_scripts(visit: Visit, shop: Site) -> None:
    page = visit(shop, "/ask", scripts=False)
    for path in PAGES.values():
        page.goto(path)
        expect(page.locator("main")).to_be_visible()
        expect(page.locator("nav.places a").first).to_be_visible()
        assert grave_without_scripts(page) == []
        # A button that needs a script is not there without one.
        needy = page.locator("[data-copy]:visible, [data-open]:visible, [data-walk]:visible")
        assert needy.count() == 0


def test_stored_text_acts_on_no_page(visit: Visit, tmp_path: Path) -> None:
    texts = {
        "a": "<script>document.title='taken'</script>",
        "b": "<img src=x onerror=\"document.title='taken'\">",
        "c": "<a href=\"javascript:document.title='taken'\">kiln</a>",
        "d": "kiln \u202egnp.exe",
    }
    memory = Recollect.open(tmp_path / "a.db", embedder="none", sanitizer="off")
    own: Any = memory.as_principal(Principal("local", "admin", (), PERMISSIONS))
    for name, text in texts.items():
        own.remember(f"kiln {text}", pak_id=name, title=text, tags=[text[:40]], thread=text)
    with site_of(memory) as site:
        page = visit(site, "/ask")
        for path in (
            "/ask?query=kiln",
            "/frame?name=evidence&query=kiln",
            *(f"/pak/{one}" for one in texts),
        ):
            page.goto(path)
            assert page.title() in (
                *("Ask · Recollect", "Frame · Recollect"),
                *(f"{text} · Recollect".strip() for text in texts.values()),
            )
            assert page.locator("main img, main script").count() == 0
            assert page.locator("a[href^='javascript']").count() == 0
