"""What a recall from the shell does not load: whoever asks one question waits for nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recollect import Recollect

_RECALL = """
import contextlib, io, json, sys
sys.argv = ["recollect", "recall", "tea", "--db", *sys.argv[1:]]
from recollect.edge.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
print(json.dumps(sorted(sys.modules)))
"""
# Each is loaded by what needs it.
NOT_LOADED = (
    *("typer", "rich", "httpx", "pydantic", "pytest", "recollect.evaluation", "recollect.testing"),
    *("mcp", "mcp_types", "recollect.edge.mcp"),
    *("asyncio", "email", "html", "tokenizers", "tomllib", "numpy.fft", "numpy.random"),
    *("recollect.samples", "recollect.stores.memory", "recollect.stores.sqlite.examine"),
    *("recollect.stores.sqlite.repair", "recollect.stores.sqlite.salvage"),
    *("recollect.stores.sqlite.backup", "recollect.stores.sqlite.restore"),
    *("recollect.hooks.handle", "recollect.hooks.dispatcher", "recollect.hooks.verbs"),
    *("recollect.verbs.write", "recollect.verbs.change", "recollect.verbs.erase"),
    *("recollect.verbs.join", "recollect.verbs.keys", "recollect.verbs.upkeep"),
    *("recollect.verbs.receipts", "recollect.stores.sqlite.receipts"),
    *("recollect.write.remember", "recollect.write.transfer", "recollect.write.likeness"),
    *("recollect.recall.select.selection", "recollect.recall.listing", "recollect.recall.inspect"),
    *("recollect.model.reports", "recollect.model.version", "recollect.ports.store"),
    *("recollect.edge.cli.views.", "recollect.edge.cli.commands", "recollect.edge.cli.app"),
)
# There were 250 before verbs, hooks and values were loaded on first use.
MOST_MODULES = 184


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["piped", "as JSON"])
def test_a_recall_loads_what_it_needs_and_no_command(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    db = tmp_path / "agent.db"
    with Recollect.open(db) as memory:
        memory.remember("tea")
    said = subprocess.run(
        [sys.executable, "-c", _RECALL, db, *options], capture_output=True, text=True, check=True
    )
    loaded = json.loads(said.stdout)
    drawn = ("recollect.edge.cli.views.words", "recollect.edge.cli.views.piped")
    others = NOT_LOADED + (drawn if options else ("recollect.edge.wire",))
    assert [
        name for name in loaded if name.startswith(others) and (options or name not in drawn)
    ] == []
    ours = [name for name in loaded if name.split(".")[0] == "recollect"]
    assert len(ours) <= MOST_MODULES


_HOOK = """
import sys
before = set(sys.modules)
sys.argv = ["recollect", "hook", "session-start"]
from recollect.edge.cli import main
from recollect.edge.agents import waiting
assert waiting.read(sys.argv[1:]) is not None
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
print(*sorted(name for name in sys.modules if name.startswith("recollect")))
"""


def test_who_waits_for_a_hook_loads_next_to_nothing() -> None:
    words = [sys.executable, "-I", "-c", _HOOK]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    others, ours = (line.split() for line in said.splitlines())
    assert not {"json", "socket", "typer", "argparse", "dataclasses", "logging"} & {*others}
    assert ours == [
        *("recollect", "recollect.edge", "recollect.edge.agents", "recollect.edge.agents.waiting"),
        *("recollect.edge.cli", "recollect.errors"),
    ]


def test_a_recall_leaves_the_environment_as_it_was(tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    with Recollect.open(db) as memory:
        memory.remember("tea")
    told = _RECALL.replace("sorted(sys.modules)", "dict(__import__('os').environ)")
    given = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    for environment in (given, {**given, "OPENBLAS_NUM_THREADS": "2"}):
        said = subprocess.run(
            [sys.executable, "-c", told, db, "--json"],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        left = json.loads(said.stdout)
        assert {name: left.get(name) for name in environment} == environment
        assert ("OPENBLAS_NUM_THREADS" in left) == ("OPENBLAS_NUM_THREADS" in environment)
