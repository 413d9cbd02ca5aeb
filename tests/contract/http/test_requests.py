"""What a request brings and what comes back: bodies, names, tags, repeats, ids in paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contract.http.conftest import Serve

from recollect import Recollect
from recollect.edge import wire
from recollect.edge.http.examples import ANSWERS, EXAMPLES, example_of
from recollect.edge.verbs import VERBS
from recollect.model import Principal

NOW = "2026-11-18T09:00:00Z"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"\xff\xfe", 400, "bad_body"),
        (b"{", 400, "bad_body"),
        (b"[]", 400, "bad_body"),
        (b'{"query": NaN}', 400, "bad_body"),
        (b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "bad_body"),
        (b'{"query": {}}', 422, "invalid_input"),
        (b'{"top_k": null}', 422, "invalid_input"),
        (b'{"top_k": true}', 422, "invalid_input"),
        (b'{"filter": []}', 422, "invalid_input"),
    ],
)
def test_a_body_that_cannot_be_taken_is_refused_in_words(
    serve: Serve, body: bytes, status: int, code: str
) -> None:
    answer = serve().post("/v1/recall", content=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["hint"]


def test_a_body_that_is_too_large_is_refused(serve: Serve) -> None:
    client = serve(most_body_bytes=1000)
    answer = client.post("/v1/memories", json={"content": "x" * 2000})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    chunks = (b"x" * 100 for _ in range(20))
    assert client.post("/v1/memories", content=chunks).status_code == 413


@pytest.mark.parametrize("name", ["a/b", "../x", "ä ö", "100%", "a?b#c", "%2F", "."])
def test_an_id_of_any_letters_is_found_by_its_path(serve: Serve, name: str) -> None:
    from urllib.parse import quote

    client = serve()
    client.post("/v1/memories", json={"content": "tea", "pak_id": name})
    path = quote(name, safe="").replace(".", "%2E")
    assert client.get(f"/v1/memories/{path}").json()["memory"]["pak_id"] == name
    assert client.delete(f"/v1/memories/{path}").json()["pak_ids"] == [name]


def test_a_write_that_is_sent_again_is_done_once(serve: Serve) -> None:
    client = serve()
    first, again = (
        client.post(
            "/v1/memories/batch",
            json={"items": ["tea", "milk"]},
            headers={"Idempotency-Key": "n-1"},
        )
        for _ in range(2)
    )
    assert first.content == again.content
    other = client.post(
        "/v1/memories/batch", json={"items": ["rum"]}, headers={"Idempotency-Key": "n-1"}
    )
    assert (other.status_code, other.json()["code"]) == (422, "request_id_reused")
    assert client.get("/v1/stats").json() == {"memories": 2}
    wrong = client.post("/v1/memories", json={"content": "x"}, headers={"Idempotency-Key": "a b"})
    assert wrong.status_code == 422


def test_an_answer_that_is_still_the_same_is_not_sent_again(serve: Serve) -> None:
    client = serve()
    client.post("/v1/memories", json={"content": "The kiln is booked."})
    asked = {"query": "kiln", "now": NOW}
    first = client.post("/v1/recall", json=asked)
    tag = first.headers["etag"]
    same = client.post("/v1/recall", json=asked, headers={"If-None-Match": f'"x", {tag}'})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    client.post("/v1/memories", json={"content": "The kiln is free again."})
    other = client.post("/v1/recall", json=asked, headers={"If-None-Match": tag})
    assert other.status_code == 200
    assert other.headers["etag"] != tag


def test_a_write_that_one_may_not_read_changes_no_tag(serve: Serve, tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db", embedder="none") as memory:
        keys = [str(memory.keys.create(Principal("acme", name)).secret) for name in ("ann", "bob")]
    ann = serve(key=keys[0])
    bob = {"Authorization": f"Bearer {keys[1]}"}
    ann.post("/v1/memories", json={"content": "The kiln is booked."}, headers=bob)
    asked = {"query": "kiln", "now": NOW}
    first = ann.post("/v1/recall", json=asked, headers=bob)
    ann.post("/v1/memories", json={"content": "The kiln burned down."})
    again = ann.post("/v1/recall", json=asked, headers=bob)
    assert first.headers["etag"] == again.headers["etag"]
    assert "revision" not in again.text


def test_requests_have_ids_of_their_own_or_the_client_s(serve: Serve) -> None:
    client = serve()
    given = client.get("/v1/me", headers={"X-Request-Id": "trace-42"})
    assert given.headers["x-request-id"] == "trace-42"
    made = client.get("/v1/memories/none", headers={"X-Request-Id": "two words"})
    assert made.headers["x-request-id"] != "two words"
    assert made.json()["instance"].endswith(made.headers["x-request-id"])


def test_what_is_exported_can_be_taken_back(serve: Serve) -> None:
    client, other = serve(), serve("b.db")
    client.post("/v1/memories/batch", json={"items": [f"note {n}" for n in range(150)]})
    lines = client.get("/v1/export").text
    assert len([line for line in lines.splitlines() if json.loads(line)["kind"] == "memory"]) == 150
    done = other.post("/v1/import", content=lines.encode())
    assert (done.json()["imported"], done.json()["created"]) == (150, 150)
    assert other.get("/v1/export").text.count('"kind": "memory"') == 150


def test_an_index_answer_names_what_get_shows(serve: Serve) -> None:
    client = serve()
    client.post("/v1/memories", json={"content": "The kiln is booked. " * 40, "pak_id": "kiln"})
    (one,) = client.post("/v1/recall", json={"query": "kiln", "detail": "index"}).json()["results"]
    assert one["pak_id"] == "kiln"
    assert one["beginning"].endswith("\u2026")
    assert len(one["beginning"]) <= 120
    assert "content" not in one


def test_other_methods_and_paths_are_told_apart(serve: Serve) -> None:
    client = serve()
    wrong = client.put("/v1/recall")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert client.get("/v1/nothing").json()["code"] == "no_such_route"


def test_the_examples_of_the_document_are_taken(serve: Serve) -> None:
    client = serve()
    for number, name in enumerate(("kiln-booking", "kiln-repair")):
        client.post("/v1/memories", json={"content": f"kiln {number}", "pak_id": name})
    assert EXAMPLES.keys() <= {verb.name for verb in VERBS}
    for verb in VERBS:
        if verb.route.has_body and verb.permission in ("read", "write"):
            path = verb.route.path.replace("{pak_id}", "kiln-booking").replace("{name}", "task")
            sent = example_of(verb)
            body = sent.encode() if isinstance(sent, str) else json.dumps(sent).encode()
            answer = client.request(verb.route.method, path, content=body)
            # What waits for a moderator, and gardens that are not there, are not found.
            assert answer.status_code in (200, 404), (verb.name, answer.text)
            assert answer.status_code == 200 or "{" in path or "quarantine" in path, verb.name


def _has_example(operation: dict[str, Any]) -> bool:
    sent = operation.get("requestBody", {}).get("content", {}).values()
    given = [*operation["parameters"], *sent, *operation["responses"]["200"]["content"].values()]
    given += [one["schema"] for one in given if "schema" in one]
    given += [inner for one in given for inner in one.get("content", {}).values()]
    return any(one.keys() & {"example", "examples"} for one in given)


def test_each_route_has_an_example(serve: Serve) -> None:
    told = serve(key=None).get("/openapi.json").json()["paths"]
    operations = [one for found in told.values() for one in found.values()]
    names = [one["operationId"] for one in operations if not _has_example(one)]
    # What hooks there are is nobody's to make up.
    assert names == ["hooks.list"]


def test_the_examples_of_answers_have_the_shape_of_answers(serve: Serve) -> None:
    client = serve("new.db")
    for verb in VERBS:
        if verb.name in ANSWERS and verb.permission in (None, "read"):
            told = client.get(verb.route.path).json()
            assert told.keys() == ANSWERS[verb.name].keys(), verb.name


def test_the_reference_loads_nothing_from_elsewhere(serve: Serve) -> None:
    client = serve(key=None)
    page = client.get("/reference")
    assert page.headers["content-security-policy"] == "default-src 'none'; style-src 'self'"
    assert "http://" not in page.text
    assert "https://" not in page.text
    for verb in VERBS:
        assert f'id="{verb.name}"' in page.text
    assert client.get("/reference.css").status_code == 200


def test_a_path_with_a_slash_too_many_leads_to_the_one_that_was_meant(serve: Serve) -> None:
    client = serve()
    away = client.get("/v1/memories/?limit=1", follow_redirects=False)
    assert (away.status_code, away.headers["location"]) == (307, "/v1/memories?limit=1")
    assert client.get("/v1/memories/?limit=1").json()["items"] == []
    assert client.get("/v1/nothing/", follow_redirects=False).status_code == 404


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_what_is_long_says_that_it_comes_in_several_forms(serve: Serve, accepted: str) -> None:
    client = serve()
    client.post("/v1/memories", json={"content": "tea " * 500, "pak_id": "tea"})
    long = client.get("/v1/memories/tea", headers={"accept-encoding": accepted})
    short = client.get("/v1/me", headers={"accept-encoding": accepted})
    assert long.headers["vary"] == "Accept-Encoding"
    assert long.headers.get("content-encoding", "identity") == accepted
    assert long.json()["memory"]["content"] == "tea " * 500
    assert "vary" not in short.headers


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_a_long_answer_to_an_import_is_the_same_in_pieces(
    serve: Serve, tmp_path: Path, accepted: str
) -> None:
    lines = [json.dumps({"kind": "memory", "content": f"cup {one}"}) for one in range(700)]
    told = serve().post(
        "/v1/import", content="\n".join(lines), headers={"accept-encoding": accepted}
    )
    assert (told.status_code, len(told.content) > 2**16) == (200, True)
    assert len(told.json()["items"]) == told.json()["imported"] == told.json()["created"] == 700
    assert told.content == wire.encode(told.json())


@pytest.mark.parametrize("path", ["/v1/recall", "/compat/mem0/search"])
def test_a_span_belongs_to_what_its_caller_was_at(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    from opentelemetry import trace

    seen: list[str] = []

    class Tracer:
        def start_as_current_span(self, *_: Any, **__: Any) -> Any:
            seen.append(f"{trace.get_current_span().get_span_context().trace_id:032x}")
            return trace.use_span(trace.INVALID_SPAN)

    monkeypatch.setattr(trace, "get_tracer", lambda *_, **__: Tracer())
    client, mine = serve(), "0af7651916cd43dd8448eb211c80319c"
    sent = {"query": "kiln"} | ({"user_id": "ann"} if "mem0" in path else {})
    for headers in ({"traceparent": f"00-{mine}-b7ad6b7169203331-01"}, {}):
        assert client.post(path, json=sent, headers=headers).status_code == 200
    assert seen == [mine, "0" * 32]
