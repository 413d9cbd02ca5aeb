"""Stored text is shown, never obeyed: tests store what would act on a page, and look."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.contract.inspector.conftest import Browse

from recollect import Recollect
from recollect.edge.inspector.texts import seen

HOSTILE = {
    "script": "<script>document.title='taken'</script> kiln",
    "handler": '<img src=x onerror="document.title=1"> kiln',
    "closing": "</pre></main><h1 onclick=alert(1)>kiln</h1>",
    "link": "[kiln](javascript:alert(1)) <a href='javascript:alert(1)'>kiln</a>",
    "quote": '"\' onmouseover=alert(1) x=" kiln',
    "template": "{{ 7*7 }} {% for x in y %} kiln",
    "bidi": "kiln \u202egnp.exe\u202c \u2066hidden\u2069",
    "nul": "kiln \x1b[31m red \x07",
}


class Tags(HTMLParser):
    """What a browser would act on: each tag with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def hostile(tmp_path: Path) -> list[str]:
    with Recollect.open(tmp_path / "a.db") as memory:
        for name, text in HOSTILE.items():
            memory.remember(
                text,
                pak_id=name,
                title=text,
                tags=[f"<b>{name}"],
                project="<i>p</i>",
                speaker="<u>Ann",
                thread="<script>t",
                source="javascript:alert(1)",
                metadata={"<b>": "<script>"},
                occurred_at="2026-05-01",
            )
        memory.update("script", content="<script>document.title='other'</script> kiln")
        memory.dispute("script", "handler", note="<script>note</script>")
        memory.link("script", "quote")
    pages = [f"/pak/{name}" for name in HOSTILE]
    frames = [f"/frame?name={name}&query=kiln&top_k=9" for name in ("attention", "evidence")]
    return ["/ask?query=kiln&top_k=9", "/ask?query=<script>&why=<script>", *frames, *pages]


def test_nothing_that_was_stored_becomes_a_tag_or_a_handler(
    browse: Browse, hostile: list[str]
) -> None:
    browser = browse()
    for path in hostile:
        tags = Tags()
        page = browser.get(path).text
        tags.feed(page)
        for tag, attributes in tags.found:
            assert tag not in ("img", "i", "b", "u") or attributes.get("src", "").startswith(
                "/static/"
            ), path
            assert tag != "script" or (attributes["src"] or "").startswith("/static/"), path
            assert not [name for name in attributes if name.startswith("on")], path
            assert "style" not in attributes, path
            for name in ("href", "src", "action"):
                value = attributes.get(name)
                assert value is None or value.startswith(("/", "#")), (path, value)
        assert len(re.findall("<script", page)) == len(
            [1 for tag, _ in tags.found if tag == "script"]
        )


def test_what_would_turn_the_reading_round_is_seen_as_a_sign(
    browse: Browse, tmp_path: Path
) -> None:
    # Where the sanitizer is on, such characters do not even leave the engine.
    memory = Recollect.open(tmp_path / "a.db", sanitizer="off")
    memory.remember(HOSTILE["bidi"], pak_id="bidi")
    page = browse(memory=memory).get("/pak/bidi").text
    body = page.partition('<p class="body">')[2].partition("</p>")[0]
    assert not set("\u202e\u202c\u2066\u2069") & set(body)
    assert 'title="U+202E right-to-left override"' in body
    assert body.startswith("<bdi>")


def test_a_line_of_a_megabyte_is_cut_and_can_be_seen_whole(browse: Browse, tmp_path: Path) -> None:
    line = "kiln" + "x" * 400_000
    with Recollect.open(tmp_path / "a.db") as memory:
        memory.remember(line, pak_id="long")
    browser = browse()
    for path in ("/ask?query=kiln&all=1", "/pak/long"):
        assert len(browser.get(path).text) < 60_000, path
    page = browser.get("/pak/long").text
    there = re.search(r'href="(/pak/long\?whole=1)"', page)
    assert there is not None
    assert line in browser.get(there.group(1)).text


def test_each_page_has_the_strict_policy(browse: Browse, hostile: list[str]) -> None:
    browser = browse()
    for path in (*hostile, "/pak/nothing", "/sign-in", "/receipts"):
        policy = browser.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert browser.get(path).headers["cache-control"] == "no-store"


def test_marks_stand_on_words_alone() -> None:
    assert str(seen("a kiln & kilns", "Which kiln?")) == (
        "a <mark>kiln</mark> &amp; <mark>kilns</mark>"
    )
    # What may be read in another direction keeps that to itself.
    assert str(seen("kiln אש", "kiln")) == "<bdi><mark>kiln</mark> אש</bdi>"
    assert "<mark>" not in str(seen("skills", "kiln"))
    assert str(seen(None)) == ""
