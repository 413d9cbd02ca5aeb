"""Ask, Frame and a memory's page: what they tell is what the engine says, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.contract.inspector.conftest import CODE, OWNER, Browse, Browser

from recollect import Recollect
from recollect.edge.cli.demo_memory import fill
from recollect.model import Principal

ASKED = "Card payment timed out: send it again?"
ADMIN = Principal("local", "ann", (), ("read", "write", "admin"))


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Path]:
    with fill(tmp_path / "a.db"):
        pass
    yield tmp_path / "a.db"


def owner(browse: Browse, **options: Any) -> Browser:
    browser = browse(key=None, **options)
    assert browser.get(f"/enter?code={CODE}").url.path == "/ask"
    return browser


def test_an_answer_is_the_recall_with_each_score_taken_apart(browse: Browse, shop: Path) -> None:
    browser = browse()
    answer = browser.json(f"/ask.json?query={quote(ASKED)}")["answer"]
    told = browser.client.post(
        "/v1/recall", json={"query": ASKED}, headers={"Authorization": "Bearer local_let-me-in"}
    ).json()
    assert [one["fact"] for one in answer["results"]] == [one["fact"] for one in told["results"]]
    for one in answer["results"]:
        assert sum(part["contribution"] for part in one["parts"]) == pytest.approx(one["score"])
    assert answer["results"][0]["matched"] == ["Card", "payment", "again"]


def test_the_stages_count_everything_once(browse: Browse, shop: Path) -> None:
    answer = browse().json(f"/ask.json?query={quote(ASKED)}&top_k=2")["answer"]
    stages = answer["funnel"]
    assert stages[0]["kept"] == 30
    assert stages[-1]["kept"] == len(answer["results"]) == 2
    for before, after in pairwise(stages):
        assert before["kept"] - after["dropped"] == after["kept"]


def test_each_thing_that_was_dropped_leads_to_its_why_not(browse: Browse, shop: Path) -> None:
    browser = browse()
    page = browser.get(f"/ask?query={quote(ASKED)}&top_k=2").text
    lost = re.findall(r'href="(/ask\?[^"]*why=[^"]*)#why"', page)
    assert lost
    there = browser.get(lost[0].replace("&amp;", "&"))
    assert "Why not this one?" in there.text
    assert 'id="why"' in there.text


def test_what_never_became_a_candidate_is_a_list_and_each_leads_to_its_why_not(
    browse: Browse, shop: Path
) -> None:
    browser, ids, stages = browse(), [], []
    path = f"/ask.json?query={quote(ASKED)}&project=payments&stage=candidates"
    cursor: str | None = ""
    while cursor is not None:
        told = browser.json(path + (f"&cursor={quote(cursor)}" if cursor else ""))
        ids += [one["pak_id"] for one in told["passed_over"]["items"]]
        stages, cursor = told["answer"]["funnel"], told["passed_over"]["next_cursor"]
    (left_out,) = [one["dropped"] for one in stages if one["stage"] == "candidates"]
    assert len(ids) == len({*ids}) == left_out > 0
    page = browser.get(path.replace(".json", "")).text
    assert f">{left_out} left out</a>" in page
    why = re.findall(r'href="(/ask\?[^"]*why=[^"]*)#why"', page.partition('id="passed-over"')[2])
    there = browser.get(why[0].replace("&amp;", "&"))
    assert "Why not this one?" in there.text


def test_each_stage_leads_to_as_many_as_it_kept(browse: Browse, shop: Path) -> None:
    browser = browse()
    asked = f"query={quote(ASKED)}&top_k=2"
    page = browser.get(f"/ask?{asked}").text
    links = re.findall(r'href="(/ask\?[^"]*kept=[^"]*)#kept">(\d+)</a>', page)
    assert len(links) > 1
    for href, count in links:
        path = href.replace("&amp;", "&").replace("/ask?", "/ask.json?")
        found, cursor = [], ""
        while cursor is not None:
            told = browser.json(path + (f"&cursor={cursor}" if cursor else ""))["kept"]
            found += [one["pak_id"] for one in told["items"]]
            cursor = told["next_cursor"]
        assert len(found) == len({*found}) == told["count"] == int(count)
    assert [one["left_out"] for one in told["items"]] == [None, None]
    assert browser.get(f"/ask?{asked}&kept=nothing").status_code == 422


def test_versions_links_and_readers_of_a_memory_are_lists_with_pages(
    browse: Browse, tmp_path: Path
) -> None:
    with Recollect.open(tmp_path / "a.db", links=False) as memory:
        memory.remember("Version 1.", pak_id="a")
        for number in range(2, 26):
            memory.update("a", content=f"Version {number}.")
            memory.remember(f"Other {number}.", pak_id=f"b{number}")
            memory.link("a", f"b{number}")
            memory.keys.create(Principal("local", f"r{number:02}", (), ("read",)))
    browser = owner(browse)
    first = browser.json("/pak/a.json")
    assert [one["number"] for one in first["versions"]] == [*range(25, 5, -1)]
    second = browser.json("/pak/a.json?versions=20&links=20&readers=20")
    assert [one["number"] for one in second["versions"]] == [5, 4, 3, 2, 1]
    assert second["versions"][-1]["differences"] is None
    assert second["versions"][-2]["differences"][-2]["how"] == "added"
    ids = [one["pak_id"] for page in (first, second) for one in page["linked"]]
    assert len(ids) == len({*ids}) == first["pages"]["links"]["count"] == 24
    names = [one["principal"] for page in (first, second) for one in page["readers"]]
    assert names == [f"r{number:02}" for number in range(2, 26)]
    html = browser.get("/pak/a").text
    for name in ("versions", "links", "readers"):
        assert f'href="/pak/a?{name}=20#{name}"' in html


def test_why_not_takes_any_id_and_tells_hidden_from_absent_by_nothing(
    browse: Browse, shop: Path
) -> None:
    with Recollect.open(shop) as memory:
        ben = Principal("local", "ben", (), ("read", "write"))
        memory.as_principal(ben).remember("Ben keeps a kiln.", pak_id="of-ben")
    browser = browse()
    hidden, absent = (
        browser.json(f"/ask.json?query=kiln&now=2026-11-18T00:00:00Z&why={name}")["why"]
        for name in ("of-ben", "of-nob")
    )
    assert hidden["stage"] == "unknown"
    assert {**hidden, "pak_id": ""} == {**absent, "pak_id": ""}


def test_a_why_of_a_recall_by_a_frame_is_of_that_recall(browse: Browse, shop: Path) -> None:
    path = f"/ask.json?query={quote(ASKED)}&frame=task&top_k=1&why=payments-retry-limit"
    told = browse().json(path)
    assert told["why"]["verb"] == "recall"
    assert told["why"]["query"]["frame"] == "task"


def test_two_frames_stand_beside_each_other_with_their_differences(
    browse: Browse, shop: Path
) -> None:
    browser = browse()
    told = browser.json("/ask.json?query=card+payment&b_frame=task")
    ids = [[one["fact"]["pak_id"] for one in told[side]] for side in ("left", "right")]
    for one in told["left"]:
        place = ids[1].index(one["fact"]["pak_id"]) + 1 if one["fact"]["pak_id"] in ids[1] else None
        assert one["other_place"] == place
    assert "only here" in browser.get("/ask?query=card+payment&b_frame=task").text


def test_a_receipt_stands_beside_what_the_same_question_gives_today(
    browse: Browse, shop: Path
) -> None:
    with Recollect.open(shop, receipts=True) as memory:
        asked = memory.recall("card payment", top_k=2)
        memory.forget(asked.results[1].fact.pak_id, dry_run=True)
        memory.archive(asked.results[0].fact.pak_id)
    browser = owner(browse, receipts=True)
    listed = browser.json("/receipts.json")["items"]
    assert asked.recall_id in [one["recall_id"] for one in listed]
    told = browser.json(f"/ask.json?receipt={asked.recall_id}")
    assert [one["state"] for one in told["left"]] == ["archived", "unchanged"]
    assert told["left"][0]["other_place"] is None
    assert len(told["right"]) == 2
    page = browser.get(f"/ask?receipt={asked.recall_id}").text
    assert "Given then" in page
    assert "The same question today" in page


def test_the_pieces_of_a_frame_are_its_text_and_each_leads_to_its_memory(
    browse: Browse, shop: Path
) -> None:
    browser = browse()
    for name in ("self", "attention", "task", "evidence"):
        told = browser.json(f"/frame.json?name={name}&query=card+payment")["text"]
        assert "".join(one["text"] for one in told["pieces"]) == told["text"]
        linked = [one["pak_id"] for one in told["pieces"] if one["pak_id"]]
        assert linked == [one["fact"]["pak_id"] for one in told["blocks"]]


def test_looking_at_a_frame_writes_nothing(browse: Browse, shop: Path) -> None:
    with Recollect.open(shop) as memory:
        before = memory.head()
    browser = browse()
    browser.json("/frame.json?name=task&query=card+payment")
    browser.json("/ask.json?query=card+payment")
    with Recollect.open(shop) as memory:
        assert memory.head() == before


def test_another_recipe_stands_beside_the_text_before_it_is_kept(
    browse: Browse, shop: Path
) -> None:
    browser = owner(browse)
    weights = "w_similarity=4&w_confidence=1&w_recency=0&w_centrality=0&w_reinforcement=0"
    told = browser.json(f"/frame.json?name=task&query=card+payment&{weights}&r_budget=90")
    assert told["recipe"]["weights"]["similarity"] == 0.8
    assert told["changed"]["token_budget"] == 90
    assert len(told["changed"]["blocks"]) < len(told["text"]["blocks"])
    assert told["changed"]["cut"]
    kept = [one for one in told["differences"] if one["how"] != "added"]
    assert "".join(one["text"] for one in kept) == told["text"]["text"]
    assert browser.json("/frame.json")["frames"] == ["self", "attention", "task", "evidence"]
    sent = dict(pair.split("=") for pair in weights.split("&"))
    done = browser.send(
        "/frame/save", name="task", query="card payment", as_name="mine", r_budget="90", **sent
    )
    assert "The frame mine is kept." in done.text
    told = browser.json("/frame.json?name=mine")
    assert told["frame"]["weights"]["similarity"] == 0.8
    assert told["frame"]["guarantees"] == ["self/goal"]


def test_an_unchanged_recipe_is_no_other_recipe(browse: Browse, shop: Path) -> None:
    browser = browse()
    page = browser.get("/frame?name=task&query=card").text
    form = page.partition('id="recipe"')[2].partition("</form>")[0]
    fields = re.findall(r'name="([^"]+)" (?:type="[^"]*" )?(?:[^>]*?)value="([^"]*)"', form)
    query = "&".join(f"{name}={quote(text)}" for name, text in fields)
    assert browser.json(f"/frame.json?{query}&r_template=task")["recipe"] == {}


def test_a_memory_tells_its_versions_word_by_word(browse: Browse, shop: Path) -> None:
    browser = owner(browse)
    page = browser.send(
        "/correct", pak_id="payments-refund-window", content="Refunds go out within 9 days."
    )
    assert "It is corrected" in page.text
    told = browser.json("/pak/payments-refund-window.json")
    assert [one["number"] for one in told["versions"]] == [2, 1]
    new = [one["text"] for one in told["versions"][0]["differences"] if one["how"] != "removed"]
    assert "".join(new) == "Refunds go out within 9 days."
    assert "<ins>" in page.text
    assert "It is corrected" not in browser.get("/pak/payments-refund-window").text


@pytest.mark.parametrize(("how", "left"), [("this", {"a"}), ("other", {"b"}), ("both", {"a", "b"})])
def test_a_dispute_is_settled_from_either_side(
    browse: Browse, tmp_path: Path, how: str, left: set[str]
) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        memory.remember("The kiln is booked on Monday.", pak_id="a")
        memory.remember("The kiln is free on Monday.", pak_id="b")
        memory.dispute("a", "b", note="which?")
    browser = owner(browse)
    told = browser.json("/pak/a.json")["sides"]
    assert [(one["other"], one["note"]) for one in told] == [("b", "which?")]
    page = browser.send("/settle", pak_id="a", other="b", how=how)
    assert "The dispute is settled" in page.text
    answer = browser.json("/ask.json?query=kiln+monday")["answer"]
    assert {one["fact"]["pak_id"] for one in answer["results"]} == left


def test_links_are_a_picture_that_one_can_walk(browse: Browse, shop: Path) -> None:
    browser = browse()
    page = browser.get("/pak/payments-retry-limit").text
    graph = page.partition('<svg class="graph"')[2].partition("</svg>")[0]
    there = re.findall(r'<a href="([^"]+)"', graph)
    assert "/pak/payments-idempotency" in there
    for path in there:
        assert browser.get(path).status_code == 200


def test_who_may_read_is_told_to_an_admin_alone(browse: Browse, tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        keys = {
            name: memory.keys.create(Principal("local", name, (), permissions)).secret
            for name, permissions in (("ann", ADMIN.permissions), ("ben", ("read",)))
        }
        memory.as_principal(ADMIN).remember("For all of us.", pak_id="ours", scope="company")
        memory.as_principal(ADMIN).remember("For me.", pak_id="mine")
    ann = browse(key=keys["ann"])
    reads = {
        name: {one["principal"]: one["reads"] for one in ann.json(f"/pak/{name}.json")["readers"]}
        for name in ("ours", "mine")
    }
    assert reads["ours"] == {"ann": True, "ben": True}
    assert reads["mine"] == {"ann": True, "ben": False}
    assert browse("a.db", key=keys["ben"]).json("/pak/ours.json")["readers"] is None


def test_a_hidden_memory_and_none_are_the_same_page(browse: Browse, tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        ben = Principal("local", "ben", (), ("read", "write"))
        memory.as_principal(ben).remember("Ben keeps a kiln.", pak_id="of-ben")
        memory.remember("Mine.", pak_id="mine")
    browser = browse()
    pages = [browser.get(f"/pak/{name}") for name in ("of-ben", "of-nob")]
    assert [one.status_code for one in pages] == [404, 404]
    assert pages[0].text.replace("of-ben", "of-nob") == pages[1].text


def test_an_id_that_ends_like_a_twin_has_a_page_of_its_own(browse: Browse, tmp_path: Path) -> None:
    names = ("a/b", "x", "x.json", "?&#%", "<b>")
    with Recollect.open(tmp_path / "a.db") as memory:
        for name in names:
            memory.remember(f"This is {name}.", pak_id=name)
    browser = browse()
    page = browser.get("/ask?all=1&top_k=9").text
    links = re.findall(r'class="pak" href="([^"]+)"', page)
    assert len(links) == len(names)
    ids = set()
    for link in links:
        assert (
            browser.get(link.replace("&amp;", "&")).headers["content-type"].startswith("text/html")
        )
        ids.add(browser.json(f"{link}.json")["pak_id"])
    assert ids == set(names)


def test_an_empty_memory_offers_the_demos_and_takes_them_once(browse: Browse) -> None:
    browser = browse()
    assert "Fill it with the demo" in browser.get("/ask").text
    filled = browser.send("/demo")
    assert "The demo&#39;s thirty memories are here" in filled.text
    assert browser.json("/ask.json")["memories"] == 30
    assert browser.json("/pak/payments-retry-limit.json")["reason_codes"]
    again = browser.send("/demo")
    assert again.status_code == 422
    assert "This memory is not empty." in again.text


def test_who_may_only_read_is_offered_no_change(browse: Browse, tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        memory.remember("For all of us.", pak_id="ours", scope="company")
        key = memory.keys.create(Principal("local", "ben", (), ("read",))).secret
    browser = browse(key=key)
    page = browser.get("/pak/ours").text
    assert 'action="/correct"' not in page
    denied = browser.send("/correct", pak_id="ours", content="Mine now.")
    assert denied.status_code == 403
    assert "Not yours to do" in denied.text
    assert browser.json("/pak/ours.json")["memory"]["content"] == "For all of us."


def test_what_cannot_be_asked_says_what_to_do(browse: Browse, shop: Path) -> None:
    answer = browse().get("/ask?query=x&top_k=many", headers={"accept": "text/html"})
    assert answer.status_code == 422
    assert "Not quite" in answer.text
    assert 'id="wrong-top_k">This cannot be read: &#39;many&#39;.' in answer.text


def test_an_answer_without_meaning_says_so(browse: Browse, tmp_path: Path) -> None:
    from recollect.testing import FakeEmbedder

    embedder = FakeEmbedder()
    memory = Recollect.open(tmp_path / "a.db", embedder=embedder)
    memory.remember("The kiln is booked.", pak_id="a")
    embedder.fail = True  # type: ignore[attr-defined]
    page = browse(memory=memory).get("/ask?query=kiln").text
    assert "Not everything took part" in page


def test_what_nobody_foresaw_is_a_page_that_tells_nothing_of_it(
    browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = browse()
    monkeypatch.setattr(Recollect, "stats", lambda _: 1 / 0)
    quiet = browser.client._transport
    monkeypatch.setattr(quiet, "raise_server_exceptions", False)
    answer = browser.get("/ask", headers={"x-request-id": "the-one"})
    assert answer.status_code == 500
    assert "Something is broken" in answer.text
    assert "the-one" in answer.text
    assert "division" not in answer.text
    assert browser.get("/ask.json").json()["code"] == "server_fault"


def test_a_page_is_light_without_its_scripts(browse: Browse, shop: Path) -> None:
    browser = browse()
    style = len(browser.get(_style(browser)).content)
    for path in (
        "/ask?query=card+payment",
        "/frame?name=task&query=card",
        "/pak/payments-provider",
    ):
        assert len(browser.get(path).content) + style <= 40_000, path


def _style(browser: Browser) -> str:
    found = re.search(r'href="(/static/[^"]+\.css)"', browser.get("/ask").text)
    assert found is not None
    return found.group(1)


def test_owner_token_is_good_on_this_machine_alone(browse: Browse) -> None:
    local = browse(key=None)
    assert local.sign_in(OWNER).status_code == 200
    away = browse("b.db", key=None, host="0.0.0.0", allowed_hosts=("127.0.0.1",))
    assert away.sign_in(OWNER).status_code == 401
