"""Clients that are slow, vanish, or send what nobody can read: the others do not notice."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from tests.e2e.http.running import START_S, TOKEN, Running, running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    # A body is given up soon; a verb has its time, for this machine may have much to do.
    with running(tmp_path / "a.db", body_seconds=2.0, seconds=START_S) as server:
        with server.client() as client:
            assert client.get("/readyz").status_code == 200
        yield server


def _connect(server: Running) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=START_S)


def _head(path: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n"
        f"content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    ).encode()


def _is_answered(server: Running) -> bool:
    with server.client() as client:
        return client.get("/v1/stats").status_code == 200


def _until(connection: socket.socket, words: bytes) -> bytes:
    """Return what was answered, up to these words: head and body may come apart."""
    found = b""
    while words not in found:
        part = connection.recv(65_536)
        assert part, found
        found += part
    return found


def _all_of(connection: socket.socket) -> bytes:
    found = b""
    while part := connection.recv(65_536):
        found += part
    return found


def _send_half(server: Running, path: str, connections: ExitStack) -> list[socket.socket]:
    slow = [connections.enter_context(_connect(server)) for _ in range(300)]
    for one in slow:
        one.sendall(_head(path, 1_000) + b'{"query": "')
    return slow


@pytest.mark.parametrize("path", ["/v1/recall", "/compat/stigmem/v1/recall"])
def test_half_a_body_is_given_up_and_others_are_answered(server: Running, path: str) -> None:
    with ExitStack() as connections:
        slow = _send_half(server, path, connections)
        assert _is_answered(server)
        answer = _until(slow[0], b"body_too_slow")
        assert b" 408 " in answer.splitlines()[0]
    assert _is_answered(server)


def test_who_goes_away_within_a_body_is_no_fault_of_the_server(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", log="json") as server:
        with ExitStack() as connections:
            _send_half(server, "/v1/recall", connections)
        until = time.monotonic() + START_S
        while server.said.count('"status": 499') < 300:
            assert time.monotonic() < until, server.said
            time.sleep(0.05)
        assert _is_answered(server)
        assert "fault" not in server.said


def test_half_a_head_keeps_nobody_out(server: Running) -> None:
    with ExitStack() as open_connections:
        for _ in range(300):
            open_connections.enter_context(_connect(server)).sendall(b"POST /v1/recall HT")
        assert _is_answered(server)


def test_a_head_without_an_end_is_cut_off(server: Running) -> None:
    with _connect(server) as endless:
        endless.sendall(b"GET /v1/stats HTTP/1.1\r\n")
        with pytest.raises(ConnectionError):
            for _ in range(10_000):
                endless.sendall(b"x-more: " + b"a" * 4_000 + b"\r\n")
    assert _is_answered(server)


def test_a_body_that_is_too_large_is_refused(server: Running) -> None:
    with server.client() as client:
        told = client.post("/v1/recall", content=b'{"query": "' + b"a" * 10_000_000 + b'"}')
        assert (told.status_code, told.json()["code"]) == (413, "body_too_large")

        def parts() -> Iterator[bytes]:
            for _ in range(160):
                yield b"a" * 65_536

        try:
            untold = client.post("/v1/recall", content=parts())
        except httpx.TransportError:
            pass  # it was cut off while it still sent
        else:
            assert untold.status_code == 413
    assert _is_answered(server)


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00",
        b"[" * 200_000,
        b'{"query": ' * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    ],
    ids=["no-utf-8", "deep-list", "deep-object", "deep-and-closed"],
)
def test_a_body_that_cannot_be_read_is_refused_with_400(server: Running, body: bytes) -> None:
    with server.client() as client:
        answer = client.post("/v1/recall", content=body)
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_body")
    assert _is_answered(server)


def test_bytes_that_are_no_request_are_refused(server: Running) -> None:
    with _connect(server) as rude:
        rude.sendall(b"\x16\x03\x01\x00\xa5 what is this\r\n\r\n")
        assert b" 400 " in _all_of(rude).splitlines()[0]
    assert _is_answered(server)


def test_a_client_that_goes_away_frees_its_place(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", at_once=1, waiting=4) as server:
        with server.client() as client:
            items = {"items": [f"Note {n} of many." for n in range(400)]}
            assert client.post("/v1/memories/batch", json=items).status_code == 200
        for _ in range(40):
            with _connect(server) as gone:
                body = b'{"query": "note of many"}'
                gone.sendall(_head("/v1/recall", len(body)) + body)
        until = time.monotonic() + START_S
        while not _is_answered(server):
            assert time.monotonic() < until
        with server.client() as client:
            in_flight = client.get("/metrics").text
        assert "recollect_in_flight 0.0" in in_flight


def test_a_full_house_says_so_at_once(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", at_once=1, waiting=0) as server:
        with server.client() as client:
            assert client.get("/v1/stats").status_code == 200
        answers: list[httpx.Response] = []

        def write() -> None:
            with server.client() as client:
                items = {"items": [f"Note {n} of many." for n in range(1_000)]}
                answers.append(client.post("/v1/memories/batch", json=items))

        threads = [threading.Thread(target=write) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(START_S)
        statuses = sorted(one.status_code for one in answers)
        assert statuses[0] == 200
        assert statuses[-1] == 503
        refused = next(one for one in answers if one.status_code == 503)
        assert (refused.headers["retry-after"], refused.json()["code"]) == ("2", "server_busy")


def test_idle_connections_up_to_the_limit_are_held_and_the_rest_is_refused_at_once(
    tmp_path: Path,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1_400
    assert hard >= 4_096, "this machine allows too few files"
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    try:
        with running(tmp_path / "a.db", files=1_200) as server, ExitStack() as idle:
            assert _is_answered(server)
            held = [idle.enter_context(_connect(server)) for _ in range(1_000)]
            assert _is_answered(server)
            more = [idle.enter_context(_connect(server)) for _ in range(wanted - len(held))]
            refused = _all_of(more[-1])
            assert b" 503 " in refused.splitlines()[0]
            assert b"retry-after" in refused
            for one in held:
                one.close()
            until = time.monotonic() + START_S
            while not _tries(server):
                assert time.monotonic() < until
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _tries(server: Running) -> bool:
    try:
        return _is_answered(server)
    except httpx.TransportError:
        return False
