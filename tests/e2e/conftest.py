from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Protocol

import pytest
from tests.house.snippets import ROOT


class Start(Protocol):
    def __call__(self, script: str, *args: object) -> subprocess.Popen[str]: ...


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Start one of the scripts beside a test as a process of its own.

    What still runs at the end is killed.
    """
    scripts = request.path.parent / "scripts"
    started: list[subprocess.Popen[str]] = []

    def begin(script: str, *args: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", str(scripts / script), *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
