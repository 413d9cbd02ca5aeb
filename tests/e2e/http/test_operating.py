"""A folder is served: a key leads to its own store; the operator looks after stores and hooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.http.running import START_S, TOKEN, Running, running

from recollect import Recollect
from recollect.policy import PERMISSIONS, Principal

OPERATOR = "the-operator-of-this-server-0123456789"
HOOK = """
[[hook]]
event = "pre_remember"
command = ["{python}", "{script}"]
"""
ALLOWS = """import json, sys

sys.stdin.read()
print(json.dumps({"action": "allow"}))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("stores"), operator_token=OPERATOR) as started:
        yield started


@pytest.fixture
def operator(server: Running) -> Iterator[httpx.Client]:
    with server.client(OPERATOR) as client:
        yield client


def made(operator: httpx.Client, name: str) -> str:
    answer = operator.post("/v1/stores", json={"name": name})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["store"], told["key"]["permissions"]) == (name, list(PERMISSIONS))
    assert told["secret"].startswith(f"rk_{name}_{told['key']['prefix']}_")
    return str(told["secret"])


def test_each_key_leads_to_its_own_store(server: Running, operator: httpx.Client) -> None:
    keys = [made(operator, name) for name in ("shop-1", "shop_2")]
    with server.client(keys[0]) as one, server.client(keys[1]) as other:
        sent = {"content": "The kiln is booked until Friday.", "pak_id": "kiln", "scope": "company"}
        assert one.post("/v1/memories", json=sent).status_code == 200
        assert len(one.post("/v1/recall", json={"query": "kiln"}).json()["results"]) == 1
        assert other.post("/v1/recall", json={"query": "kiln"}).json()["results"] == []
        assert other.get("/v1/memories/kiln").status_code == 404
        assert "kiln" in one.get("/v1/export").text
        more = one.post("/v1/keys", json={"principal": "bob"}).json()["secret"]
        assert more.startswith("rk_shop-1_")
        with server.client(more) as bob:
            assert bob.get("/v1/memories/kiln").status_code == 200
            assert bob.post("/v1/memories", json=sent).status_code == 403


def test_an_unknown_store_and_a_wrong_key_look_alike(
    server: Running, operator: httpx.Client
) -> None:
    good, other = made(operator, "bakery"), made(operator, "cellar")
    wrong = [
        good.replace("rk_bakery_", "rk_nowhere_"),
        good.replace("rk_bakery_", "rk_cellar_"),
        good.replace("rk_bakery_", "rk_"),
        good.replace("rk_bakery_", "rk_../bakery_"),
        f"{good[:-1]}{'A' if good[-1] != 'A' else 'B'}",
        other[:-10],
        TOKEN,
        OPERATOR,
    ]
    told = set()
    for key in wrong:
        with server.client(key) as client:
            answer = client.get("/v1/me")
        body = {name: one for name, one in answer.json().items() if name != "instance"}
        told.add((answer.status_code, repr(body), frozenset(answer.headers)))
    assert len(told) == 1
    assert next(iter(told))[0] == 401


def test_the_operator_reads_no_memory(operator: httpx.Client) -> None:
    for method, path in [
        ("GET", "/v1/memories"),
        ("POST", "/v1/recall"),
        ("GET", "/v1/export"),
        ("GET", "/v1/keys"),
        ("POST", "/compat/mem0/search"),
    ]:
        assert operator.request(method, path).status_code == 401, path


def test_stores_are_listed_and_dropped(server: Running, operator: httpx.Client) -> None:
    key = made(operator, "short-lived")
    assert "short-lived" in operator.get("/v1/stores").json()["stores"]
    again = operator.post("/v1/stores", json={"name": "short-lived"})
    assert (again.status_code, again.json()["code"]) == (409, "store_exists")
    with server.client(key) as client:
        assert client.get("/v1/me").status_code == 200
        assert operator.delete("/v1/stores/short-lived").json() == {"dropped": "short-lived"}
        assert client.get("/v1/me").status_code == 401
    assert operator.delete("/v1/stores/short-lived").status_code == 404
    for wrong in ({}, {"name": "../x"}, {"name": 7}, {"name": "a", "more": 1}):
        assert operator.post("/v1/stores", json=wrong).status_code == 422


