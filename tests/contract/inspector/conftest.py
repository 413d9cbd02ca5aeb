"""The inspector in this process, asked through the server's application."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from recollect.edge.http.app import make_app
from recollect.edge.http.options import ServerOptions

TOKEN = "local_let-me-in"
OWNER = "owner_secret"
CODE = "entrance-code"

Browse = Callable[..., "Browser"]


class Browser:
    """A browser without scripts: it keeps cookies, and fills in forms with their tokens."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, **more)

    def json(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def token(self, path: str = "/ask") -> str:
        found = re.search(r'name="token" value="([^"]*)"', self.client.get(path).text)
        assert found is not None
        return found.group(1)

    def send(self, path: str, *, on: str = "/ask", **fields: Any) -> Any:
        """Send a form from one of our own pages."""
        return self.client.post(
            path,
            data={"token": self.token(on), **fields},
            headers={"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8377"},
        )

    def sign_in(self, key: str = TOKEN, **fields: Any) -> Any:
        return self.send("/sign-in", on="/sign-in", key=key, **fields)


@pytest.fixture
def browse(tmp_path: Path) -> Iterator[Browse]:
    """Return what starts a server of a file, and a browser at it that is signed in."""
    with ExitStack() as clients:

        def start(
            name: str = "a.db", *, key: str | None = TOKEN, memory: Any = None, **options: Any
        ) -> Browser:
            given = {"token": TOKEN, "owner_token": OWNER, "entrance": CODE, **options}
            chosen = ServerOptions(db=str(tmp_path / name), **given)
            app = make_app(chosen, memory=memory)
            client = TestClient(app, base_url="http://127.0.0.1:8377", follow_redirects=True)
            browser = Browser(clients.enter_context(client))
            if key is not None:
                assert browser.sign_in(key).status_code == 200
            return browser

        yield start
