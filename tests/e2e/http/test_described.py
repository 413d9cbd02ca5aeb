"""The server does what its description says: schemathesis asks it all that the document allows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.http.running import Running, running

from recollect import Recollect
from recollect.model import PERMISSIONS, Principal

HERE = Path(__file__).parent
TOOL = Path(sys.executable).parent / "schemathesis"
OPERATOR = "operator-let-me-in"
# What is there for who looks after stores, and for no key.
OPERATORS = "^/v1/(stores|hooks)"


@pytest.mark.timeout(1_200)
def test_each_answer_is_one_that_the_document_promises(tmp_path: Path) -> None:
    ask_everything(tmp_path, examples=1)


@pytest.mark.timeout(1_200)
def test_each_answer_to_an_operator_is_one_that_the_document_promises(tmp_path: Path) -> None:
    ask_as_operator(tmp_path, examples=1)


def test_each_answer_in_a_dialect_is_one_that_its_document_promises(tmp_path: Path) -> None:
    ask_in_dialects(tmp_path, examples=3)


@pytest.mark.soak
def test_each_answer_in_a_dialect_is_one_that_is_promised_however_long_one_asks(
    tmp_path: Path,
) -> None:
    ask_in_dialects(tmp_path, examples=60)


@pytest.mark.soak
def test_each_answer_is_one_that_the_document_promises_however_long_one_asks(
    tmp_path: Path,
) -> None:
    ask_everything(tmp_path, examples=60)


@pytest.mark.soak
def test_each_answer_to_an_operator_is_one_that_is_promised_however_long_one_asks(
    tmp_path: Path,
) -> None:
    ask_as_operator(tmp_path, examples=60)


def ask_everything(folder: Path, *, examples: int) -> None:
    """Ask, by a key that may do everything with a memory, what is there for keys."""
    with running(folder / "a.db", **stored(folder)) as server:
        key = (folder / "key").read_text()
        _ask(server, key, folder, "--exclude-path-regex", OPERATORS, examples=examples)


def ask_as_operator(folder: Path, *, examples: int) -> None:
    """Ask, by the token of who looks after a folder of stores, what is there for that."""
    stores = folder / "stores"
    stores.mkdir()
    with running(stores, operator_token=OPERATOR) as server:
        with server.client(OPERATOR) as client:
            assert client.post("/v1/stores", json={"name": "lab"}).status_code == 200
        _ask(server, OPERATOR, folder, "--include-path-regex", OPERATORS, examples=examples)


def ask_in_dialects(folder: Path, *, examples: int) -> None:
    """Ask in the words of other memories, by a key that may do everything."""
    with running(folder / "a.db", **stored(folder)) as server:
        key = (folder / "key").read_text()
        # What else is sent has no effect in a dialect, and some is needed only where another lacks.
        lenient = ("--exclude-checks", "negative_data_rejection,positive_data_acceptance")
        _ask(server, key, folder, *lenient, examples=examples, document="compat/openapi.json")


def _ask(
    server: Running,
    key: str,
    folder: Path,
    *which: str,
    examples: int,
    document: str = "openapi.json",
) -> None:
    """Ask in all phases, by all checks, the same in each run."""
    done = subprocess.run(
        [
            *(str(TOOL), "--config-file", str(HERE / "schemathesis.toml")),
            *("run", f"{server.url}/{document}", "--checks", "all", *which),
            *("--phases", "examples,coverage,fuzzing,stateful"),
            *("--max-examples", str(examples), "--generation-deterministic"),
            *("-H", f"Authorization: Bearer {key}"),
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
