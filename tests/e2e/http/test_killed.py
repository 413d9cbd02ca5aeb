"""What was acknowledged is there, however a server came to its end, and no key is done twice."""

from __future__ import annotations

import os
import random
import signal
import socket
from pathlib import Path

import pytest
from tests.e2e.http.running import TOKEN, Running, running
from tests.e2e.http.writers import Told, Writers

from recollect import Recollect

ROUNDS = [2, pytest.param(10, marks=pytest.mark.soak)]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def _check(path: Path, told: Told) -> None:
    """Each acknowledged write is there once, with the text of its key."""
    assert told.wrong == []
    with Recollect.open(path) as memory:
        texts: dict[str, list[str]] = {}
        cursor = None
        while True:
            page = memory.list(limit=1_000, cursor=cursor)
            for one in page.items:
                texts.setdefault(one.content, []).append(one.pak_id)
            cursor = page.next_cursor
            if cursor is None:
                break
    assert all(len(ids) == 1 for ids in texts.values()), "a key was carried out twice"
    for key, pak_id in told.ids.items():
        assert texts.get(f"What {key} has to say.") == [pak_id]


def _ask_again(server: Running, told: Told) -> None:
    """Each key still answers as it did."""
    with server.client() as client:
        for key, pak_id in random.Random(7).sample(sorted(told.ids.items()), 20):
            content = {"content": f"What {key} has to say."}
            again = client.post("/v1/memories", json=content, headers={"idempotency-key": key})
            assert again.json()["pak_id"] == pak_id
            other = client.post(
                "/v1/memories", json={"content": "?"}, headers={"idempotency-key": key}
            )
            assert other.json()["code"] == "request_id_reused"


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_worker_that_is_killed_loses_no_acknowledged_write(tmp_path: Path, rounds: int) -> None:
    path = tmp_path / "a.db"
    with running(path, workers=2) as server, Writers(server.url, TOKEN, 6) as writers:
        for _ in range(rounds):
            writers.wait_for(40)
            workers = server.workers()
            if workers:
                os.kill(workers[0], signal.SIGKILL)
        writers.wait_for(40)
        _ask_again(server, writers.told)
    _check(path, writers.told)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_server_that_is_killed_loses_no_acknowledged_write(tmp_path: Path, rounds: int) -> None:
    path, port = tmp_path / "a.db", _free_port()
    with Writers(f"http://127.0.0.1:{port}", TOKEN, 6) as writers:
        for _ in range(rounds):
            with running(path, workers=2, port=port) as server:
                writers.wait_for(40)
                server.kill()
        with running(path, port=port) as server:
            writers.wait_for(40)
            _ask_again(server, writers.told)
            writers.__exit__()
    _check(path, writers.told)


def test_a_server_that_is_told_to_end_answers_what_it_began(tmp_path: Path) -> None:
    path, port = tmp_path / "a.db", _free_port()
    with Writers(f"http://127.0.0.1:{port}", TOKEN, 6, reads=True) as writers:
        for workers in (1, 2):
            with running(path, workers=workers, port=port) as server:
                writers.wait_for(40)
                assert server.end() == 0, server.said
                assert "Traceback" not in server.said
        with running(path, port=port):
            writers.wait_for(10)
            writers.__exit__()
    _check(path, writers.told)


@pytest.mark.parametrize(
    ("clients", "writes"), [(40, 300), pytest.param(200, 4_000, marks=pytest.mark.soak)]
)
def test_many_clients_at_once_are_all_answered(
    tmp_path: Path, clients: int, writes: int, record_property: object
) -> None:
    path = tmp_path / "a.db"
    with running(path, workers=2, waiting=512) as server:
        with Writers(server.url, TOKEN, clients, reads=True) as writers:
            writers.wait_for(writes)
        seconds = sorted(writers.told.seconds)
        record_property("p99_ms", seconds[int(len(seconds) * 0.99)] * 1_000)  # type: ignore[operator]
        assert server.end() == 0, server.said
    _check(path, writers.told)
