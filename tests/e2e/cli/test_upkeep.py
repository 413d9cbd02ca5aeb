"""`stats`, `check`, `reindex` and `reembed`, and embedders that are elsewhere, down or other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from recollect.paks import RecallStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]


class Vectors(ThreadingHTTPServer):
    """A server of embeddings on loopback that can be told to refuse."""

    refuses = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.keys: list[str | None] = []

    @property
    def settings(self) -> dict[str, str]:
        return {
            "RECOLLECT_EMBEDDER": "openai:letters",
            "RECOLLECT_EMBEDDER_URL": f"http://127.0.0.1:{self.server_port}/v1",
            "RECOLLECT_EMBEDDER_KEY": "a-secret",
        }


class Answering(BaseHTTPRequestHandler):
    """Counts letters; that is meaning enough for a test."""

    server: Vectors

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.append(self.headers["Authorization"])
        data = [
            {"index": at, "embedding": [text.lower().count(letter) for letter in "etaoinsh"]}
            for at, text in enumerate(body["input"])
        ]
        answer = json.dumps({"data": data}).encode()
        self.send_response(401 if self.server.refuses else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


@pytest.fixture
def vectors() -> Iterator[Vectors]:
    with Vectors() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def stats(run: Run, db: Path, **environment: str) -> dict[str, Any]:
    return json.loads(run("stats", "--db", db, "--json", **environment).stdout)


def test_stats_tell_the_size_and_the_model(run: Run, shop: Path) -> None:
    told = stats(run, shop)
    assert told["db"] == str(shop)
    assert (told["memories"], told["pending"], told["open_disputes"]) == (30, 0, 1)
    assert told["dimension"] == 256
    assert "static:wordllama" in run("stats", "--db", shop).stdout


def test_check_is_quiet_about_a_sound_memory_and_exits_with_one_for_a_sick_one(
    run: Run, copy: Path
) -> None:
    assert run("check", "--db", copy).stdout == f"OK  {copy}: 30 memories, no problems.\n"
    with RecallStore.open(copy) as store:
        store.conn.execute("DELETE FROM paks_fts WHERE rowid = (SELECT max(rowid) FROM paks_fts)")
    sick = run("check", "--db", copy, "--json")
    assert sick.returncode == 1
    told = json.loads(sick.stdout)
    assert (told["ok"], told["memories"], len(told["problems"])) == (False, 30, 1)
    assert f"recollect repair --db {copy}" in run("check", "--db", copy).stdout
    assert run("repair", "--db", copy).returncode == 0
    assert run("check", "--db", copy).returncode == 0


def test_reindex_changes_no_answer(run: Run, copy: Path) -> None:
    before = run("recall", "card payment", "--db", copy).stdout
    assert run("reindex", "--db", copy).stdout == "Built the index of 30 memories anew.\n"
    assert run("recall", "card payment", "--db", copy).stdout == before


def test_reembed_switches_the_model_and_the_old_one_is_refused(run: Run, copy: Path) -> None:
    switched = run("reembed", "none", "--db", copy)
    assert switched.returncode == 0, switched.stderr
    assert "all 30 memories are of none" in switched.stdout
    refused = run("recall", "tea", "--db", copy, "--embedder", "static", "--json")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["error"]["code"] == "embedder_mismatch"
    by_words = run("recall", "card payment", "--db", copy, "--json")
    assert json.loads(by_words.stdout)["degraded"] == []
    back = run("reembed", "static", "--db", copy, "--json")
    told = json.loads(back.stdout)
    assert (told["embedded"], told["memories"]) == (30, 30)
    assert stats(run, copy)["dimension"] == 256


def test_an_embedder_elsewhere_is_reached_by_its_url_and_key(
    run: Run, vectors: Vectors, tmp_path: Path
) -> None:
    db = tmp_path / "agent.db"
    run("remember", "Tea is nice.", "--db", db, **vectors.settings)
    assert stats(run, db, **vectors.settings)["model_id"].startswith("openai:letters~0.")
    assert set(vectors.keys) == {"Bearer a-secret"}


def test_an_embedder_that_is_down_loses_nothing_and_is_not_passed_over_in_silence(
    run: Run, vectors: Vectors, tmp_path: Path
) -> None:
    db = tmp_path / "agent.db"
    vectors.refuses = True
    told = run("remember", "Tea is nice.", "--db", db, **vectors.settings)
    assert told.returncode == 0
    assert "Pending: it waits for a vector, because the embedder failed." in told.stdout
    assert "Check the API key" in told.stdout
    assert "a-secret" not in told.stdout + told.stderr
    recalled = run("recall", "tea", "--db", db, **vectors.settings)
    assert "Tea is nice." in recalled.stdout
    assert "Degraded: vector." in recalled.stdout
    vectors.refuses = False
    run("remember", "Coffee is fine.", "--db", db, **vectors.settings)
    assert stats(run, db, **vectors.settings)["pending"] == 0
    assert "Degraded" not in run("recall", "tea", "--db", db, **vectors.settings).stdout


def test_an_embedder_that_nobody_knows_is_an_error(run: Run, shop: Path) -> None:
    result = run("recall", "tea", "--embedder", "crystal-ball", "--db", shop, "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout)["error"]["code"] == "invalid_input"
