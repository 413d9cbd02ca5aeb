"""Who wrote is told how far the store has come, and may ask for at least that; nobody else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.contract.http.conftest import Serve

from recollect import Recollect
from recollect.edge.http.commits import ASKED, TOLD
from recollect.model import PERMISSIONS, Principal

ASKING = {"query": "kiln", "now": "2026-11-18T09:00:00Z"}


def written(client: TestClient, text: str = "The kiln is booked.") -> str:
    answer = client.post("/v1/memories", json={"content": text})
    assert answer.status_code == 200
    return answer.headers[TOLD]


def two_tenants(path: Path) -> tuple[str, str]:
    with Recollect.open(path, embedder="none") as memory:
        made = [memory.keys.create(Principal(name, name, (), PERMISSIONS)) for name in ("a", "b")]
    return str(made[0].secret), str(made[1].secret)


def test_a_reader_asks_for_at_least_its_own_write_on_any_worker(serve: Serve) -> None:
    one, other = serve(), serve()  # two servers of one file, like two workers
    token = written(one)
    for method, path, body in (
        ("POST", "/v1/recall", ASKING),
        ("GET", "/v1/memories", None),
        ("GET", "/v1/export", None),
    ):
        answer = other.request(method, path, json=body, headers={ASKED: token})
        assert (answer.status_code, answer.headers[TOLD]) == (200, token), path
        assert "The kiln is booked." in answer.text
        assert TOLD not in other.request(method, path, json=body).headers


def test_what_was_asked_for_holds_after_a_restart_too(serve: Serve) -> None:
    token = written(serve())
    assert serve().get("/v1/stats", headers={ASKED: token}).status_code == 200


@pytest.mark.parametrize("shown", ["", "7", "x" * 48, "é", "A" * 4_000])
def test_what_is_no_commit_of_this_store_is_refused(serve: Serve, shown: str) -> None:
    client, other = serve(), serve("b.db")
    for wrong in (shown, written(other)):
        answer = client.get("/v1/stats", headers={ASKED.encode(): wrong.encode()})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
        assert TOLD not in answer.headers


def test_a_store_that_was_put_back_has_not_come_so_far(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    written(client)
    with Recollect.open(tmp_path / "a.db") as memory:
        memory.backup(tmp_path / "before.db")
    token = written(client, "The kiln is free.")
    before = serve("before.db")
    answer = before.get("/v1/stats", headers={ASKED: token})
    assert (answer.status_code, answer.json()["code"]) == (503, "store_busy")
    written(before, "Another history.")
    assert before.get("/v1/stats", headers={ASKED: token}).status_code == 503


def test_each_write_tells_it_and_what_is_repeated_too(serve: Serve) -> None:
    client = serve()
    for _ in range(2):
        named = {"Idempotency-Key": "n1"}
        answer = client.post("/v1/memories", json={"content": "tea", "pak_id": "t"}, headers=named)
        token = answer.headers[TOLD]
        assert client.get("/v1/memories/t", headers={ASKED: token}).status_code == 200
    assert (
        TOLD in client.post("/v1/import", content=b'{"kind": "memory", "content": "x"}\n').headers
    )
    assert TOLD in client.delete("/v1/memories/t").headers
    assert TOLD not in client.delete("/v1/memories/t").headers  # an error tells nothing


def test_the_writes_of_others_are_in_no_header(serve: Serve, tmp_path: Path) -> None:
    """Twins: with and without another tenant's writes, what one is told is the same but for chance.

    A token is as long either way, and of one commit it differs each time: no order and no number
    can be read from it.
    """
    seen = []
    for name, busy in (("quiet.db", False), ("busy.db", True)):
        mine, theirs = two_tenants(tmp_path / name)
        client = serve(name, key=mine)
        told = []
        for number in range(3):
            answer = client.post("/v1/memories", json={"content": "tea", "pak_id": f"m{number}"})
            told.append((answer.status_code, answer.content, _plain(answer.headers)))
            if busy:
                other = {"Authorization": f"Bearer {theirs}"}
                for more in range(7):
                    client.post("/v1/memories", json={"content": f"n {more}"}, headers=other)
            read = client.post("/v1/recall", json=ASKING)
            told.append((read.status_code, read.content, _plain(read.headers)))
        seen.append(told)
    assert seen[0] == seen[1]
    tokens = {client.post("/v1/memories/m0/archive", json={}).headers[TOLD] for _ in range(4)}
    assert len(tokens) == 4
    assert {len(one) for one in tokens} == {48}


def _plain(headers: object) -> dict[str, object]:
    """Return headers with what is chance by its length alone."""
    told = dict(headers)  # type: ignore[call-overload]
    return {
        name: len(value) if name in (TOLD, "x-request-id") else value
        for name, value in told.items()
    }
