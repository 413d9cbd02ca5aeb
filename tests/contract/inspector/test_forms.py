"""Every form is from a page of the session that sends it, and no page changes anything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.contract.inspector.conftest import OWNER, Browse, Browser

from recollect import Recollect
from recollect.edge.inspector.pages import FORMS, PAGES
from recollect.edge.inspector.sessions import form_token

PATHS = sorted({form.path for form in FORMS})
# What stands where a path has a name, and what is typed: enough for each form to do something.
NAMES = {"pak_id": "one", "slug": "garden", "prefix": "abc", "thread": "t", "kind": "tag"}
FIELDS = {
    **NAMES,
    "name": "attention",
    "principal": "eve",
    "role": "reader",
    "permissions": "admin",
    "source": "eve",
    "trust": "1",
    "other": "two",
    "keep": "two",
    "slug": "garden",
    "sure": "true",
}
OWN = {"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8377"}


def filled(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: NAMES.get(found[1], "one"), path)


@pytest.fixture
def memory(tmp_path: Path) -> Recollect:
    memory = Recollect.open(tmp_path / "a.db")
    memory.remember("one", pak_id="one", thread="t", tags=["x"])
    memory.remember("two", pak_id="two")
    memory.dispute("one", "two")
    memory.gardens.create("garden", name="Garden", scope="company")
    memory.trust.set("bot", 0.1)
    memory.ingest([{"entity": "a", "relation": "b", "value": "c"}], source="bot")
    return memory


@pytest.fixture
def owner(memory: Recollect, browse: Browse) -> Browser:
    return browse(memory=memory, key=OWNER)


def send(browser: Browser, path: str, token: str | None, **headers: str) -> Any:
    fields = {**FIELDS, **({} if token is None else {"token": token})}
    return browser.client.post(
        filled(path), data=fields, headers={**OWN, **headers}, follow_redirects=False
    )


@pytest.mark.parametrize("path", PATHS)
def test_a_form_that_no_page_of_ours_sent_does_nothing(
    memory: Recollect, owner: Browser, path: str
) -> None:
    token, head = owner.token(), memory.head()
    refused = [
        send(owner, path, None),
        send(owner, path, ""),
        send(owner, path, form_token("somebody else's session")),
        send(owner, path, token, **{"sec-fetch-site": "cross-site"}),
        send(owner, path, token, **{"sec-fetch-site": "same-site"}),
        send(owner, path, token, origin="http://evil.example"),
        send(owner, path, token, origin="null"),
        send(owner, path, token, host="evil.example"),
    ]
    assert [one.status_code for one in refused] == [403] * len(refused)
    assert memory.head() == head


@pytest.mark.parametrize("path", PATHS)
def test_a_form_without_a_session_does_nothing(
    memory: Recollect, owner: Browser, path: str
) -> None:
    token, head = owner.token(), memory.head()
    owner.client.cookies.clear()
    assert send(owner, path, token).status_code in (303, 403)
    # A key in a header is for programs, which have the API; no page of another site has it.
    answer = send(owner, path, token, authorization=f"Bearer {OWNER}")
    assert answer.status_code == 403
    assert memory.head() == head


@pytest.mark.parametrize("path", PATHS)
def test_what_a_form_does_is_not_done_by_opening_its_address(
    memory: Recollect, owner: Browser, path: str
) -> None:
    token, head = owner.token(), memory.head()
    query = {**FIELDS, "token": token}
    for method in ("GET", "HEAD", "OPTIONS"):
        owner.client.request(method, filled(path), params=query, headers=OWN)
    assert memory.head() == head


@pytest.mark.parametrize("path", sorted({page.path for page in PAGES}))
def test_no_page_writes(memory: Recollect, owner: Browser, path: str) -> None:
    head = memory.head()
    for name in (filled(path), f"{filled(path)}.json"):
        for query in ({}, {"query": "one", **FIELDS}, {"thread": "t"}, {"words": "one"}):
            answer = owner.client.get(name, params=query)
            assert answer.status_code in (200, 400, 404, 422), (name, query, answer.text)
    assert memory.head() == head


def test_the_forms_do_something_when_they_are_sent_as_they_should(
    memory: Recollect, owner: Browser
) -> None:
    """Otherwise the tests above would hold of forms that do nothing at all."""
    head = memory.head()
    assert send(owner, "/trust", owner.token()).status_code == 303
    assert memory.head() != head
    assert memory.trust.list()["eve"] == 1.0


@pytest.mark.parametrize(
    ("path", "field", "typed"),
    [
        ("/ask?query=one&top_k=many", "top_k", "many"),
        ("/ask?query=one&now=soon", "now", "soon"),
        ("/keep?since=yesterday-ish&tags=x", "since", "yesterday-ish"),
        ("/keep?metadata=%3D7", "metadata", "=7"),
        ("/timeline?until=x", "until", "x"),
        ("/frame?name=task&r_budget=much&r_filters=1", "r_budget", "much"),
        ("/frame?name=task&w_recency=lots", "w_recency", "lots"),
        ("/forget?thread=t&since=x", "since", "x"),
        ("/threads/t?turn=last", "turn", "last"),
    ],
)
def test_what_is_mistyped_comes_back_with_what_is_wrong_beside_it(
    owner: Browser, memory: Recollect, path: str, field: str, typed: str
) -> None:
    for number in range(12):
        memory.remember(f"turn {number}", thread="t")
    page = owner.get(path)
    assert page.status_code == 422
    found = re.search(
        rf'<input name="{field}" [^>]*value="([^"]*)"[^>]*aria-invalid="true"', page.text
    )
    assert found is not None, path
    assert found[1] == typed
    assert f'id="wrong-{field}"' in page.text
    assert owner.get(path.replace("?", ".json?")).status_code == 422


@pytest.mark.parametrize(
    ("path", "on", "fields", "field"),
    [
        ("/trust", "/trust", {"source": "mail", "trust": "very"}, "trust"),
        ("/trust", "/trust", {"source": "mail", "trust": "7"}, "trust"),
        ("/keys", "/keys", {"principal": "eve", "expires_at": "never"}, "expires_at"),
        ("/gardens", "/gardens", {"slug": "Not A Slug!", "name": "Shed"}, "slug"),
        ("/gardens/garden", "/gardens/garden", {"name": "Shed", "tier": "top"}, "tier"),
    ],
)
def test_a_form_that_will_not_do_comes_back_as_it_was_sent(
    owner: Browser, path: str, on: str, fields: dict[str, str], field: str
) -> None:
    page = owner.send(path, on=on, **fields)
    assert page.status_code == 422
    for name, typed in fields.items():
        assert re.search(rf'<input name="{name}" [^>]*value="{re.escape(typed)}"', page.text), name
    assert f'id="wrong-{field}"' in page.text
