"""bm25s beside us: runs in its own environment, texts in by a file, ids out by another."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.peers.measure import Text
from bench.peers.with_bm25s import Bm25s


def main() -> None:
    """Index each collection and answer its questions."""
    asked, result = map(Path, sys.argv[1:])
    told = json.loads(asked.read_text(encoding="utf-8"))
    found = [_answers(one, told["k"]) for one in told["collections"]]
    result.write_text(json.dumps(found), encoding="utf-8")


def _answers(collection: dict[str, Any], k: int) -> list[list[str]]:
    peer = Bm25s()
    peer.add([Text(name, text) for name, text in collection["texts"].items()])
    return [peer.search(question, k) for question in collection["questions"]]


if __name__ == "__main__":
    main()
