"""What a server costs: a recall over HTTP beside the same recall as a call of the library.

In: nothing. Out: ratios, and seconds, each the median of rounds by turns; a server is a process of
its own on loopback. CPU is what the processes of a server used, as the system counts it. Run
`python -m bench.http` on a machine that does nothing else.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from recollect import Recollect

__all__ = [
    "ADDED",
    "FRAME",
    "ONE_WORKER",
    "START",
    "TWO_WORKERS",
    "Client",
    "Server",
    "cpu_of",
    "fill",
    "measure",
    "question",
]

ADDED = "CPU that a recall over HTTP adds to the library's call"
ONE_WORKER = "one worker, 16 clients, beside one process in a loop"
TWO_WORKERS = "CPU of a request with two workers, beside one worker's"
FRAME = "a frame that did not change, beside a recall"
START = "start to first answer, beside importing the server's libraries"
SIZE = 10_000
_ROUNDS, _BLOCK, _CLIENTS = 9, 60, 16
_TOKEN = "bench"
_LIBRARIES = (
    "import fastapi, uvicorn, uvloop, httptools, prometheus_client, numpy, tokenizers, sqlite3"
)
_SERVE = (
    "import sys; from recollect.edge.http.options import ServerOptions;"
    " from recollect.edge.http.run import serve;"
    " sys.exit(serve(ServerOptions.from_text(sys.argv[1])))"
)
_LENGTH = re.compile(rb"content-length: (\d+)")
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class _Taken:
    """What a request took: of the clock, and of the processor."""

    wall_s: float
    cpu_s: float


class Server:
    """A server in a process of its own, and what it used."""

    def __init__(self, db: Path, workers: int) -> None:
        from recollect.edge.http.options import ServerOptions

        with socket.create_server(("127.0.0.1", 0)) as found:
            self.port: int = found.getsockname()[1]
        options = ServerOptions(db=str(db), port=self.port, workers=workers, token=_TOKEN)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, options.to_text()], stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 60
        while not self._is_there():
            if time.monotonic() > until:
                raise RuntimeError("the server does not answer")
            time.sleep(0.005)

    def _is_there(self) -> bool:
        try:
            with Client(self.port) as client:
                return client.ask("GET", "/v1/stats")[0] == 200
        except OSError:
            return False

    def cpu_seconds(self) -> float:
        """Return what its processes used so far."""
        return sum(cpu_of(one) for one in self._processes())

    def _processes(self) -> Iterator[int]:
        yield self._process.pid
        for one in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((one / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == self._process.pid:
                yield int(one.name)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


def cpu_of(process: int) -> float:
    """Return what a process used so far, in seconds."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICK


