"""What a page costs beside the JSON behind it, and what a browser has to fetch for it.

In: nothing. Out: the processor time of the first page of 100,000 memories beyond one and a half
times that of its twin, the median of rounds by turns; and kilobytes of the heaviest page, as they
are when they are unpacked and, below, as they are sent. The server is a process of its own on
loopback. Run `python -m bench.inspector`.
"""

from __future__ import annotations

import http.client
import json
import re
import tempfile
from pathlib import Path
from statistics import median

from bench.http import Client, Server
from recollect import Recollect

__all__ = ["FIRST", "PLAIN", "SIZE", "WEIGHT", "measure"]

FIRST = "CPU of the first page, beyond 1.5 times that of its JSON"
WEIGHT = "the heaviest page with all that it loads"
PLAIN = "the heaviest page without its scripts"
SIZE = 100_000
_SHARE = 1.5
_ROUNDS, _BLOCK = 9, 12
_PAGE, _TWIN = "/keep", "/keep.json"
_PATHS = (
    *("/keep", "/keep?words=order+17", "/timeline", "/threads", "/threads/day%2017", "/names/tag"),
    *("/activity", "/audit", "/quarantine", "/disputes", "/forget?thread=day+17", "/ask"),
    *("/ask?query=order+17", "/ask?query=order+17&stage=candidates", "/frame?query=order+17"),
)
_LOADED = re.compile(r'(?:href|src)="(/static/[^"]+)"')
_TOKEN = "bench"


def measure() -> dict[str, float]:
    """Return what each row comes to."""
    with tempfile.TemporaryDirectory(prefix="recollect-inspector-") as folder:
        db = Path(folder) / "a.db"
        _fill(db)
        server = Server(db, 1)
        try:
            return {**_beside_its_twin(server), **_weights(server)}
        finally:
            server.close()


def _fill(db: Path) -> None:
    with Recollect.open(db, links=False) as memory:
        memory.remember_many([_memory(number) for number in range(SIZE)])


def _memory(number: int) -> dict[str, object]:
    return {
        "content": f"Order {number} left the warehouse in box {number % 977}, by the second van.",
        "project": f"site {number % 9}",
        "thread": f"day {number % 300}",
        "speaker": ("Ann", "Bob", "Cy")[number % 3],
        "tags": [f"lane {number % 20}"],
        "occurred_at": f"20{20 + number % 6}-{1 + number % 12:02}-{1 + number % 28:02}",
    }


def _beside_its_twin(server: Server) -> dict[str, float]:
    with Client(server.port) as client:
        for path in (_PAGE, _TWIN):
            _cpu(server, client, path, 2)
        rounds = [
            (_cpu(server, client, _PAGE, _BLOCK), _cpu(server, client, _TWIN, _BLOCK))
            for _ in range(_ROUNDS)
        ]
    return {
        FIRST: median(page - _SHARE * twin for page, twin in rounds),
        "  the page, of CPU": median(page for page, _ in rounds),
        "  its JSON, of CPU": median(twin for _, twin in rounds),
    }


def _cpu(server: Server, client: Client, path: str, times: int) -> float:
    before = server.cpu_seconds()
    for _ in range(times):
        status, _, told = client.ask("GET", path)
        assert status == 200, told
    return (server.cpu_seconds() - before) / times


def _weights(server: Server) -> dict[str, float]:
    pak = _first_pak(server.port)
    weighed = [_weighed(server.port, path) for path in (*_PATHS, f"/pak/{pak}")]
    unpacked, sent = zip(*weighed, strict=True)
    return {
        WEIGHT: max(plain + scripts for plain, scripts in unpacked) / 1_000,
        PLAIN: max(plain for plain, _ in unpacked) / 1_000,
        "  the heaviest as it is sent": max(map(sum, sent)) / 1_000,
        "  without its scripts, as it is sent": max(plain for plain, _ in sent) / 1_000,
    }


def _first_pak(port: int) -> str:
    found: str = json.loads(_fetched(port, _TWIN)[2])["items"][0]["pak_id"]
    return found


def _weighed(port: int, path: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the bytes of a page with what is no script, and of scripts: unpacked, and as sent."""
    html = _fetched(port, path)[2]
    parts = {one: _fetched(port, one) for one in {path, *_LOADED.findall(html)}}

    def bytes_of(which: int) -> tuple[int, int]:
        scripts = sum(one[which] for name, one in parts.items() if name.endswith(".js"))
        return sum(one[which] for one in parts.values()) - scripts, scripts

    return bytes_of(0), bytes_of(1)


def _fetched(port: int, path: str) -> tuple[int, int, str]:
    """Return the bytes of what is at a path, unpacked and as they are sent, and what it says."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        sent = {"authorization": f"Bearer {_TOKEN}"}
        connection.request("GET", path, headers=sent)
        html = connection.getresponse().read().decode()
        connection.request("GET", path, headers={**sent, "accept-encoding": "gzip"})
        return len(html.encode()), len(connection.getresponse().read()), html
    finally:
        connection.close()


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{value:10.4f}  {name}")
