from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tests.e2e.http.running import SCRIPT, START_S, running

from recollect.edge.http.options import ServerOptions
from recollect.edge.http.run import serve
from recollect.errors import InvalidInput


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_answers_until_it_is_told_to_end_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with running(tmp_path / "a.db", workers=workers) as server:
        with server.client() as client:
            assert client.post("/v1/memories", json={"content": "It rains."}).status_code == 200
            assert client.get("/v1/stats").json() == {"memories": 1}
        assert [one.stat().st_mode & 0o777 for one in temporary.iterdir()] == [0o700]
        assert server.end() == 0, server.said
    assert list(temporary.iterdir()) == []
    assert "Traceback" not in server.said


def test_a_socket_is_its_users_own_and_gone_at_the_end(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as short:
        path = Path(short) / "s"
        with running(tmp_path / "a.db", socket=str(path)) as server:
            assert path.stat().st_mode & 0o777 == 0o600
            with server.client() as client:
                assert client.get("/v1/stats").status_code == 200
            assert server.end() == 0
        assert not path.exists()


def test_a_socket_that_a_killed_server_left_is_taken_over(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as short:
        path = str(Path(short) / "s")
        with running(tmp_path / "a.db", socket=path) as first:
            with first.client() as client:
                assert client.get("/v1/stats").status_code == 200
            with pytest.raises(InvalidInput, match="another server"):
                serve(ServerOptions(db=str(tmp_path / "a.db"), socket=path))
            first.kill()
        with (
            running(tmp_path / "a.db", socket=path) as second,
            second.client() as client,
        ):
            assert client.get("/v1/stats").status_code == 200


def test_an_address_that_is_taken_is_refused_with_a_hint(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"port {port}") as refused:
            serve(ServerOptions(db=str(tmp_path / "a.db"), port=port))
        assert "--port" in refused.value.hint


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", workers=2) as server:
        with server.client() as client:
            assert client.get("/v1/stats").status_code == 200
        before = server.workers()
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        until = time.monotonic() + START_S
        while len(set(server.workers()) - {before[0]}) < 2:
            assert time.monotonic() < until, server.said
            time.sleep(0.1)
        with server.client() as client:
            assert client.get("/v1/stats").status_code == 200


def test_workers_end_when_their_parent_was_killed(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", workers=2) as server:
        with server.client() as client:
            assert client.get("/v1/stats").status_code == 200
        workers = server.workers()
        assert len(workers) == 2
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        until = time.monotonic() + START_S
        while any(_is_alive(one) for one in workers):
            assert time.monotonic() < until
            time.sleep(0.1)


def test_a_store_that_cannot_be_opened_ends_the_server_with_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database at all" * 100)
    for workers in (1, 2):
        done = subprocess.run(
            [
                sys.executable,
                str(SCRIPT),
                ServerOptions(db=str(tmp_path / "a.db"), port=0, workers=workers).to_text(),
            ],
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )
        assert done.returncode != 0
        assert "Traceback" not in done.stderr
        assert "a.db" in done.stderr


def _is_alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
