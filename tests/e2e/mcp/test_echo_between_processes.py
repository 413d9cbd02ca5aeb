"""Two servers of one file, each a process of its own: what the one told, the other knows."""

from __future__ import annotations

from pathlib import Path

from mcp import StdioServerParameters
from tests.mcp_client import RECOLLECT, agent_of

from recollect import Recollect

KILN = "The kiln is booked until Friday."


def server(db: Path) -> StdioServerParameters:
    return StdioServerParameters(command=RECOLLECT, args=["mcp", "--db", str(db)])


def test_what_one_process_told_is_no_news_to_another_nor_after_a_restart(tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    with Recollect.open(db) as memory:
        memory.remember(KILN, pak_id="kiln", source="notes")
    with agent_of(server(db)) as one, agent_of(server(db)) as other:
        told = one.text("recall", query="kiln")
        assert other.answer("remember", content=told)["meta"] == {"echo_of": ["kiln"]}
        assert other.answer("remember", content=KILN.upper())["created"] is False
    with agent_of(server(db)) as later:
        assert later.answer("remember", content=told, tags=["booking"])["created"] is False
        assert len(later.answer("list_memories")["items"]) == 1
