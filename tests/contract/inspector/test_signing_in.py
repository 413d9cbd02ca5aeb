"""Who gets in, who stays in, and which forms count."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.contract.inspector.conftest import CODE, Browse

from recollect import Recollect
from recollect.edge.http.identity import Noted
from recollect.edge.inspector.sessions import Held, Sessions
from recollect.model import Principal
from recollect.testing import FakeClock

HTML = {"accept": "text/html"}


def test_without_a_key_one_is_led_to_the_sign_in_and_back_to_the_page(browse: Browse) -> None:
    browser = browse(key=None)
    there = browser.get("/ask?query=kiln", headers=HTML)
    assert there.url.path == "/sign-in"
    assert there.url.params["next"] == "/ask?query=kiln"
    after = browser.sign_in(next="/ask?query=kiln")
    assert (after.status_code, str(after.url.query, "ascii")) == (200, "query=kiln")


def test_a_twin_without_a_key_is_an_error_for_programs(browse: Browse) -> None:
    answer = browse(key=None).get("/ask.json?query=kiln")
    assert answer.status_code == 401
    assert answer.json()["code"] == "key_needed"


def test_a_twin_takes_a_bearer_key_like_the_rest_of_the_server(browse: Browse) -> None:
    answer = browse(key=None).get("/ask.json", headers={"Authorization": "Bearer local_let-me-in"})
    assert answer.json()["memories"] == 0


def test_a_wrong_key_is_told_so_and_nothing_more(browse: Browse) -> None:
    browser = browse(key=None)
    answer = browser.sign_in("rk_nobody_has_this")
    assert answer.status_code == 401
    assert "That key is not good" in answer.text
    assert browser.get("/ask").url.path == "/sign-in"


def test_the_cookie_is_for_this_server_alone_and_for_no_script(browse: Browse) -> None:
    browser = browse(key=None)
    browser.client.follow_redirects = False
    cookies = browser.sign_in().headers.get_list("set-cookie")
    session = next(one for one in cookies if one.startswith("recollect_8377="))
    assert "HttpOnly" in session
    assert "SameSite=strict" in session
    assert "local_let-me-in" not in session


def test_the_next_page_is_one_of_ours_whatever_is_asked_for(browse: Browse) -> None:
    for next_page in ("//evil.example", "https://evil.example/", "/\\evil.example", "ask"):
        browser = browse(key=None)
        assert browser.sign_in(next=next_page).url.path == "/ask"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_of_another_site_does_nothing(browse: Browse, site: str) -> None:
    browser = browse()
    sent = browser.client.post(
        "/sign-out", data={"token": browser.token()}, headers={"sec-fetch-site": site}
    )
    assert sent.status_code == 403
    assert browser.get("/ask").url.path == "/ask"


def test_a_form_without_its_token_does_nothing(browse: Browse) -> None:
    browser = browse()
    other = browse("b.db")
    for token in ("", "0" * 32, other.token()):
        assert browser.client.post("/sign-out", data={"token": token}).status_code == 403
    assert browser.get("/ask").url.path == "/ask"


def test_nobody_is_signed_in_by_a_form_that_their_browser_never_saw(browse: Browse) -> None:
    browser = browse(key=None)
    sent = browser.client.post("/sign-in", data={"key": "local_let-me-in", "token": "0" * 32})
    assert sent.status_code == 403
    assert browser.get("/ask").url.path == "/sign-in"


def test_a_page_asked_for_under_another_host_is_refused(browse: Browse) -> None:
    answer = browse().get("/ask", headers={"host": "evil.example:8377"})
    assert answer.status_code == 403
    assert answer.json()["code"] == "wrong_host"


def test_signed_out_the_old_cookie_opens_nothing(browse: Browse) -> None:
    browser = browse()
    name = browser.client.cookies["recollect_8377"]
    assert browser.send("/sign-out").url.path == "/sign-in"
    browser.client.cookies.set("recollect_8377", name)
    assert browser.get("/ask").url.path == "/sign-in"


def test_a_session_that_nobody_uses_ends(browse: Browse) -> None:
    browser = browse(idle_seconds=60)
    server: Any = browser.client.app.state.server  # type: ignore[attr-defined]
    began = server.clock()
    for later, page in ((50, "/ask"), (100, "/ask"), (161, "/sign-in")):
        server.clock = lambda later=later: began + later
        assert browser.get("/ask").url.path == page


def test_a_key_that_is_revoked_ends_what_was_signed_in_with_it(
    browse: Browse, tmp_path: Path
) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        made = memory.keys.create(Principal("local", "ann", (), ("read",)))
    browser = browse(key=made.secret)
    assert "ann" in browser.get("/ask").text
    with Recollect.open(tmp_path / "a.db") as memory:
        memory.keys.revoke(made.row.prefix)
    assert browser.get("/ask").url.path == "/sign-in"
    # The session itself is gone, not only its key.
    server: Any = browser.client.app.state.server  # type: ignore[attr-defined]
    assert server.sessions.find(browser.client.cookies["recollect_8377"]) is None


def test_a_key_that_expires_ends_what_was_signed_in_with_it(browse: Browse, tmp_path: Path) -> None:
    clock = FakeClock()
    memory = Recollect.open(tmp_path / "a.db", clock=clock)
    until = datetime.fromtimestamp(clock.now() + 60, UTC).isoformat()
    ann = Principal("local", "ann", (), ("read",))
    browser = browse(key=memory.keys.create(ann, expires_at=until).secret, memory=memory)
    assert browser.get("/ask").url.path == "/ask"
    clock.advance(seconds=61)
    assert browser.get("/ask").url.path == "/sign-in"


def test_who_asks_as_another_is_told_when_that_key_ended(browse: Browse, tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        ann, ben = (
            memory.keys.create(Principal("local", name, (), ("read",))) for name in ("ann", "ben")
        )
    browser = browse(key=ben.secret)
    browser.sign_in(ann.secret)
    with Recollect.open(tmp_path / "a.db") as memory:
        memory.keys.revoke(ben.row.prefix)
    refused = browser.get("/ask?as=ben&query=kiln")
    assert refused.status_code == 422
    assert "is not good any more" in refused.text
    assert browser.get("/ask").url.path == "/ask"


def test_the_entrance_lets_one_browser_in_as_the_owner_of_the_file(browse: Browse) -> None:
    first, page = browse(key=None), f"/enter?code={CODE}"
    assert first.get("/enter?code=wrong", headers=HTML).status_code == 404
    assert first.get(page).url.path == "/ask"
    first.client.cookies.clear()
    assert first.get(page).url.path == "/sign-in"


def test_with_two_keys_one_asks_as_either(browse: Browse, tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        keys = {}
        for name in ("ann", "ben"):
            who = Principal("local", name, (), ("read", "write"))
            keys[name] = memory.keys.create(who).secret
            memory.as_principal(who).remember(f"The secret of {name} is a kiln.", pak_id=name)
    browser = browse(key=keys["ann"])
    browser.sign_in(keys["ben"])

    def given(who: str) -> list[str]:
        answer = browser.json(f"/ask.json?query=kiln&as={who}")["answer"]
        return [one["fact"]["pak_id"] for one in answer["results"]]

    assert browser.json("/ask.json")["others"] == ["ben", "ann"]
    assert (given("ann"), given("ben")) == (["ann"], ["ben"])
    assert browser.get("/ask.json?query=kiln&as=cem").status_code == 422


def test_a_session_file_holds_no_key_and_not_its_name(browse: Browse, tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        made = memory.keys.create(Principal("local", "ann", (), ("read",)))
    (tmp_path / "run").mkdir()
    browser = browse(key=made.secret, run_dir=str(tmp_path / "run"))
    name = browser.client.cookies["recollect_8377"]
    files = [path for path in (tmp_path / "run" / "sessions").iterdir() if path.is_file()]
    assert len(files) == 1
    written = files[0].read_text()
    assert made.row.prefix in written
    assert made.secret is not None
    assert made.secret not in written
    assert made.secret.rpartition("_")[2] not in written
    assert name not in written + files[0].name
    assert files[0].stat().st_mode & 0o077 == 0
    assert (tmp_path / "run" / "sessions").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("noted", [Noted("key", None, "0" * 12), Noted("owner"), Noted("local")])
def test_another_worker_finds_what_was_noted(tmp_path: Path, noted: Noted) -> None:
    sessions = Sessions(str(tmp_path), idle_seconds=60, clock=lambda: 0.0)
    session = sessions.begin((Held("ann", noted),))
    again = Sessions(str(tmp_path), idle_seconds=60, clock=lambda: 0.0)
    assert again.find(session.name) == session
    assert again.find("another") is None
