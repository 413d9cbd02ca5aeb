"""A server in this process, asked through its application."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from recollect.edge.http.app import make_app
from recollect.edge.http.options import ServerOptions
from recollect.engine import SystemClock

TOKEN = "local_let-me-in"

Serve = Callable[..., TestClient]


@pytest.fixture(autouse=True)
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine's clock stand still: hours are everybody's, and would move on."""
    monkeypatch.setattr(SystemClock, "now", lambda _: 1_800_000_000.0)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Return what serves a file of this test's; a key, or the token of the start, is shown."""
    with ExitStack() as clients:

        def start(name: str = "a.db", *, key: str | None = TOKEN, **options: Any) -> TestClient:
            chosen = ServerOptions(db=str(tmp_path / name), **{"token": TOKEN, **options})
            client = TestClient(make_app(chosen), base_url="http://127.0.0.1:8377")
            if key is not None:
                client.headers["Authorization"] = f"Bearer {key}"
            return clients.enter_context(client)

        yield start