def test_no_other_key_looks_after_anything(server: Running, operator: httpx.Client) -> None:
    asked = [
        ("GET", "/v1/stores"),
        ("POST", "/v1/stores"),
        ("DELETE", "/v1/stores/bakery"),
        ("GET", "/v1/hooks"),
        ("POST", "/v1/hooks/reload"),
        ("POST", "/v1/hooks/doctor"),
    ]
    for key in (made(operator, "mill"), "rk_no"):
        with server.client(key) as client:
            for method, path in asked:
                assert client.request(method, path).status_code == 401, (key, path)


def test_one_file_has_no_other_stores_and_old_keys_still_open_it(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db") as memory:
        key = memory.keys.create(Principal("acme", "ann", (), PERMISSIONS)).secret
    assert key is not None
    assert len(key.split("_", 2)[2]) == 43
    with (
        running(tmp_path / "a.db", operator_token=OPERATOR) as server,
        server.client(OPERATOR) as operator,
        server.client(key) as ann,
    ):
        assert operator.get("/v1/stores").status_code == 404
        assert ann.get("/v1/stores").status_code == 401
        assert ann.get("/v1/hooks").status_code == 401
        assert ann.get("/v1/me").json()["principal"] == "ann"


@pytest.mark.parametrize("workers", [1, 2])
def test_hooks_are_listed_examined_and_read_again_by_every_worker(
    tmp_path: Path, workers: int
) -> None:
    file = tmp_path / "hooks.toml"

    def write(*names: str) -> None:
        scripts = [tmp_path / f"{name}.py" for name in names]
        for script in scripts:
            script.write_text(ALLOWS)
        hooks = [HOOK.format(python=sys.executable, script=script) for script in scripts]
        file.write_text("".join(hooks))

    def told(operator: httpx.Client) -> list[str]:
        return [one["hook"] for one in operator.get("/v1/hooks").json()["hooks"]]

    write("first")
    options: dict[str, Any] = {"hooks": str(file), "workers": workers, "operator_token": OPERATOR}
    with (
        running(tmp_path / "a.db", **options) as server,
        server.client(OPERATOR) as operator,
        server.client() as local,
    ):
        assert told(operator) == told(local) == ["first.py"]
        assert local.post("/v1/memories", json={"content": "x y z"}).status_code == 200
        found = operator.post("/v1/hooks/doctor").json()
        assert (found["ok"], found["findings"][0]["state"]) == (True, "ready")
        write("first", "second")
        assert operator.post("/v1/hooks/reload").json() == {"hooks": ["first.py", "second.py"]}
        for _ in range(6 * workers):
            # Each connection may reach another worker; it looks before it answers.
            with server.client() as other:
                assert told(other) == ["first.py", "second.py"]
        file.write_text("[[hook]]\nevent = 7\n")
        assert operator.post("/v1/hooks/reload").status_code == 422
        assert told(operator) == ["first.py", "second.py"]


def test_what_hooks_did_is_told_of_all_workers(tmp_path: Path) -> None:
    script, file = tmp_path / "allow.py", tmp_path / "hooks.toml"
    script.write_text(ALLOWS)
    file.write_text(HOOK.format(python=sys.executable, script=script))
    options: dict[str, Any] = {"hooks": str(file), "workers": 2, "operator_token": OPERATOR}
    with running(tmp_path / "a.db", **options) as server, server.client(OPERATOR) as operator:
        for number in range(12):  # a connection each: either worker may take it
            with server.client() as client:
                sent = {"content": f"Note {number}."}
                assert client.post("/v1/memories", json=sent).status_code == 200

        def calls() -> int:
            (hook,) = operator.get("/v1/hooks").json()["hooks"]
            times = hook["latency_ms"]
            assert sum(one["calls"] for one in times["histogram"]) == hook["calls"]
            assert hook["calls"] == 0 or times["total"] > 0
            return int(hook["calls"])

        # The other worker notes every few seconds what its hooks did.
        until = time.monotonic() + START_S
        while calls() != 12:
            assert time.monotonic() < until, calls()
            time.sleep(0.2)
        page = operator.get("/metrics").text
        assert 'recollect_hook_seconds_count{hook="allow.py"} 12.0' in page


def test_what_a_folder_holds_is_in_the_numbers(server: Running, operator: httpx.Client) -> None:
    with server.client(made(operator, "counted")) as client:
        items = {"items": [f"Note {number}." for number in range(40)]}
        assert client.post("/v1/memories/batch", json=items).status_code == 200
        assert client.post("/v1/recall", json={"query": "note"}).status_code == 200
    page = operator.get("/metrics").text
    assert "recollect_index_memories 40.0" in page
    assert "recollect_index_bytes 0.0" not in page
