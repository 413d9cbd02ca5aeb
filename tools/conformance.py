"""The public conformance suite of MCP, and the inspector's strict check, against our server.

Run `make conformance`. In: nothing; Node 22 and both programs are fetched from npm into `.cache`
(with `--fetch` nothing but that is done, for who has other things to do meanwhile).
Out: what they say, and exit code 1 when a scenario fails that is not in the baseline, or one of it
does not fail any more. Where Node cannot be had it says so; under CI that is said and no failure.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from recollect import Recollect
from recollect.edge.http.app import make_app
from recollect.edge.http.options import ServerOptions

__all__ = ["main"]

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "node"
BASELINE = ROOT / "tests/conformance/mcp-baseline.yaml"
_PACKAGES = (
    "node@22",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
)
_TOKEN = b"conformance"
_START_S = 60
_FETCH_S = 150


def main() -> int:
    """Fetch what it takes, and run it."""
    programs = fetched()
    if programs is None:
        print("conformance: Node 22 cannot be had here, so nothing was checked.", flush=True)
        return 0
    if "--fetch" in sys.argv:
        return 0
    with served() as url:
        codes = [
            _run(
                programs,
                "conformance",
                "server",
                "--url",
                url,
                "--suite",
                "all",
                "--expected-failures",
                str(BASELINE),
            ),
            _run(programs, "mcp-inspector", "--cli", url, "--method", "tools/list", "--strict"),
        ]
    codes.append(
        _run(programs, "mcp-inspector", "--cli", *_STDIO, "--method", "tools/list", "--strict")
    )
    return max(codes)


_STDIO = (str(Path(sys.executable).with_name("recollect")), "mcp", "--db", "memory://")


def fetched() -> Path | None:
    """Return the folder of the programs, None where they cannot be had."""
    programs = CACHE / "node_modules" / ".bin"
    if all((programs / name).exists() for name in ("node", "conformance", "mcp-inspector")):
        return programs
    npm = shutil.which("npm")
    if npm is None:
        return None
    CACHE.mkdir(parents=True, exist_ok=True)
    asked = [npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(CACHE)]
    try:
        subprocess.run([*asked, *_PACKAGES], check=True, timeout=_FETCH_S)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None  # a registry that does not answer must not keep everybody waiting
    return programs


@contextmanager
def served() -> Iterator[str]:
    """Serve a memory that is kept nowhere; the suite shows no key, so one is shown for it."""
    memory = Recollect.open("memory://", embedder="none")
    options = ServerOptions("memory://", token=_TOKEN.decode(), only_mcp=True)
    inner = make_app(options, memory=memory)

    async def shown(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            key = (b"authorization", b"Bearer " + _TOKEN)
            scope = {**scope, "headers": [*scope["headers"], key]}
        await inner(scope, receive, send)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(shown, log_config=None, lifespan="on", http="httptools")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        until = time.monotonic() + _START_S
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        server.should_exit = True
        thread.join(_START_S)


def _run(programs: Path, name: str, *words: str) -> int:
    """Run a program with the Node that was fetched."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    command = [str(programs / name), *words]
    print(f"\n$ {name} {' '.join(words)}", flush=True)
    done = subprocess.run(
        command,
        cwd=CACHE,
        env={**os.environ, "PATH": path},
        check=False,
        stdin=subprocess.DEVNULL,
        # The inspector prints the answer, and says on stderr what is wrong with it.
        stdout=subprocess.DEVNULL if name == "mcp-inspector" else None,
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
