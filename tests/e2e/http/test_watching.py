"""What an operator sees of a real server: health, logs, numbers, and what is refused."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from tests.e2e.http.running import START_S, TOKEN, Running, running

from recollect import Recollect
from recollect.model import Principal

SECRET = "The vault opens at dawn."


def _numbers(server: Running, key: str = TOKEN) -> dict[str, float]:
    with server.client(key) as client:
        page = client.get("/metrics")
    assert page.status_code == 200, page.text
    found = re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", page.text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def _until(truth: object, wanted: object) -> None:
    until = time.monotonic() + START_S
    while truth() != wanted:  # type: ignore[operator]
        assert time.monotonic() < until, truth()  # type: ignore[operator]
        time.sleep(0.1)


def test_health_needs_no_key_and_tells_nothing(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as server, server.client("wrong") as client:
        alive, ready = client.get("/healthz"), client.get("/readyz")
        assert (alive.status_code, alive.json()) == (200, {"ok": True})
        assert (ready.status_code, ready.json()) == (200, {"ok": True})


def test_a_server_whose_store_went_away_is_alive_and_not_ready(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with running(path) as server, server.client() as client:
        assert client.get("/readyz").status_code == 200
        path.rename(tmp_path / "b.db")
        path.write_bytes(b"")
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()) == (503, {"ok": False})
        assert client.get("/healthz").status_code == 200


def test_a_line_a_request_without_texts_and_secrets(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", log="json") as server:
        with server.client() as client:
            headers = {"x-request-id": "mine-1"}
            client.post("/v1/memories", json={"content": SECRET}, headers=headers)
            client.post("/v1/recall", json={"query": "When does the vault open?"})
            client.get("/v1/ids", params={"beginning": "vaultname"})
        with server.client("rk_wrong") as client:
            client.get("/v1/stats")
        server.end()
    lines = [json.loads(line) for line in server.log]
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["verb"] for line in requests] == ["remember", "recall", "ids", "stats"]
    assert [line["status"] for line in requests] == [200, 200, 200, 401]
    assert requests[0]["request_id"] == "mine-1"
    assert requests[3]["code"] == "key_needed"
    assert all(line["bytes"] > 0 and line["ms"] > 0 and line["time"] for line in requests)
    assert not re.search("vault|rk_wrong|let-me-in", server.said)


def test_queries_are_logged_when_texts_are_asked_for(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", log_texts=True) as server:
        with server.client() as client:
            client.get("/v1/ids", params={"beginning": "vaultname"})
        server.end()
    assert "vaultname" in server.said


def test_a_key_is_logged_by_its_public_part(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Recollect.open(path) as memory:
        issued = memory.keys.create(Principal(id="ann", tenant="acme"))
    with running(path, log="json") as server:
        with server.client(issued.secret) as client:
            assert client.get("/v1/stats").status_code == 200
        server.end()
    (line,) = [json.loads(one) for one in server.log]
    assert line["key"] == issued.row.prefix
    assert issued.secret not in server.said


def test_numbers_are_of_all_workers_and_survive_one_that_dies(tmp_path: Path) -> None:
    import os
    import signal

    with running(tmp_path / "a.db", workers=2) as server:
        for number in range(12):  # a connection each: either worker may take it
            with server.client() as client:
                client.post("/v1/memories", json={"content": f"Note {number}."})
                client.get("/v1/memories/nowhere")
        with server.client("wrong") as client:
            client.get("/v1/stats")
        written = 'recollect_requests_total{status="200",verb="remember"}'
        numbers = _numbers(server)
        assert numbers[written] == 12
        assert numbers['recollect_requests_total{status="404",verb="get"}'] == 12
        assert numbers['recollect_refused_total{reason="key_needed"}'] == 1
        assert numbers['recollect_refused_total{reason="unknown_pak"}'] == 12
        assert numbers['recollect_request_seconds_count{verb="remember"}'] == 12
        assert numbers["recollect_in_flight"] == 0
        # What a worker holds is noted every few seconds.
        _until(lambda: _numbers(server)["recollect_index_memories"], 12)
        assert _numbers(server)["recollect_index_bytes"] > 0
        _until(lambda: _numbers(server)["recollect_workers"], 2)
        os.kill(server.workers()[0], signal.SIGKILL)
        _until(lambda: _numbers(server)["recollect_workers"], 2)
        assert _numbers(server)[written] == 12


def test_numbers_are_for_the_operator_once_there_is_a_key(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Recollect.open(path) as memory:
        issued = memory.keys.create(Principal(id="ann", tenant="acme-secret"))
    with running(path, operator_token="the-operator") as server:
        for key in (TOKEN, issued.secret, "wrong"):
            with server.client(key) as client:
                assert client.get("/metrics").status_code == 401
        with server.client(issued.secret) as client:
            client.post("/v1/memories", json={"content": SECRET})
        with server.client("the-operator") as client:
            page = client.get("/metrics").text
    assert 'verb="remember"' in page
    assert not re.search(f"acme|vault|ann|{issued.row.prefix}", page)


def test_a_key_that_asks_too_often_is_refused_by_every_worker(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Recollect.open(path) as memory:
        ann = memory.keys.create(Principal(id="ann")).secret
        bob = memory.keys.create(Principal(id="bob")).secret
    with running(path, workers=2, rate=0.01, burst=5) as server:
        answers = []
        for _ in range(12):
            with server.client(ann) as client:
                answers.append(client.get("/v1/stats"))
        assert [one.status_code for one in answers] == [200] * 5 + [429] * 7
        refused = answers[-1]
        assert 0 < int(refused.headers["retry-after"]) <= 102
        assert refused.json()["code"] == "too_many_requests"
        assert "seconds" in refused.json()["hint"]
        with server.client(bob) as client:
            assert client.get("/v1/stats").status_code == 200


@pytest.mark.parametrize("workers", [1, 2])
def test_a_tenant_gets_no_more_than_its_quota_whoever_answers(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "a.db"
    with Recollect.open(path) as memory:
        ann = memory.keys.create(Principal(id="ann", tenant="acme")).secret
        cyd = memory.keys.create(Principal(id="cyd", tenant="other")).secret
        memory.as_principal(Principal(id="ann", tenant="acme")).remember("Before.", pak_id="b")
    with running(path, workers=workers, most_memories=6, most_bytes=10_000) as server:
        statuses = []
        for number in range(10):
            with server.client(ann) as client:
                answer = client.post("/v1/memories", json={"content": f"Note {number}."})
                statuses.append(answer.status_code)
        assert statuses == [200] * 5 + [403] * 5
        assert answer.json()["code"] == "over_quota"
        with server.client(cyd) as client:
            items = {"items": ["One."] * 7}
            assert client.post("/v1/memories/batch", json=items).status_code == 403
            long = {"content": "long " * 2_100}
            assert client.post("/v1/memories", json=long).status_code == 403
            assert client.post("/v1/memories", json={"content": "Short."}).status_code == 200
        with server.client(ann) as client:
            assert client.delete("/v1/memories/b").status_code == 200
            again = lambda: client.post("/v1/memories", json={"content": "Again."}).status_code  # noqa: E731
            _until(again, 200)