class Client:
    """One connection that stays."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(
        self, method: str, path: str, body: object = None, **more: str
    ) -> tuple[int, str | None, bytes]:
        """Return status, tag and body."""
        headers = {"authorization": f"Bearer {_TOKEN}", **more}
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, path, sent, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.headers.get("etag"), answer.read()


def measure() -> dict[str, float]:
    """Return what each row comes to."""
    with tempfile.TemporaryDirectory(prefix="recollect-http-") as folder:
        db = Path(folder) / "a.db"
        fill(db)
        with Recollect.open(db) as memory:
            memory.recall(question(0))
            return {**_beside_the_library(db, memory), **_by_workers(db, memory), **_starting(db)}


def fill(db: Path) -> None:
    """Fill a store with notes that are not alike."""
    with Recollect.open(db, links=False) as memory:
        for start in range(0, SIZE, 500):
            numbers = range(start, start + 500)
            memory.remember_many([_text(number) for number in numbers])
        for number in range(5):
            memory.remember(f"I am careful, in {number} ways.", tags=["self/value"])


_PLACES = ("harbour", "kiln", "archive", "orchard", "garage", "studio", "library", "market")
_DOINGS = ("is booked until", "was cleaned on", "opens again on", "was painted before", "closes on")


def _text(number: int) -> str:
    place, doing = _PLACES[number % 8], _DOINGS[number % 5]
    return f"The {place} number {number} {doing} day {number % 365}."


def question(number: int) -> str:
    """Return one of many questions about them."""
    return f"When is the {_PLACES[number % 8]} number {number * 37 % SIZE} open?"


def _beside_the_library(db: Path, memory: Recollect) -> dict[str, float]:
    server = Server(db, 1)
    try:
        with Client(server.port) as client:
            tag = _frame(client)

            def as_a_call(number: int) -> None:
                memory.recall(question(number))

            def over_http(number: int) -> None:
                assert client.ask("POST", "/v1/recall", {"query": question(number)})[0] == 200

            def unchanged(_: int) -> None:
                _frame(client, tag)

            rounds = [
                (
                    _each(as_a_call, turn, time.process_time),
                    _each(over_http, turn, server.cpu_seconds),
                    _each(unchanged, turn, server.cpu_seconds),
                )
                for turn in range(_ROUNDS)
            ]
    finally:
        server.close()
    return {
        ADDED: median(there.cpu_s - here.cpu_s for here, there, _ in rounds),
        FRAME: median(frame.cpu_s / there.cpu_s for _, there, frame in rounds),
        "  a recall as a call, seconds": median(here.wall_s for here, _, _ in rounds),
        "  a recall over HTTP, seconds": median(there.wall_s for _, there, _ in rounds),
        "  a recall as a call, of CPU": median(here.cpu_s for here, _, _ in rounds),
        "  a recall over HTTP, of CPU": median(there.cpu_s for _, there, _ in rounds),
    }


def _frame(client: Client, tag: str | None = None) -> str:
    more = {} if tag is None else {"if-none-match": tag}
    status, found, told = client.ask("POST", "/v1/frames/self/render", {}, **more)
    assert status == (200 if tag is None else 304), told
    assert found is not None
    return found


def _each(act: Callable[[int], object], turn: int, cpu: Callable[[], float]) -> _Taken:
    """Return what one of a block took: of the clock its median, of the processor its mean."""
    spent, before = [], cpu()
    for number in range(turn * _BLOCK, (turn + 1) * _BLOCK):
        began = time.perf_counter()
        act(number)
        spent.append(time.perf_counter() - began)
    return _Taken(median(spent), (cpu() - before) / _BLOCK)


def _by_workers(db: Path, memory: Recollect) -> dict[str, float]:
    servers = {workers: Server(db, workers) for workers in (1, 2)}
    try:
        loads = {workers: _Load(server) for workers, server in servers.items()}
        rounds = [
            (_in_a_loop(memory, turn), loads[1].run(turn), loads[2].run(turn))
            for turn in range(_ROUNDS)
        ]
    finally:
        for server in servers.values():
            server.close()
    return {
        ONE_WORKER: median(1 / one.wall_s / loop for loop, one, _ in rounds),
        TWO_WORKERS: median(two.cpu_s / one.cpu_s for _, one, two in rounds),
        "  in a loop, a second": median(loop for loop, _, _ in rounds),
        "  one worker, a second": median(1 / one.wall_s for _, one, _ in rounds),
        "  two workers, a second": median(1 / two.wall_s for _, _, two in rounds),
    }


def _in_a_loop(memory: Recollect, turn: int) -> float:
    asked = 200
    began = time.perf_counter()
    for number in range(asked):
        memory.recall(question(turn * asked + number))
    return asked / (time.perf_counter() - began)


def _ask_for(connection: socket.socket, query: str) -> None:
    """Ask as briefly as can be: what clients take of the processors is none of the server's."""
    body = json.dumps({"query": query})
    connection.sendall(
        f"POST /v1/recall HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {_TOKEN}\r\n"
        f"content-length: {len(body)}\r\n\r\n{body}".encode()
    )
    head, found, body_read = connection.recv(65_536).partition(b"\r\n\r\n")
    assert found, "a head comes in one piece"
    assert head.startswith(b"HTTP/1.1 200"), head
    missing = int(_LENGTH.findall(head)[0]) - len(body_read)
    while missing > 0:
        missing -= len(connection.recv(missing))


class _Load:
    """Sixteen clients of a server at once."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def run(self, turn: int) -> _Taken:
        each = 25
        before, began = self._server.cpu_seconds(), time.perf_counter()

        def ask(client_number: int) -> None:
            with socket.create_connection(("127.0.0.1", self._server.port)) as connection:
                for number in range(each):
                    query = question((turn * _CLIENTS + client_number) * each + number)
                    _ask_for(connection, query)

        threads = [threading.Thread(target=ask, args=(one,)) for one in range(_CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        asked = each * _CLIENTS
        seconds = time.perf_counter() - began
        return _Taken(seconds / asked, (self._server.cpu_seconds() - before) / asked)


def _starting(db: Path) -> dict[str, float]:
    rounds = [(_seconds_to_import(), _seconds_to_start(db)) for _ in range(_ROUNDS)]
    return {START: median(start / alone for alone, start in rounds)}


def _seconds_to_import() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", _LIBRARIES], check=True)
    return time.perf_counter() - began


def _seconds_to_start(db: Path) -> float:
    began = time.perf_counter()
    server = Server(db, 1)
    seconds = time.perf_counter() - began
    server.close()
    return seconds


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{value:10.4f}  {name}")
