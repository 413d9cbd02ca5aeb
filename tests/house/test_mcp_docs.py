"""`docs/mcp.md`: its examples do what they say, and it knows the tools that are listed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.house.snippets import ROOT, Reader, blocks

from recollect.edge.mcp.tools import DEFAULT

PAGE = ROOT / "docs/mcp.md"


def test_the_examples_do_what_they_say(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(PAGE):
        reader.follow(block)


def test_each_tool_that_is_listed_has_a_row() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert tuple(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == DEFAULT
