"""The command line in a process of its own for each call, forked from one that has loaded it.

A call has its own arguments, environment, folder and streams, and ends like any process; what it
does not have is half a second of loading. Tests of starting itself, of terminals, pipes and signals
run the installed script instead.

Run as a program it is the process that forks: its argument is the number of a socket, over which
each request comes as a line of JSON beside three open files.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from recollect import Recollect
from recollect.client import RemoteRecollect
from recollect.edge.cli import commands, main, views
from recollect.errors import ServerUnreachable
from recollect.opening import SystemClock

ROOT = Path(__file__).parents[1]
SCRIPT = Path(sys.executable).with_name("recollect")
_MOST_BYTES = 1 << 20
_PATIENCE_S = 60.0


class WarmCommand:
    """Runs `recollect` like `subprocess.run` does, from a process that is ready to."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.settimeout(_PATIENCE_S)
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
                cwd=ROOT,
            )

    def run(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        stdin: str = "",
        merged: bool = False,
        at: float | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; `merged` puts what it says of errors where the rest is.

        `at` is the time that its clock tells, of the machine's unless it is given.
        """
        with _file(stdin) as into, _file() as out, _file() as error:
            request = {"arguments": list(arguments), "env": dict(env), "cwd": str(cwd), "at": at}
            files = [into.fileno(), out.fileno(), (out if merged else error).fileno()]
            socket.send_fds(self._ours, [json.dumps(request).encode()], files)
            code = int(self._ours.recv(64))
            command = [str(SCRIPT), *arguments]
            return subprocess.CompletedProcess(command, code, _text(out), _text(error))

    def close(self) -> None:
        """End the process that forks."""
        self._ours.close()
        self._server.wait()


def _file(text: str = "") -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(text.encode())
    file.seek(0)
    return file


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8")


def _serve(requests: socket.socket) -> None:
    while True:
        line, files, *_ = socket.recv_fds(requests, _MOST_BYTES, 3)
        if not line:
            return
        child = os.fork()
        if child == 0:
            requests.close()
            _become(json.loads(line), files)
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        requests.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: dict[str, Any], files: Sequence[int]) -> NoReturn:
    """Be the command that was asked for."""
    code = 1
    try:
        for stream, file in enumerate(files):
            os.dup2(file, stream)
        sys.stdin, sys.stdout, sys.stderr = (
            open(stream, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - as a process has it
            for stream, mode in enumerate(("r", "w", "w"))
        )
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        tempfile.tempdir = None  # the parent's
        sys.argv = [str(SCRIPT), *request["arguments"]]
        if (at := request["at"]) is not None:
            SystemClock.now = lambda _: at  # type: ignore[assignment, method-assign]
        code = _code_of_main()
    except BaseException:  # noqa: BLE001 - nothing of the parent may go on in the child
        traceback.print_exc()
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _code_of_main() -> int:
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    return 0


def _load() -> None:
    """Load what commands load, so that no child has to."""
    for package in (commands, views):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    with (
        tempfile.TemporaryDirectory() as folder,
        Recollect.open(Path(folder) / "warm.db") as memory,
    ):
        memory.remember("The kiln is booked until May.")
        memory.frame("task", "When is the kiln free?")
    _load_what_asks_servers()


def _load_what_asks_servers() -> None:
    """Ask once where nobody listens: of a port that is held, and of no use to anybody else."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with RemoteRecollect(url, "rk_nobody") as nobody, suppress(ServerUnreachable):
            nobody.stats()


if __name__ == "__main__":
    _load()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _serve(connection)
