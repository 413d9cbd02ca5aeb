"""Clients that write under Idempotency-Keys, and know what they were told."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import httpx

PATIENCE_S = 120


@dataclass
class Told:
    """What clients were told: the id that each key was answered with."""

    ids: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


class Writers:
    """So many clients, each with its own keys; a request without an answer is sent again."""

    def __init__(self, url: str, key: str, clients: int, *, reads: bool = False) -> None:
        self.url = url
        self.told = Told()
        self._headers = {"authorization": f"Bearer {key}"}
        self._reads = reads
        self._ends = threading.Event()
        self._threads = [
            threading.Thread(target=self._go, args=(number,), daemon=True)
            for number in range(clients)
        ]

    def __enter__(self) -> Writers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), "a client got no answer"

    def wait_for(self, writes: int) -> None:
        """Wait until so many more writes were acknowledged."""
        wanted, until = len(self.told.ids) + writes, time.monotonic() + PATIENCE_S
        while len(self.told.ids) < wanted:
            assert time.monotonic() < until, self.told.wrong
            time.sleep(0.02)

    def _go(self, number: int) -> None:
        written = 0
        while not self._ends.is_set():
            # Without certificates: to read them takes longer than many requests.
            with httpx.Client(headers=self._headers, timeout=PATIENCE_S, verify=False) as client:
                try:
                    while not self._ends.is_set():
                        self._write(client, f"key-{number}-{written}")
                        written += 1
                        if self._reads:
                            self._read(client)
                except httpx.TransportError:
                    # The server is gone, or was: the same request again, under the same key.
                    self._ends.wait(0.2)

    def _write(self, client: httpx.Client, key: str) -> None:
        began = time.perf_counter()
        answer = client.post(
            f"{self.url}/v1/memories",
            json={"content": f"What {key} has to say."},
            headers={"idempotency-key": key},
        )
        self.told.seconds.append(time.perf_counter() - began)
        if answer.status_code == 200:
            self.told.ids[key] = answer.json()["pak_id"]
        else:
            self.told.wrong.append(f"{answer.status_code} {answer.text}")

    def _read(self, client: httpx.Client) -> None:
        began = time.perf_counter()
        answer = client.post(f"{self.url}/v1/recall", json={"query": "what has key to say"})
        self.told.seconds.append(time.perf_counter() - began)
        if answer.status_code != 200:
            self.told.wrong.append(f"{answer.status_code} {answer.text}")
