"""What nobody foresaw: the client learns nothing of it, the log all of it, under one id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
from starlette.testclient import TestClient

from recollect.edge.http.app import make_app
from recollect.edge.http.counts import Counts
from recollect.edge.http.options import ServerOptions
from recollect.edge.http.server import Server
from recollect.errors import InvalidInput

SECRET = "The vault opens at dawn."


def lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any, *, texts: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    async def breaks(*_: object) -> NoReturn:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(Server, "begin", breaks)
    options = ServerOptions(db=str(tmp_path / "a.db"), token="t", log="json", log_texts=texts)
    app = make_app(options)
    with TestClient(app, base_url="http://127.0.0.1:1", raise_server_exceptions=False) as client:
        answer = client.get("/v1/stats", headers={"X-Request-Id": "mine-7"})
    assert answer.status_code == 500
    return answer.json(), [json.loads(one) for one in capsys.readouterr().err.splitlines()]


def test_a_fault_is_in_the_log_with_the_id_of_its_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told, said = lines(tmp_path, capsys, monkeypatch, texts=False)
    assert (told["code"], SECRET in str(told)) == ("server_fault", False)
    (fault,) = [one for one in said if one["event"] == "fault"]
    assert fault["request_id"] == "mine-7"
    assert "in breaks" in fault["error"]
    assert fault["error"].endswith("RuntimeError")
    assert SECRET not in str(said)
    (request,) = [one for one in said if one["event"] == "request"]
    assert (request["status"], request["request_id"]) == (500, "mine-7")


def test_its_words_are_logged_when_texts_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, said = lines(tmp_path, capsys, monkeypatch, texts=True)
    (fault,) = [one for one in said if one["event"] == "fault"]
    assert SECRET in fault["error"]


def test_each_of_many_texts_without_a_vector_is_counted() -> None:
    counts = Counts(None)
    counts.answered("remember_many", {"remembered": 5, "created": 5, "pending": 3, "items": []})
    counts.answered("remember", {"pak_id": "a", "state": "pending"})
    counts.answered("remember_many", {"remembered": 1, "created": 1, "pending": 0, "items": []})
    assert b"recollect_embedder_failures_total 4.0" in counts.page()


def test_a_folder_that_is_to_be_read_only_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "stores").mkdir()
    app = make_app(ServerOptions(db=str(tmp_path / "stores"), token="t", read_only=True))
    with pytest.raises(InvalidInput, match="not served read-only") as refused, TestClient(app):
        pass
    assert "one file" in str(refused.value.hint)


class Collected:
    """Stands for whoever collects spans: keeps all that it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def get_tracer(self, *_: Any, **__: Any) -> Any:
        return self

    def start_span(self, *named: Any, **more: Any) -> Any:
        from opentelemetry.trace import INVALID_SPAN

        self.told.append(f"{named} {more}")
        return INVALID_SPAN


def test_nobody_collects_what_stands_in_a_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FastAPI makes spans of its own, with queries in them, for whoever set up OpenTelemetry."""
    collected = Collected()
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: collected)
    app = make_app(ServerOptions(db=str(tmp_path / "a.db"), token="t"))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        client.headers["Authorization"] = "Bearer t"
        assert client.get("/v1/memories?entity=vault").status_code == 200
        assert client.get("/healthz?entity=vault").status_code == 200
    assert "vault" not in str(collected.told)


def test_a_fault_has_its_id_in_the_header_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(*_: object) -> NoReturn:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(Server, "begin", breaks)
    app = make_app(ServerOptions(db=str(tmp_path / "a.db"), token="t", log="quiet"))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        answer = client.get("/v1/stats", headers={"X-Request-Id": "mine-7"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "mine-7")
