"""Who asks over HTTP is known from the key alone, and what it may not read is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.contract.http.conftest import TOKEN, Serve

from recollect import Recollect
from recollect.model import Principal

LATER, GONE = "2027-03-01T00:00:00Z", "2026-01-01T00:00:00Z"
# What names one request, not its answer.
OF_ONE_REQUEST = {"x-request-id", "date"}


def shown(answer: Any) -> tuple[int, Any, dict[str, str]]:
    """Return what a client sees of an answer, but for the name of the request."""
    headers = {k: v for k, v in answer.headers.items() if k not in OF_ONE_REQUEST}
    body = answer.json() if answer.content else None
    if isinstance(body, dict):
        body.pop("instance", None)
    return answer.status_code, body, headers


def key_of(path: Path, who: Principal, **more: Any) -> str:
    with Recollect.open(path, embedder="none") as memory:
        return str(memory.keys.create(who, **more).secret)


def test_without_a_key_whoever_has_the_token_reads_and_writes_and_no_more(serve: Serve) -> None:
    client = serve()
    assert client.get("/v1/me").json()["permissions"] == ["read", "write"]
    assert client.post("/v1/memories", json={"content": "tea"}).status_code == 200
    assert client.post("/v1/keys", json={"principal": "bob"}).status_code == 403
    assert client.get("/v1/audit").status_code == 403


def test_the_first_key_ends_what_the_token_may(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    assert client.get("/v1/me").status_code == 200
    secret = key_of(tmp_path / "a.db", Principal("local", "ann"))
    assert client.get("/v1/me").status_code == 401
    client.headers["Authorization"] = f"Bearer {secret}"
    assert client.get("/v1/me").json()["principal"] == "ann"


def test_wrong_expired_revoked_and_missing_keys_look_alike(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Recollect.open(path, embedder="none") as memory:
        revoked = memory.keys.create(Principal("local", "ann"))
        memory.keys.revoke(revoked.row.prefix)
        good = memory.keys.create(Principal("local", "ann"))
    wrong = str(good.secret)[:-1] + ("A" if str(good.secret)[-1] != "A" else "B")
    client = serve(key=None)
    missing = shown(client.get("/v1/me"))
    assert missing[0] == 401
    for key in (wrong, str(revoked.secret), TOKEN, "rk_nothing", "", "Bearer", "\u00fcber"):
        header = {b"Authorization": f"Bearer {key}".encode()}
        assert shown(client.get("/v1/me", headers=header)) == missing, key
    assert shown(client.get("/v1/me", headers={"Authorization": "Basic YTpi"})) == missing


def test_a_body_cannot_say_who_asks(serve: Serve) -> None:
    client = serve()
    for field in ("principal", "tenant", "key"):
        answer = client.post("/v1/recall", json={"query": "tea", field: "ann"})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


def test_hidden_and_absent_look_alike_on_every_route_that_names_a_memory(
    serve: Serve, tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    with Recollect.open(path, embedder="none") as memory:
        ann = memory.as_principal(Principal("acme", "ann"))
        ann.remember("The vault code is 7781.", pak_id="hidden-secret-note")
        memory.as_principal(Principal("acme", "bob")).remember("tea", pak_id="tea")
    client = serve(key=key_of(path, Principal("acme", "bob")))
    for method, route, body in (
        ("GET", "/v1/memories/{}", None),
        ("GET", "/v1/memories/{}/history", None),
        ("GET", "/v1/memories/{}/inspect", None),
        ("DELETE", "/v1/memories/{}", None),
        ("PATCH", "/v1/memories/{}", {"title": "mine"}),
        ("POST", "/v1/memories/{}/archive", {}),
        ("POST", "/v1/memories/{}/touch", {}),
        ("POST", "/v1/memories/{}/supersede", {"new": "tea"}),
        ("POST", "/v1/quarantine/{}/promote", {}),
    ):
        told = []
        for name in ("hidden-secret-note", "absent-secret-note"):
            answer = client.request(method, route.format(name), json=body)
            told.append(str(shown(answer)).replace(name, "NAME"))
        assert told[0] == told[1], route
        assert "(404" in told[0], route
    for body in ({"pak_id": "NAME", "query": "vault"}, {"pak_id": "NAME"}):
        told = []
        for name in ("hidden-secret-note", "absent-secret-note"):
            given = {key: one.replace("NAME", name) for key, one in body.items()}
            given["now"] = LATER
            told.append(str(shown(client.post("/v1/explain", json=given))).replace(name, "NAME"))
        assert told[0] == told[1]


def test_a_hidden_memory_changes_no_byte_no_status_and_no_header(
    serve: Serve, tmp_path: Path
) -> None:
    for name, hides in (("plain.db", False), ("hiding.db", True)):
        with Recollect.open(tmp_path / name, embedder="none") as memory:
            bob = memory.as_principal(Principal("acme", "bob"))
            bob.remember("The kiln is booked until May.", pak_id="kiln", now=GONE)
            if hides:
                ann = memory.as_principal(Principal("acme", "ann"))
                ann.remember("The kiln burned down; kiln, kiln.", pak_id="fire", now=GONE)
    keys = [key_of(tmp_path / one, Principal("acme", "bob")) for one in ("plain.db", "hiding.db")]
    plain, hiding = serve("plain.db", key=keys[0]), serve("hiding.db", key=keys[1])
    for method, route, body in (
        ("POST", "/v1/recall", {"query": "kiln", "now": LATER}),
        ("POST", "/v1/recall", {"query": "kilm", "now": LATER, "detail": "index"}),
        ("POST", "/v1/frames/attention/render", {"query": "kiln"}),
        ("POST", "/v1/select", {"text": "kiln", "now": LATER}),
        ("GET", "/v1/memories", None),
        ("GET", "/v1/memories?counts=true", None),
        ("GET", "/v1/ids?beginning=fi", None),
        ("GET", "/v1/stats", None),
        ("GET", "/v1/disputes", None),
        ("GET", "/v1/export", None),
        ("POST", "/v1/recall", {"query": "kiln", "frame": "nope"}),
    ):
        one, other = (client.request(method, route, json=body) for client in (plain, hiding))
        assert one.content == other.content or shown(one) == shown(other), route
        assert shown_headers(one) == shown_headers(other), route


def shown_headers(answer: Any) -> tuple[int, dict[str, str]]:
    return answer.status_code, {
        name: one for name, one in answer.headers.items() if name not in OF_ONE_REQUEST
    }


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8377", "127.0.0.1.evil.example"])
def test_a_name_that_only_leads_here_is_not_served(serve: Serve, host: str) -> None:
    answer = serve().get("/v1/me", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (403, "wrong_host")


@pytest.mark.parametrize("host", ["127.0.0.1:8377", "localhost", "[::1]:8377"])
def test_names_of_this_machine_are_served(serve: Serve, host: str) -> None:
    assert serve().get("/v1/me", headers={"Host": host}).status_code == 200


def test_a_page_of_another_site_may_not_ask(serve: Serve) -> None:
    client = serve()
    for origin in ("http://evil.example", "null", "http://localhost:9999"):
        answer = client.get("/v1/me", headers={"Origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (403, "wrong_host"), origin
    own = client.get("/v1/me", headers={"Origin": "http://127.0.0.1:8377"})
    assert own.status_code == 200
