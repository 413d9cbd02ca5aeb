"""Recall quality beside others: the same texts and questions through every peer, offline.

Run `python -m bench.peers`. Each peer is installed from the package index into an environment of
its own and measured in a process of its own; what cannot be installed or run is listed with the
reason. Writes `bench/results/peers.json` and a per-question file for each peer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import Progress

from bench import report
from bench.peer import PeerUnavailable, python_with
from bench.peers import corpora, table
from bench.peers.findings import OURS, Absent, Row, losses, row
from bench.recall import OtherJobs

ROOT = Path(__file__).parents[2]
LOCOMO = ROOT.parent / "shared" / "data" / "locomo-dev"
RESULTS = ROOT / "bench" / "results" / "peers.json"
LONGEST_S = 1800
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "MEM0_TELEMETRY": "False",
    "ANONYMIZED_TELEMETRY": "False",
}


class Peer(NamedTuple):
    """Who takes part: a name, the module that measures it, and what to install for it."""

    name: str
    module: str
    requirements: tuple[str, ...] = ()


PEERS = (
    Peer(OURS, "with_recollect"),
    Peer("BM25 (textbook)", "with_bm25"),
    Peer("SQLite FTS5 (porter)", "with_fts5"),
    Peer("static table (cosine)", "with_cosine"),
    Peer("bm25s", "with_bm25s", ("bm25s", "PyStemmer")),
    Peer("chromadb", "with_chromadb", ("chromadb",)),
    Peer("lancedb (hybrid)", "with_lancedb", ("lancedb",)),
    Peer("mem0ai", "with_mem0", ("mem0ai",)),
    Peer("elfmem", "with_elfmem", ("elfmem==0.20.*",)),
)
NOT_TRIED = (
    Absent(
        "all",
        "txtai",
        "needs PyTorch, whose default wheels bring several GB of GPU libraries; lancedb stands for"
        " hybrid search",
    ),
)


def measure(
    which: Sequence[Peer], held: Sequence[corpora.Corpus], folder: Path, progress: Progress
) -> tuple[list[Row], list[Absent]]:
    """Measure every peer on every corpus."""
    rows: list[Row] = []
    absent: list[Absent] = list(NOT_TRIED)
    task = progress.add_task("start", total=len(which) * len(held))
    with tempfile.TemporaryDirectory(prefix="recollect-peers-") as scratch:
        for corpus in held:
            path = Path(scratch) / f"{corpus.name}.json"
            corpora.write(corpus, path)
            for peer in which:
                progress.update(task, description=f"{peer.name}, {corpus.name}")
                try:
                    result = _measured(peer, path, Path(scratch))
                except (PeerUnavailable, _Failed) as error:
                    absent.append(Absent(corpus.name, peer.name, str(error).splitlines()[-1]))
                else:
                    rows.append(row(corpus.name, peer.name, result, corpus.task, folder))
                progress.advance(task)
    return rows, absent


class _Failed(RuntimeError):
    """A measuring process ended badly."""


def _measured(peer: Peer, corpus: Path, scratch: Path) -> Any:
    python = python_with(*peer.requirements) if peer.requirements else Path(sys.executable)
    result = scratch / "result.json"
    result.unlink(missing_ok=True)
    command = [str(python), "-m", f"bench.peers.{peer.module}", str(corpus), str(result)]
    try:
        ended = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | OFFLINE | {"HOME": str(scratch)},  # for what they leave at home
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _Failed(f"took longer than {LONGEST_S:,} s") from error
    if ended.returncode or not result.exists():
        raise _Failed(ended.stderr.strip() or f"exit code {ended.returncode}")
    return json.loads(result.read_text())


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--locomo", type=Path, default=LOCOMO, metavar="DIR", help="LoCoMo's files")
    parser.add_argument("--only", action="append", metavar="PEER", help="only this peer, and ours")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    options = parser.parse_args()
    which = [one for one in PEERS if not options.only or one.name in (OURS, *options.only)]
    held = corpora.corpora(options.locomo)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    others = OtherJobs()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        rows, absent = measure(which, held, options.json.with_suffix(""), progress)
    run = {
        "bench": "peers",
        "taken_at": report.now(),
        "commit": report.commit(),
        "others": round(others.cores(), 2),
        "machine": report.machine(),
        "corpora": [corpus.name for corpus in held],
        "rows": [one.to_dict() for one in rows],
        "absent": [one.to_dict() for one in absent],
        "losses": list(losses(rows)),
    }
    options.json.write_text(json.dumps(run, indent=1) + "\n")
    table.show(run, Console() if sys.stdout.isatty() else Console(width=180))
    print(f"written to {options.json}")


if __name__ == "__main__":
    main()
