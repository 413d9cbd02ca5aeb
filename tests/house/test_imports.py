"""Importing has no side effect: no environment, no file, no numeric library."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import aio, engine, node

WATCHED = """
import json, os, sys
read, opened = [], []
real_get, real_iter = os._Environ.__getitem__, os._Environ.__iter__
def get(self, key):
    read.append(key)
    return real_get(self, key)
def walk(self):
    read.append("*")
    return real_iter(self)
os._Environ.__getitem__, os._Environ.__iter__ = get, walk
def hook(event, arguments):
    # The import system opens the code itself; anything else is a file that the code wanted.
    if event == "open" and not str(arguments[0]).endswith((".py", ".pyc", ".so")):
        opened.append(str(arguments[0]))
    if event in ("os.mkdir", "os.listdir", "sqlite3.connect", "socket.connect", "subprocess.Popen"):
        opened.append(event)
sys.addaudithook(hook)
import MODULE
os._Environ.__getitem__, os._Environ.__iter__ = real_get, real_iter
heavy = ["numpy", "httpx", "rich", "typer", "pydantic", "tokenizers", "Stemmer"]
print(json.dumps([read, list(opened), [name for name in heavy if name in sys.modules]]))
"""


def watch(module: str, folder: Path) -> list[Any]:
    result = subprocess.run(
        [sys.executable, "-B", "-c", WATCHED.replace("MODULE", module)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    "module",
    [
        "recollect",
        "recollect.paks",
        "recollect.errors",
        "recollect.embed",
        "recollect.model",
        "recollect.settings",
        "recollect.hooks",
        "recollect.hooks.sdk",
        "recollect.hooks.handle",
    ],
)
def test_importing_reads_nothing_opens_nothing_and_loads_nothing_heavy(
    module: str, tmp_path: Path
) -> None:
    environment, files, heavy = watch(module, tmp_path)
    assert environment == []
    assert [name for name in files if name != "os.listdir"] == []
    assert heavy == []
    assert list(tmp_path.iterdir()) == []


def test_the_engine_is_loaded_when_its_name_is_first_used(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text("import recollect\nrecollect.Recollect\n")
    environment, _, heavy = watch("user", tmp_path)
    assert [name for name in environment if "RECOLLECT" in name or "TOKENPAK" in name] == []
    assert "numpy" in heavy
    assert not {"rich", "typer", "httpx", "pydantic"} & set(heavy)


def test_the_lazy_names_are_those_of_their_modules() -> None:
    assert recollect.Recollect is engine.Recollect
    assert recollect.AsyncRecollect is aio.AsyncRecollect
    assert recollect.Node is node.Node
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = recollect.Nonsense


def test_the_watch_sees_what_it_should(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(
        "import os\nos.environ.get('SECRET')\nopen('data.txt', 'w').close()\nimport numpy\n"
    )
    environment, files, heavy = watch("noisy", tmp_path)
    assert "SECRET" in environment
    assert "data.txt" in files
    assert "numpy" in heavy


def test_asking_loads_no_library_that_only_writing_needs(tmp_path: Path) -> None:
    """The tokeniser's takes 60 ms to start and numpy's masked arrays 10: most of a first answer."""
    with recollect.Recollect.open(tmp_path / "a.db") as memory:
        memory.remember("Use Celery with Redis for background tasks.", pak_id="a")
        memory.remember("Restart the Celery worker after a deploy.", pak_id="b")
        memory.link("a", "b")
        for number in range(3):
            turn = f"The worker hangs again, {number} times today."
            memory.remember(turn, thread="ops", speaker="Ann", occurred_at=f"2024-05-0{number + 1}")
    asking = (
        "import sys; from recollect import Recollect; memory = Recollect.open('a.db'); "
        "assert memory.recall('background jobs').results; "
        "assert memory.recall('what did Ann say of the worker in May 2024?').results; "
        "assert memory.frame('task', 'deploy the workers').blocks; "
        "print([name for name in ('tokenizers', 'numpy.ma') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_protocols_library_is_imported_by_its_own_door_alone() -> None:
    """It takes a second to load, and others want another version of it."""
    source = Path(recollect.__file__).parent
    using = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
        if name.partition(".")[0] in ("mcp", "mcp_types", "anyio", "httpx2", "jwt")
    }
    assert using
    assert {name for name in using if not name.startswith("edge/mcp/")} == set()


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


@pytest.mark.parametrize(
    "command", [["serve", "--help"], ["remember", "tea", "--db", "a.db"], ["mcp", "--help"]]
)
def test_no_other_command_loads_the_protocols_library(command: list[str], tmp_path: Path) -> None:
    running = (
        "import sys; sys.argv = ['recollect', *sys.argv[1:]]\n"
        "from recollect.edge.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert not {'mcp', 'mcp_types', 'fastapi'} & set(sys.modules)\n"
    )
    subprocess.run(
        [sys.executable, "-c", running, *command], cwd=tmp_path, check=True, capture_output=True
    )
