"""What was acknowledged is there, however a server came to its end, and no key is done twice."""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.http.running import TOKEN, Running, running
from tests.e2e.http.writers import Told, Writers

from recollect import Recollect

# So many clients, and how often something is killed under them.
KILLS = [(6, 2), pytest.param(200, 10, marks=pytest.mark.soak)]
# So long a server lets each of many wait, on a machine that has other things to do.
PATIENT = {"workers": 2, "waiting": 512, "seconds": 90.0}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def _many(url: str, clients: int) -> Writers:
    """So many clients, each of which writes and reads in turn."""
    return Writers(url, TOKEN, clients, reads=True)


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


@pytest.mark.parametrize(("clients", "kills"), KILLS)
def test_a_worker_that_is_killed_loses_no_acknowledged_write(
    tmp_path: Path, clients: int, kills: int
) -> None:
    path = tmp_path / "a.db"
    with running(path, **PATIENT) as server, _many(server.url, clients) as writers:
        for _ in range(kills):
            writers.wait_for(40)
            workers = server.workers()
            if workers:
                os.kill(workers[0], signal.SIGKILL)
        writers.wait_for(40)
        _ask_again(server, writers.told)
    _check(path, writers.told)


@pytest.mark.parametrize(("clients", "kills"), KILLS)
def test_a_server_that_is_killed_loses_no_acknowledged_write(
    tmp_path: Path, clients: int, kills: int
) -> None:
    path, port = tmp_path / "a.db", _free_port()
    with _many(f"http://127.0.0.1:{port}", clients) as writers:
        for _ in range(kills):
            with running(path, port=port, **PATIENT) as server:
                writers.wait_for(40)
                server.kill()
        with running(path, port=port, **PATIENT) as server:
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
    ("clients", "seconds"), [(40, 2), pytest.param(200, 20, marks=pytest.mark.soak)]
)
def test_many_clients_at_once_are_all_answered(
    tmp_path: Path, clients: int, seconds: float, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "a.db"
    with running(path, **PATIENT) as server:
        with _many(server.url, clients) as writers:
            time.sleep(seconds)
            writers.wait_for(1)
        assert server.end() == 0, server.said
    _check(path, writers.told)
    took = sorted(writers.told.seconds)
    record_property("answers", len(took))
    record_property("writes", len(writers.told.ids))
    record_property("p50_ms", round(took[len(took) // 2] * 1_000))
    record_property("p99_ms", round(took[int(len(took) * 0.99)] * 1_000))
