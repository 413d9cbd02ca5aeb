"""`recollect mcp --http`, and `/mcp` of `recollect serve`: real processes on loopback."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.e2e.http.running import running
from tests.mcp_client import ERAS, RECOLLECT, agent_over_http

from recollect import Recollect
from recollect.policy import Principal

ANN = Principal("acme", "ann", (), ("read", "write"))
END_S = 60


@pytest.mark.parametrize("era", ERAS)
def test_any_worker_answers_any_request(tmp_path: Path, era: str) -> None:
    db = tmp_path / "agent.db"
    with Recollect.open(db, embedder="none") as memory:
        key = memory.keys.create(ANN).secret
    with (
        running(db, workers=2) as server,
        agent_over_http(f"{server.url}/mcp", key, era) as agent,
    ):
        for number in range(20):
            assert agent.answer("remember", content=f"Fact number {number}.")["created"]
        assert len(agent.answer("list_memories")["items"]) == 20


def test_the_command_listens_and_shows_the_token_of_the_start(tmp_path: Path) -> None:
    with subprocess.Popen(
        [RECOLLECT, "mcp", "--http", "--port", "0", "--db", str(tmp_path / "agent.db")],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "COLUMNS": "200"},
    ) as process:
        try:
            told = ""
            while "Clients of MCP come to" not in told:
                line = process.stderr.readline()
                assert line, told
                told += line
            url = re.search(r"come to (\S+/mcp)\.", told)[1]
            token = re.search(r"Bearer (local_\S+)", told)[1]
            with agent_over_http(url, token) as agent:
                assert agent.answer("remember", content="The kiln is hot.")["created"]
                assert len(agent.answer("recall", query="kiln")["results"]) == 1
        finally:
            process.terminate()
            process.communicate(timeout=END_S)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--issuer", "https://issuer.example"], "--issuer takes --resource"),
        (["--issuer", "http://a.example", "--resource", "https://b.example/mcp"], "no https"),
        (["--url", "http://127.0.0.1:1"], "--http serves a file"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(
    tmp_path: Path, words: list[str], said: str
) -> None:
    done = subprocess.run(
        [RECOLLECT, "mcp", "--http", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=END_S,
    )
    assert done.returncode == 1
    assert said in done.stderr
