"""`docs/http.md` does what it says: its commands are run against a server that `serve` started."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.house.snippets import ROOT, Reader, blocks

from recollect.edge.http.openapi import _SAYS
from recollect.edge.http.problems import STATUSES

PAGE = ROOT / "docs/http.md"


@contextmanager
def serving(folder: Path, db: str) -> Iterator[dict[str, str]]:
    """Run `recollect serve` on a free port; give what it said as it started."""
    command = [
        str(Path(sys.executable).parent / "recollect"),
        "serve",
        "--db",
        db,
        "--port",
        "0",
        "--json",
    ]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    with process:
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
    assert process.returncode == 0


def test_the_examples_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    reader, (first, *others) = Reader(tmp_path), blocks(PAGE)
    assert first.text.splitlines() == [
        "recollect demo --keep shop.db",
        "recollect serve --db shop.db",
    ]
    assert reader._shell("recollect demo --keep shop.db").returncode == 0
    with serving(tmp_path, "shop.db") as said:
        for block in others:
            assert block.language == "console"
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                command = command.replace("http://127.0.0.1:8377", said["address"])
                done = reader._shell(f"TOKEN={said['token']}; {command}")
                assert done.stdout.strip() == expected.strip(), command


def test_the_table_of_errors_is_what_errors_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text.split("## Errors\n")[1].split("\n## ")[0]
    shown = {
        code: int(status)
        for status, codes in re.findall(r"^\| (\d{3}) \| (.*) \|$", section, re.MULTILINE)
        for code in re.findall(r"`([a-z_]+)`", codes)
    }
    known = {kind.code: status for kind, status in STATUSES.items()}
    assert {
        code: status for code, status in shown.items() if known.get(code, status) != status
    } == {}
    assert set(shown.values()) == set(_SAYS) - {304}
    grouped = {"recollect_error", "embedder_error", "hook_error", "server_error"}
    assert known.keys() - shown.keys() - grouped == set()
