"""`recollect inspector`: a browser is let in once, as whoever holds the file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from recollect import Recollect
from recollect.model import Principal

START_S = 60
SCRIPT = Path(sys.executable).with_name("recollect")


@contextmanager
def inspecting(db: Path, *options: str, **environment: str) -> Iterator[dict[str, Any]]:
    """Run the command; give what it said."""
    process = subprocess.Popen(
        [SCRIPT, "inspector", "--json", "--db", db, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(db.parent), **environment},
        start_new_session=True,
    )
    try:
        told = json.loads(process.stdout.readline())
        yield told
        # Ended while it starts it would say so.
        assert httpx.get(f"{told['address']}/healthz", timeout=START_S).status_code == 200
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=START_S)
    assert process.returncode == 0, said
    assert said == ""


def test_the_address_lets_one_browser_in_as_who_holds_the_file(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with Recollect.open(db) as memory:
        memory.remember("The kiln is booked.", pak_id="kiln")
        memory.keys.create(Principal("local", "ben", (), ("read",)))
    with inspecting(db, "--no-open") as told:
        assert told["address"].startswith("http://127.0.0.1:")
        with httpx.Client(base_url=told["address"], follow_redirects=True) as browser:
            assert browser.get(told["entrance"]).url.path == "/ask"
            page = browser.get("/ask.json?query=kiln").json()
            assert [one["fact"]["pak_id"] for one in page["answer"]["results"]] == ["kiln"]
            assert page["others"] == ["local", "ben"]
            assert browser.get("/ask.json?query=kiln&as=ben").json()["memories"] == 0
        with httpx.Client(base_url=told["address"], follow_redirects=True) as another:
            assert another.get(told["entrance"]).url.path == "/sign-in"
            assert another.get("/ask.json").status_code == 401


def test_a_new_file_is_begun_and_its_first_page_offers_memories(tmp_path: Path) -> None:
    browser = httpx.Client(follow_redirects=True)
    with inspecting(tmp_path / "new.db", "--no-open") as told, browser:
        assert "Fill it with the demo" in browser.get(told["entrance"]).text


def test_the_browser_of_the_user_is_opened_there(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "browse"
    program.write_text(f'#!/bin/sh\necho "$1" > {seen}.part && mv {seen}.part {seen}\n')
    program.chmod(0o700)
    with inspecting(tmp_path / "a.db", BROWSER=f"{program} %s") as told:
        deadline = START_S * 20
        while not seen.exists() and deadline:
            deadline -= 1
            subprocess.run(["sleep", "0.05"], check=True)
        assert seen.read_text().strip() == told["entrance"]


def test_a_folder_of_memories_is_no_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [SCRIPT, "inspector", "--db", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "holds many memories" in done.stderr
