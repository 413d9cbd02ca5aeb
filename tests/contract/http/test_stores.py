"""Stores of a folder, as an operator makes them: once a request, and within a rate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from recollect import Recollect
from recollect.edge.http.app import make_app
from recollect.edge.http.openapi import document
from recollect.edge.http.operating import OPERATIONS
from recollect.edge.http.options import ServerOptions

TOKEN = "the-operator-s-own-token"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "stores"
    place.mkdir()
    return place


@pytest.fixture
def operator(folder: Path) -> Iterator[TestClient]:
    options = ServerOptions(db=str(folder), operator_token=TOKEN, token="t")
    with TestClient(make_app(options), base_url="http://127.0.0.1:8377") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client


def make(client: TestClient, name: str, *, request: str | None = None, **more: str) -> Any:
    headers = {} if request is None else {"Idempotency-Key": request}
    return client.post("/v1/stores", json={"name": name, **more}, headers=headers)


def test_a_store_is_made_once_under_one_name_of_a_request(operator: TestClient) -> None:
    first = make(operator, "acme", request="r1").json()
    again = make(operator, "acme", request="r1").json()
    assert again["key"] == first["key"]
    assert (again["secret"], "told then" in again["note"]) == (None, True)
    key = {"Authorization": f"Bearer {first['secret']}"}
    assert operator.get("/v1/me", headers=key).json()["principal"] == "admin"
    assert len(operator.get("/v1/keys", headers=key).json()["keys"]) == 1


def test_another_request_under_that_name_or_for_that_store_is_refused(operator: TestClient) -> None:
    make(operator, "acme", request="r1")
    for answer, status, code in (
        (make(operator, "acme", request="r1", principal="eve"), 422, "request_id_reused"),
        (make(operator, "acme", request="r2"), 409, "store_exists"),
        (make(operator, "acme"), 409, "store_exists"),
        (make(operator, "other", request="a b"), 422, "invalid_input"),
        (make(operator, "other", colour="red"), 422, "invalid_input"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert operator.get("/v1/stores").json() == {"stores": ["acme"]}


def test_a_request_that_was_cut_off_before_the_key_is_ended_by_the_next(
    operator: TestClient, folder: Path
) -> None:
    made = make(operator, "acme", request="r0").json()
    (file,) = (one for one in folder.rglob("*.db"))
    # As if the process had died between the store and its key.
    operator.delete("/v1/stores/acme")
    with Recollect.open(file):
        pass
    again = make(operator, "acme", request="r0").json()
    assert again["secret"] not in (None, made["secret"])


def test_the_operator_s_requests_are_counted_together(folder: Path) -> None:
    options = ServerOptions(db=str(folder), operator_token=TOKEN, token="t", rate=0.001, burst=2)
    with TestClient(make_app(options), base_url="http://127.0.0.1:8377") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        answers = [client.get("/v1/stores").status_code for _ in range(3)]
    assert answers == [200, 200, 429]


def test_what_an_operator_asks_is_in_the_document() -> None:
    paths = document()["paths"]
    for one in OPERATIONS:
        route = one.described.route
        told = paths[route.path][route.method.lower()]
        assert told["security"] == [{"operator": []}]
        assert "Recollect-At-Least" not in str(told)
    assert "Idempotency-Key" in str(paths["/v1/stores"]["post"]["parameters"])
