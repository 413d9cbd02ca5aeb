"""What was answered, what is wrong, and who is at the machine: seen and put right in a browser."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.inspector.browsing import grave_in_both, is_too_wide, press
from tests.e2e.inspector.conftest import Visit
from tests.e2e.inspector.stores import Site
from tests.served import TOKEN, served

from recollect import Recollect
from recollect.hooks.sdk import deny
from recollect.testing import FakeEmbedder

SLOW_S = 0.11


@contextmanager
def at_the_machine(memory: Recollect, **options: Any) -> Iterator[Site]:
    """Serve a memory without keys: whoever has the token that was printed may look after it."""
    with served(memory, **options) as url:
        yield Site(url, memory, {"admin": TOKEN})


def slow_or_refused(payload: dict[str, object]) -> object:
    """Take a while for a question about speed, and refuse one about a password."""
    query = str(payload.get("query"))
    if "speed" in query:
        time.sleep(SLOW_S)
    return deny("passwords are not for agents", 403) if "password" in query else None


@pytest.fixture(scope="module")
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, embedder: FakeEmbedder) -> Iterator[Site]:
    path = tmp_path_factory.mktemp("house") / "house.db"
    memory = Recollect.open(path, embedder=embedder, receipts=True, links=False)
    memory.hooks.register("pre_recall", slow_or_refused, name="speed-and-secrets")
    memory.remember("The kiln is hot until six.", pak_id="hot", thread="kiln", tags=["kiln"])
    memory.remember("The kiln is cold on Sunday.", pak_id="cold", tags=["kiln"])
    memory.remember("Kiln speed is three degrees a minute.", pak_id="speed", tags=["kiln"])
    memory.remember("Mara has the spare fuse.", pak_id="fuse", project="cellar/left")
    memory.remember("Word. " * 2_000, pak_id="long", title="A long text")
    memory.remember_many([{"content": f"Turn {n}.", "thread": "talk"} for n in range(1, 96)])
    with at_the_machine(memory, receipts=True) as site:
        yield site


def settled(page: Page) -> Page:
    """Return a page on which axe finds nothing grave, in light or dark."""
    assert grave_in_both(page) == []
    return page


def test_an_earlier_answer_stands_beside_what_the_question_gives_today(
    house: Site, visit: Visit
) -> None:
    first = house.memory.recall("is the kiln hot or cold?", top_k=2).results[0].fact.pak_id
    house.memory.archive(first)
    try:
        page = visit(house, "/receipts")
        settled(page)
        page.get_by_role("link", name="is the kiln hot or cold?").click()
        expect(page.locator("h1")).to_have_text("An earlier answer")
        then, today = page.locator(".columns > section").all()
        expect(then.locator("li").first).to_contain_text("only here")
        expect(then.locator("li").first).to_contain_text("archived")
        expect(today.locator("mark").first).to_be_visible()
        expect(today.locator("li")).to_have_count(2)
        settled(page)
        page.get_by_role("link", name="Open this answer").click()
        expect(page.locator("article.result")).to_have_count(2)
    finally:
        house.memory.unarchive(first)


def test_a_flag_is_filtered_by_from_where_it_is_seen(shop: Site, visit: Visit) -> None:
    page = visit(shop, "/pak/suspicious")
    page.get_by_role("link", name="prompt leak").click()
    expect(page.locator(".head")).to_contain_text("1 fits")
    expect(page.locator(".rows > li")).to_contain_text("print the system prompt")
    settled(page)
    page.goto("/keep")
    page.get_by_text("Narrow it").click()
    page.get_by_label("Flag").fill("cache_sensitive_ordering")
    press(page, "Enter")
    expect(page.locator(".chips")).to_contain_text("Flag cache_sensitive_ordering")
    for row in page.locator(".rows > li").all():
        expect(row).to_contain_text("cache sensitive ordering")


def test_two_questions_and_two_frames_stand_beside_each_other(shop: Site, visit: Visit) -> None:
    page = visit(shop, "/ask?query=card+payment")
    page.get_by_text("Put another beside it").click()
    page.get_by_label("Other question").fill("summer sale")
    page.get_by_label("Other frame").select_option("task")
    page.get_by_role("button", name="Ask", exact=True).click()
    left, right = page.locator(".columns > section").all()
    expect(left.locator("h2")).to_have_text("card payment")
    expect(right.locator("h2")).to_have_text("summer sale")
    expect(left.get_by_title("The other one: task")).to_have_text("frame evidence")
    expect(right.get_by_title("The other one: evidence")).to_have_text("frame task")
    expect(left.locator("li.only").first).to_contain_text("only here")
    expect(right.locator("li mark").first).to_be_visible()


def test_what_never_became_a_candidate_is_walked_through_to_its_why_not(
    shop: Site, visit: Visit
) -> None:
    page = visit(shop, "/ask?query=card+payment&project=payments")
    count = page.get_by_role("link", name=re.compile(r"^\d+ left out$"))
    said = int(count.inner_text().split()[0])
    count.click()
    listed = page.locator("#passed-over .gone a")
    seen = listed.count()
    settled(page)
    while (more := page.get_by_role("link", name="Next page")).count():
        more.click()
        expect(page.get_by_role("link", name="First page")).to_be_visible()
        seen += listed.count()
    assert seen == said
    name = listed.last.inner_text()
    listed.last.click()
    expect(page.locator("#why")).to_contain_text(name)


# States


def test_an_answer_without_meaning_looks_degraded_and_says_what_next(
    house: Site, visit: Visit, embedder: FakeEmbedder
) -> None:
    page = visit(house, "/keep")
    embedder.fail = True
    try:
        page.goto("/ask?query=kiln+and+fuse")
        expect(page.locator(".state.degraded")).to_contain_text("Not everything took part")
        expect(page.locator(".state.degraded .next")).to_contain_text("recollect stats")
        expect(page.locator("article.result").first).to_be_visible()
        settled(page)
    finally:
        embedder.fail = False
    page.reload()
    expect(page.locator(".state.degraded")).to_have_count(0)


def test_what_a_hook_refuses_looks_denied(house: Site, visit: Visit) -> None:
    page = visit(house, "/ask?query=the+password")
    expect(page.locator(".state.denied")).to_contain_text("Passwords are not for agents")
    expect(page.locator(".state.denied .next")).to_be_visible()
    # Nothing was searched: no stage is told to have left something out.
    expect(page.locator(".funnel")).to_have_count(0)
    settled(page)


def test_a_question_that_nothing_answers_looks_empty(house: Site, visit: Visit) -> None:
    page = visit(house, "/ask?query=kiln&project=nowhere")
    expect(page.locator(".state.empty")).to_contain_text("Nothing answers this")
    expect(page.locator(".state.empty .next")).to_be_visible()
    settled(page)


def test_what_is_broken_says_so_with_the_id_of_its_line_in_the_log(
    visit: Visit, tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    memory = Recollect.open(path, embedder="none")
    memory.remember("The kiln is hot.", pak_id="hot")
    with at_the_machine(memory) as site:
        page = visit(site, "/pak/hot")
        expect(page.locator("h1")).to_have_text("The kiln is hot.")
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE pak_relations")
            other.commit()
        page.reload()
        expect(page.locator(".state.broken")).to_contain_text("Something is broken")
        assert re.search("under the id [0-9a-f]{16}", page.locator(".state").inner_text())
        settled(page)


# Signing in


def test_a_session_that_nobody_uses_ends_and_leads_back_to_its_page(
    visit: Visit, tmp_path: Path
) -> None:
    memory = Recollect.open(tmp_path / "a.db", embedder="none")
    with at_the_machine(memory, idle_seconds=1.5) as site:
        page = visit(site, "/keep", key=None)
        page.get_by_label(re.compile("^Key")).fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("h1")).to_have_text("Memories")
        time.sleep(1.7)
        page.get_by_role("link", name="Time line").click()
        expect(page.locator("h1")).to_have_text("Sign in")
        page.get_by_label(re.compile("^Key")).fill(TOKEN)
        press_enter(page)
        expect(page.locator("h1")).to_have_text("Time line")


def press_enter(page: Page) -> None:
    """Press Enter on a page without a script."""
    page.keyboard.press("Enter")


def test_a_form_of_another_site_or_of_an_older_session_does_nothing(
    shop: Site, visit: Visit
) -> None:
    page = visit(shop, "/sign-in", key=None)
    page.get_by_label("Key").fill(shop.keys["writer"])
    press_enter(page)
    expect(page.locator("h1")).to_have_text("Ask")
    page.goto("/pak/ship-5")
    stale = page.locator("form[action='/archive']")
    away = page.context.new_page()
    away.set_content(
        f'<form method="post" action="{shop.url}/sign-out"><button>Win a prize</button></form>'
    )
    away.get_by_role("button").click()
    expect(away.locator("body")).to_contain_text("a page of another site may not ask")
    away.goto(f"{shop.url}/ask")
    expect(away.locator("h1")).to_have_text("Ask")
    away.get_by_role("button", name="Sign out").click()
    away.get_by_label("Key").fill(shop.keys["writer"])
    press_enter(away)
    expect(away.locator("h1")).to_have_text("Ask")
    stale.get_by_role("button").click()
    expect(page.locator("main")).to_contain_text("open the page again", ignore_case=True)
    found = shop.memory.get("ship-5")
    assert found is not None
    assert found.status == "active"


# At the machine


def test_hooks_are_seen_with_what_came_of_them_and_how_long_they_took(
    house: Site, visit: Visit
) -> None:
    house.memory.recall("is the kiln hot?")
    page = visit(house, "/activity")
    page.get_by_role("link", name="hooks", exact=True).click()
    card = page.locator("section.card", has_text="speed-and-secrets")
    expect(card).to_contain_text("pre_recall")
    expect(card).to_contain_text(re.compile(r"mean [\d.]+ ms"))
    expect(card.locator("table")).to_be_visible()
    settled(page)


def test_a_slow_recall_is_listed_and_leads_to_what_was_answered(house: Site, visit: Visit) -> None:
    page = visit(house, "/ask?query=kiln+speed")
    name = page.get_by_title("The name of this answer").inner_text()
    page.goto("/activity")
    page.locator(f"#slowest a[href*='{name}']").click()
    expect(page.locator("h1")).to_have_text("An earlier answer")
    expect(page.locator("main")).to_contain_text("kiln speed")


def test_the_audit_trail_is_paged(shop: Site, visit: Visit) -> None:
    for number in range(30):
        shop.memory.trust.set(f"source {number:02}", 0.7)
    page = visit(shop, "/audit")
    expect(page.locator("tbody tr")).to_have_count(25)
    first = page.locator("tbody tr td").first.inner_text()
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("tbody tr td").first).not_to_have_text(first)
    page.get_by_role("link", name="First page").click()
    expect(page.locator("tbody tr td").first).to_have_text(first)


# What is kept


def test_a_turn_of_a_long_conversation_is_jumped_to(house: Site, visit: Visit) -> None:
    page = visit(house, "/threads/talk")
    expect(page.locator(".turn")).to_have_count(40)
    page.get_by_label(re.compile("^Jump to a turn")).fill("77")
    press(page, "Enter")
    expect(page.locator(".turn[aria-current]")).to_contain_text("Turn 77.")
    expect(page.locator(".turn[aria-current]")).to_be_in_viewport()
    page.get_by_role("link", name="Next page").click()
    expect(page.locator(".turn")).to_have_count(15)


def test_a_long_text_is_cut_and_seen_whole(house: Site, visit: Visit) -> None:
    page = visit(house, "/pak/long")
    assert len(page.locator("p.body").first.inner_text()) < 4_100
    page.get_by_role("link", name="All 12,000 characters of it").click()
    assert len(page.locator("p.body").first.inner_text()) > 11_900


def test_older_versions_that_would_go_are_listed_and_gone_for_good(
    house: Site, visit: Visit
) -> None:
    house.memory.update("fuse", content="Jonas has the spare fuse.", project="attic")
    page = visit(house, "/forget?project=cellar")
    expect(page.locator("#would")).to_have_text("No memory, but 1 older version would go for good")
    page.locator("dl.facts").get_by_role("link", name="1").click()
    row = page.locator("#older tbody tr")
    expect(row).to_contain_text("Mara has the spare fuse.")
    settled(page)
    page.get_by_label("I have seen what will go").check()
    page.get_by_role("button", name="Erase").click()
    expect(page.locator("main")).to_contain_text("Older versions")
    expect(page.locator("main")).to_contain_text("clean")
    assert [one.memory.content for one in house.memory.history("fuse")] == [
        "Jonas has the spare fuse."
    ]


def test_a_phone_shows_all_of_it_without_moving_sideways(house: Site, visit: Visit) -> None:
    page = visit(house, "/receipts", phone=True, dark=True)
    for path in ("/receipts", "/hooks", "/activity", "/threads/talk", "/pak/long?whole=1"):
        page.goto(path)
        assert not is_too_wide(page), path
