"""A real server in a process of its own, on a free port of loopback."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.house.snippets import ROOT

TOKEN = "let-me-in"
SCRIPT = Path(__file__).parent / "scripts" / "serve.py"
START_S = 60


# What counts for Prometheus keeps its files open to the end.
WARNINGS = ("-W", "error", "-W", "ignore::ResourceWarning")


def _allow(files: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


class Running:
    """A server that was started; `log` is what it said since."""

    def __init__(self, db: str | Path, *, files: Any = None, **options: Any) -> None:
        said = {"port": 0, "token": TOKEN, **options, "db": str(db)}
        self.process = subprocess.Popen(
            [sys.executable, *WARNINGS, str(SCRIPT), json.dumps(said)],
            preexec_fn=None if files is None else lambda: _allow(files),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            # A server that is killed leaves its folder: beside its store, where tests clear up.
            env={"TMPDIR": str(Path(db).parent), **os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        self.log: list[str] = []
        self._address: list[str] = []
        self._told = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._told.wait(START_S), "it told no address"
        assert self._address, self.said
        self.url = self._address[0]

    def _read(self) -> None:
        for line in self.process.stderr:
            if not self._told.is_set() and "recollect serves at " in line:
                self._address.append(line.rpartition("recollect serves at ")[2].strip())
                self._told.set()
            else:
                self.log.append(line.rstrip("\n"))
        self._told.set()

    @property
    def said(self) -> str:
        return "\n".join(self.log)

    def client(self, key: str = TOKEN, **how: Any) -> httpx.Client:
        headers = {"authorization": f"Bearer {key}"}
        if self.url.startswith("unix:"):
            transport = httpx.HTTPTransport(uds=self.url.removeprefix("unix:"))
            return httpx.Client(base_url="http://localhost", transport=transport, headers=headers)
        return httpx.Client(base_url=self.url, headers=headers, timeout=START_S, **how)

    def workers(self) -> list[int]:
        """The processes that answer: children that hold the address."""
        children = []
        for one in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = int((one / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == self.process.pid and b"spawn_main" in (one / "cmdline").read_bytes():
                    children.append(int(one.name))
        return sorted(children)

    def end(self, told: int = signal.SIGTERM) -> int:
        """End it, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(told)
        code = self.process.wait(START_S)
        self._reader.join(START_S)
        self.process.stderr.close()
        return code

    def kill(self) -> None:
        """Kill every process of it at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(START_S)
        self._reader.join(START_S)
        self.process.stderr.close()


@contextmanager
def running(db: str | Path, *, files: Any = None, **options: Any) -> Iterator[Running]:
    """Serve for the length of a `with`; whatever is left of it is killed."""
    server = Running(db, files=files, **options)
    try:
        yield server
    finally:
        if not server.process.stderr.closed:
            server.kill()
