"""Clients of other memories, unchanged, against a real server: its keys, limits and View hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import stigmem
from tests.e2e.http.running import Running, running

from recollect import Recollect
from recollect.model import Permission
from recollect.policy import Principal

ALL: tuple[Permission, ...] = ("read", "write")
READS: tuple[Permission, ...] = ("read",)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, dict[str, str]]]:
    db = tmp_path_factory.mktemp("dialects") / "a.db"
    with Recollect.open(db) as memory:
        made = {
            name: memory.keys.create(Principal("acme", name, (), may)).secret or ""
            for name, may in {"ann": ALL, "bob": ALL, "eve": READS}.items()
        }
    with running(db) as server:
        yield server, made


def mem0(keys: tuple[Running, dict[str, str]], who: str, **headers: str) -> httpx.Client:
    server, made = keys
    sent = headers or {"X-API-Key": made[who]}
    return httpx.Client(base_url=f"{server.url}/compat/mem0", headers=sent, timeout=30)


def say(client: httpx.Client, text: str, **whose: Any) -> Any:
    sent = {"messages": [{"role": "user", "content": text}], "infer": True, **whose}
    answer = client.post("/memories", json=sent)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_a_user_of_mem0_adds_finds_changes_and_deletes(keys: Any) -> None:
    with mem0(keys, "ann") as client:
        (one,) = say(client, "I like green tea.", user_id="u1", metadata={"topic": "tea"})
        assert (one["memory"], one["event"]) == ("I like green tea.", "ADD")
        assert say(client, "I like green tea.", user_id="u1")[0]["event"] == "NONE"
        (other,) = say(client, "I like green tea.", user_id="u2")
        assert other["id"] != one["id"]
        found = client.post("/search", json={"query": "which tea?", "user_id": "u1"}).json()
        assert [hit["id"] for hit in found["results"]] == [one["id"]]
        assert found["results"][0]["score"] > 0
        by_filters = {"query": "tea", "filters": {"user_id": "u2"}}
        found = client.post("/search", json=by_filters).json()
        assert [hit["id"] for hit in found["results"]] == [other["id"]]
        changed = client.put(f"/memories/{one['id']}", json={"text": "I like black tea."})
        assert changed.json() == {"message": "Memory updated successfully!"}
        told = client.get(f"/memories/{one['id']}").json()
        assert (told["memory"], told["user_id"]) == ("I like black tea.", "u1")
        events = client.get(f"/memories/{one['id']}/history").json()
        assert [(event["event"], event["new_memory"]) for event in events] == [
            ("ADD", "I like green tea."),
            ("UPDATE", "I like black tea."),
        ]
        assert [one_["id"] for one_ in client.get("/memories?user_id=u1").json()["results"]] == [
            one["id"]
        ]
        assert client.delete(f"/memories/{one['id']}").status_code == 200
        assert client.get(f"/memories/{one['id']}").status_code == 404
        assert client.delete("/memories?user_id=u2").status_code == 200
        assert client.get("/memories?user_id=u2").json() == {"results": []}


def test_a_user_id_is_no_principal(keys: Any) -> None:
    with mem0(keys, "ann") as ann, mem0(keys, "bob") as bob:
        (one,) = say(ann, "The safe is behind the clock.", user_id="bob")
        asked = {"query": "where is the safe?", "user_id": "bob"}
        assert bob.post("/search", json=asked).json() == {"results": []}
        assert bob.get("/memories?user_id=bob").json() == {"results": []}
        hidden = bob.get(f"/memories/{one['id']}")
        absent = bob.get("/memories/nobody")
        assert (hidden.status_code, absent.status_code) == (404, 404)
        assert hidden.json()["code"] == absent.json()["code"]
        assert bob.put(f"/memories/{one['id']}", json={"text": "x"}).status_code == 404
        assert bob.delete(f"/memories/{one['id']}").status_code == 404
        assert bob.delete("/memories?user_id=bob").status_code == 200
        assert ann.get(f"/memories/{one['id']}").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"Authorization": "Token {}"}, {"Authorization": "Bearer {}"}, {"X-API-Key": "{}"}],
)
def test_a_key_may_stand_where_the_dialect_has_it(keys: Any, headers: dict[str, str]) -> None:
    sent = {name: value.format(keys[1]["ann"]) for name, value in headers.items()}
    with mem0(keys, "ann", **sent) as client:
        assert client.get("/memories?user_id=u").status_code == 200


def test_without_a_good_key_nothing_is_told(keys: Any) -> None:
    for sent in ({"X-API-Key": "rk_no"}, {"Authorization": "Token no"}, {"Accept": "*/*"}):
        with mem0(keys, "ann", **sent) as client:
            for answer in (client.get("/memories?user_id=u"), client.post("/search", json={})):
                assert answer.status_code == 401
                assert isinstance(answer.json()["detail"], str)


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/memories", {"messages": "no user"}),
        ("/memories", {"messages": [7], "user_id": "u"}),
        ("/memories", {"user_id": "u"}),
        ("/memories", {"messages": "x", "user_id": "u", "metadata": 7}),
        ("/search", {"user_id": "u"}),
        ("/search", {"query": "x", "user_id": "u", "filters": {"a": {"b": 1}}}),
        ("/search", {"query": "x", "user_id": "u", "top_k": -1}),
        ("/search", {"query": "x"}),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(keys: Any, path: str, sent: Any) -> None:
    with mem0(keys, "ann") as client:
        answer = client.post(path, json=sent)
        assert answer.status_code in (400, 422)
        assert isinstance(answer.json()["detail"], str)


def test_who_may_only_read_writes_nothing(keys: Any) -> None:
    with mem0(keys, "eve") as client:
        sent = {"messages": "x", "user_id": "u"}
        assert client.post("/memories", json=sent).status_code == 403


def test_a_request_that_is_named_is_done_once(keys: Any) -> None:
    with mem0(keys, "ann") as client:
        sent = {"messages": "The boiler hums.", "user_id": "once"}
        named = {"Idempotency-Key": "k-1"}
        first = client.post("/memories", json=sent, headers=named)
        assert client.post("/memories", json=sent, headers=named).content == first.content
        other = client.post("/memories", json={**sent, "user_id": "two"}, headers=named)
        assert other.status_code == 422


@pytest.fixture
def ann(keys: Any) -> Iterator[Any]:
    server, made = keys
    with stigmem.StigmemClient(url=f"{server.url}/compat/stigmem", api_key=made["ann"]) as client:
        yield client


@pytest.fixture
def bob(keys: Any) -> Iterator[Any]:
    server, made = keys
    with stigmem.StigmemClient(url=f"{server.url}/compat/stigmem", api_key=made["bob"]) as client:
        yield client


def test_stigmem_knows_the_node(ann: Any) -> None:
    info = ann.node_info()
    assert (info.auth, info.federation) == ("required", "disabled")
    assert info.node_url.endswith("/compat/stigmem")
    assert ann.federation_status() == []


@pytest.mark.parametrize(
    "value",
    [
        ("string_value", "CEO"),
        ("text_value", "Leads the company."),
        ("number_value", 4.5),
        ("boolean_value", False),
        ("datetime_value", "2026-05-08T13:56:00Z"),
        ("ref_value", "user:bob"),
    ],
)
def test_stigmem_gets_what_it_asserted(ann: Any, value: tuple[str, Any]) -> None:
    made = getattr(stigmem, value[0])(value[1])
    fact = ann.assert_fact("user:carl", f"memory:{value[0]}", made, "agent:cto", confidence=0.75)
    assert (fact.entity, fact.source, fact.confidence) == ("user:carl", "agent:cto", 0.75)
    assert fact.value == made
    assert ann.get(fact.id) == fact
    page = ann.query(entity="user:carl", relation=f"memory:{value[0]}")
    assert [one.id for one in page.facts] == [fact.id]


def test_stigmem_asserts_nothing_as_null(ann: Any) -> None:
    fact = ann.assert_fact("user:dora", "memory:pet", stigmem.null_value(), "agent:cto")
    assert fact.value == stigmem.null_value()


def test_stigmem_hears_of_conflicts_and_settles_them(ann: Any) -> None:
    values = [stigmem.string_value(name) for name in ("Rome", "Oslo")]
    first, second = (
        ann.assert_fact("user:ines", "memory:home", value, f"agent:{n}")
        for n, value in enumerate(values)
    )
    found = [
        one
        for one in ann.list_conflicts(limit=100).conflicts
        if {one.fact_a.id, one.fact_b.id} == {first.id, second.id}
    ]
    assert [one.status for one in found] == ["unresolved"]
    assert ann.get(first.id).contradicted
    assert ann.query(entity="user:ines").facts == []
    both = ann.query(entity="user:ines", include_contradicted=True)
    assert {one.id for one in both.facts} == {first.id, second.id}
    done = ann.resolve_conflict(found[0].conflict_id, winning_fact_id=second.id)
    assert done.resolution_fact_id == second.id
    assert [one.id for one in ann.query(entity="user:ines").facts] == [second.id]
    with pytest.raises(stigmem.StigmemNotFoundError):
        ann.resolve_conflict(found[0].conflict_id, winning_fact_id=second.id)


def test_stigmem_takes_back_what_it_said(ann: Any) -> None:
    said = ann.assert_fact("user:omar", "memory:pet", stigmem.string_value("cat"), "agent:x")
    back = ann.retract("user:omar", "memory:pet", "company", "agent:x")
    assert back.confidence == 0
    shown = ann.query(entity="user:omar", min_confidence=0.1)
    assert shown.facts == []
    assert ann.get(said.id).id == said.id


def test_stigmem_recalls_within_its_budget(ann: Any) -> None:
    ann.assert_fact(
        "user:lena", "memory:drinks", stigmem.text_value("oat milk with coffee"), "agent:x"
    )
    answer = ann.recall("what does lena drink with coffee?", scope="company", token_budget=200)
    assert answer.facts[0].fact.entity == "user:lena"
    assert answer.facts[0].score_breakdown.weighted_total == answer.facts[0].score > 0
    assert 0 < answer.tokens_used <= 200
    assert (len(answer.recall_id), len(answer.query_hash)) == (36, 64)


def test_stigmem_is_told_of_nothing_that_is_not_for_it(ann: Any, bob: Any) -> None:
    fact = ann.assert_fact(
        "user:ann", "memory:code", stigmem.string_value("4711"), "agent:x", scope="local"
    )
    with pytest.raises(stigmem.StigmemNotFoundError) as hidden:
        bob.get(fact.id)
    with pytest.raises(stigmem.StigmemNotFoundError) as absent:
        bob.get("nobody")
    assert str(hidden.value).replace(fact.id, "it") == str(absent.value).replace("nobody", "it")
    assert bob.query(entity="user:ann").facts == []
    assert bob.recall("what is the code?").facts == []
    assert ann.query(entity="user:ann").facts == [fact]


def test_stigmem_hears_of_a_key_that_is_not_good(keys: Any) -> None:
    url = f"{keys[0].url}/compat/stigmem"
    with stigmem.StigmemClient(url=url) as client, pytest.raises(stigmem.StigmemAuthError):
        client.recall("anything")
    with (
        stigmem.StigmemClient(url=url, api_key=keys[1]["eve"]) as client,
        pytest.raises(stigmem.StigmemAuthError),
    ):
        client.assert_fact("a", "b", stigmem.string_value("c"), "d")
