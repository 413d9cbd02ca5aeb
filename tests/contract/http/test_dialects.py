"""What holds for routes of `/v1` holds in a dialect: quotas, names of requests, bad values."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.contract.http.conftest import Serve

from recollect.edge.http.compat.endpoints import DIALECTS
from recollect.engine import Recollect
from recollect.errors import StoreBusy

FACT = {"entity": "kiln", "relation": "state", "source": "agent:ann", "scope": "local"}


def fact(value: str, **more: Any) -> dict[str, Any]:
    return {**FACT, "value": {"type": "string", "v": value}, **more}


def test_a_tenant_s_quota_holds_in_a_dialect(serve: Serve) -> None:
    client = serve(most_memories=3)
    many = {"messages": ["One.", "Two.", "Three.", "Four."], "user_id": "ann"}
    refused = client.post("/compat/mem0/memories", json=many)
    assert (refused.status_code, refused.json()["code"]) == (403, "over_quota")
    assert client.get("/v1/memories").json()["items"] == []
    for value in ("cold", "warm", "hot"):
        assert client.post("/compat/stigmem/v1/facts", json=fact(value)).status_code == 201
    over = client.post("/compat/stigmem/v1/facts", json=fact("white"))
    assert (over.status_code, over.json()["code"]) == (403, "over_quota")


@pytest.mark.parametrize("sent", [{"threshold": 10**400}, {"threshold": "wide"}, {"top_k": 0}])
def test_a_number_that_is_none_is_refused(serve: Serve, sent: dict[str, Any]) -> None:
    asked = {"query": "kiln", "user_id": "ann", **sent}
    assert serve().post("/compat/mem0/search", json=asked).status_code == 422


def test_a_conflict_that_nobody_can_read_is_not_there(serve: Serve) -> None:
    deep = base64.urlsafe_b64encode(b"[" * 20_000).decode()
    path = f"/compat/stigmem/v1/conflicts/{deep}/resolve"
    assert serve().post(path, json={"winning_fact_id": "x"}).status_code == 404


def test_the_name_of_a_request_is_read_as_everywhere(serve: Serve) -> None:
    client = serve()
    sent = {"messages": "Tea.", "user_id": "ann"}
    wrong = client.post("/compat/mem0/memories", json=sent, headers={"idempotency-key": "a b"})
    assert wrong.status_code == 422


def test_a_retraction_that_is_sent_again_is_answered_as_it_was(serve: Serve) -> None:
    client = serve()
    assert client.post("/compat/stigmem/v1/facts", json=fact("cold")).status_code == 201
    back = fact("cold", confidence=0.0)
    named = {"idempotency-key": "back-1"}
    told = [client.post("/compat/stigmem/v1/facts", json=back, headers=named) for _ in range(2)]
    assert [one.status_code for one in told] == [201, 201]
    assert told[0].json()["id"] == told[1].json()["id"]


@pytest.mark.parametrize("decision", ["winner", "new value"])
def test_a_conflict_is_resolved_once_however_often_that_is_sent(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, decision: str
) -> None:
    client = serve()
    ids = [
        client.post("/compat/stigmem/v1/facts", json=fact(value)).json()["id"]
        for value in ("cold", "warm")
    ]
    (conflict,) = client.get("/compat/stigmem/v1/conflicts").json()["conflicts"]
    path = f"/compat/stigmem/v1/conflicts/{conflict['conflict_id']}/resolve"
    by_winner = {"winning_fact_id": ids[0]}
    by_value = {"new_value": {"type": "string", "v": "mild"}}
    sent, other = (by_winner, by_value) if decision == "winner" else (by_value, by_winner)
    named = {"idempotency-key": "settle-1"}

    def cut_off(*_: Any, **__: Any) -> bool:
        raise StoreBusy("cut off before the end.")

    with monkeypatch.context() as until_then:
        until_then.setattr(Recollect, "resolve", cut_off)
        assert client.post(path, json=sent, headers=named).status_code == 503
    told = [client.post(path, json=sent, headers=named) for _ in range(3)]
    assert [one.status_code for one in told] == [200, 200, 200]
    assert len({one.text for one in told}) == 1
    assert client.get("/compat/stigmem/v1/conflicts").json()["conflicts"] == []
    refused = client.post(path, json=other, headers=named)
    assert (refused.status_code, refused.json()["code"]) == (422, "request_id_reused")
    for late in ({}, {"idempotency-key": "settle-2"}):
        assert client.post(path, json=sent, headers=late).status_code == 404


def test_the_dialects_are_described_in_a_document_of_their_own(serve: Serve) -> None:
    client = serve()
    told = client.get("/compat/openapi.json").json()
    spoken = {
        (prefix + one.path, one.method.lower()) for prefix, rows in DIALECTS.items() for one in rows
    }
    assert {(path, method) for path, found in told["paths"].items() for method in found} == spoken
    for path, found in told["paths"].items():
        assert not path.startswith("/v1")
        for one in found.values():
            assert ("requestBody" in one) <= ({"400", "413", "422"} <= set(one["responses"]))
    assert not any(
        path.startswith("/compat") for path in client.get("/openapi.json").json()["paths"]
    )


def test_the_examples_of_the_dialects_are_taken(serve: Serve) -> None:
    client = serve()
    for prefix, rows in DIALECTS.items():
        for one in rows:
            if one.example and "{" not in one.path:
                sent: dict[str, Any] = {"json" if one.has_body else "params": dict(one.example)}
                answer = client.request(one.method, prefix + one.path, **sent)
                assert answer.status_code == one.status, (one.path, answer.text)
