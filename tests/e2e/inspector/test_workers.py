"""A session is known to each worker of a server, and ends in each of them."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
from tests.e2e.http.running import TOKEN, running


def test_whichever_worker_answers_knows_who_is_signed_in(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", workers=2) as server:
        with httpx.Client(base_url=server.url, timeout=60) as browser:
            token = re.search(r'name="token" value="([^"]*)"', browser.get("/sign-in").text)
            assert token is not None
            sent = browser.post("/sign-in", data={"token": token.group(1), "key": TOKEN})
            assert sent.status_code == 303
            cookies = dict(browser.cookies)
            page = browser.get("/ask").text
        # Each of these comes by a connection of its own, to whichever worker takes it.
        statuses = {
            httpx.get(f"{server.url}/ask.json", cookies=cookies, timeout=60).status_code
            for _ in range(24)
        }
        assert statuses == {200}
        form = re.search(r'name="token" value="([^"]*)"', page)
        assert form is not None
        httpx.post(f"{server.url}/sign-out", data={"token": form.group(1)}, cookies=cookies)
        left = {
            httpx.get(f"{server.url}/ask.json", cookies=cookies, timeout=60).status_code
            for _ in range(24)
        }
        assert left == {401}
