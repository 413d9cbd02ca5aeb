"""The server does what its description says: schemathesis asks it all that the document allows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.http.running import running

from recollect import Recollect
from recollect.model import PERMISSIONS, Principal

HERE = Path(__file__).parent
TOOL = Path(sys.executable).parent / "schemathesis"


def test_each_answer_is_one_that_the_document_promises(tmp_path: Path) -> None:
    ask_everything(tmp_path, examples=1)


@pytest.mark.soak
def test_each_answer_is_one_that_the_document_promises_however_long_one_asks(
    tmp_path: Path,
) -> None:
    ask_everything(tmp_path, examples=60)


def ask_everything(folder: Path, *, examples: int) -> None:
    """Ask in all phases, by all checks, the same in each run."""
    with running(folder / "a.db", **stored(folder)) as server:
        done = subprocess.run(
            [
                *(str(TOOL), "--config-file", str(HERE / "schemathesis.toml")),
                *("run", f"{server.url}/openapi.json", "--checks", "all"),
                *("--phases", "examples,coverage,fuzzing,stateful"),
                *("--max-examples", str(examples), "--generation-deterministic"),
                *("-H", f"Authorization: Bearer {(folder / 'key').read_text()}"),
            ],
            cwd=folder,
            env={**os.environ, "SCHEMATHESIS_HOOKS": "lines", "PYTHONPATH": str(HERE / "scripts")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-6000:]


def stored(folder: Path) -> dict[str, object]:
    """Make a memory with something in it, and a key that may do everything with it."""
    with Recollect.open(folder / "a.db") as memory:
        memory.remember("The kiln is booked until Friday.", pak_id="kiln-booking")
        memory.remember("The kiln was mended in May.", pak_id="kiln-repair")
        memory.gardens.create("lab")
        key = memory.keys.create(Principal("local", "ann", permissions=PERMISSIONS))
    (folder / "key").write_text(str(key.secret))
    return {"token": None}
