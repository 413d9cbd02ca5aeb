"""Every module says what it is for, what it exports, and nothing about plans."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from tests.house.snippets import ROOT

SOURCE = ROOT / "src"
MODULES = sorted((SOURCE / "recollect").rglob("*.py"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# What users import: packages, the modules beside them, and the rooms that the contract names.
CONTRACT = {f"recollect.paks.{room}" for room in ("schema", "migrations", "store", "registry")}
PUBLIC = [
    path
    for path in MODULES
    if path.name == "__init__.py" or name_of(path).count(".") == 1 or name_of(path) in CONTRACT
]


def made_here(path: Path) -> set[str]:
    """Return the public names that a module makes itself; type variables are nobody's business."""
    names: set[str] = set()
    body = tree(path).body
    # What type checkers see otherwise is made where they do not look.
    unseen = [node for block in body if isinstance(block, ast.If) for node in block.orelse]
    for node in [*body, *unseen]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not _is_type_variable(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def brought_in(path: Path, source: str) -> set[str]:
    """Return the names that a module imports from modules whose name starts with `source`."""
    body = tree(path).body
    # A name that is loaded on first use is imported for the type checker alone.
    lazy = [node for block in body if isinstance(block, ast.If) for node in block.body]
    return {
        alias.asname or alias.name
        for node in [*body, *lazy]
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(source)
        for alias in node.names
    }


def _is_type_variable(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == "TypeVar"


def said_of(paths: Sequence[Path], say: Callable[[Path], Iterable[str]]) -> dict[str, list[str]]:
    """Return what is wrong with modules, by module."""
    looked_at = {name_of(path): list(say(path)) for path in paths}
    assert looked_at
    return {name: said for name, said in looked_at.items() if said}


def wrongly_exported(path: Path) -> Iterator[str]:
    module = importlib.import_module(name_of(path))
    exported = getattr(module, "__all__", None)
    if exported is None:
        if len(tree(path).body) != 1:
            yield "only a module with nothing but words needs no __all__"
        return
    if len(exported) != len(set(exported)):
        yield "something is exported twice"
    yield from (name for name in exported if not hasattr(module, name))
    ours = made_here(path) | brought_in(path, "recollect")
    yield from sorted({name for name in exported if name != "__version__"} - ours)


def not_exported(path: Path) -> list[str]:
    exported = set(getattr(importlib.import_module(name_of(path)), "__all__", ()))
    return sorted((made_here(path) | brought_in(path, f"{name_of(path)}.")) - exported)


def wrongly_described(path: Path) -> Iterator[str]:
    words = ast.get_docstring(tree(path))
    if not words:
        yield "a module needs a docstring"
        return
    lines = words.splitlines()
    tiny = path.name == "__init__.py" or len(path.read_text(encoding="utf-8").splitlines()) < 60
    # An error tree may be drawn as long as it is.
    prose = [line for line in lines if not re.match(r"\s*[│├└]|\s{4}\w", line)]
    if len(lines) < (1 if tiny else 2) or len(prose) > 8:
        yield "two to six lines, and the blank ones between"


def test_every_exported_name_is_there_and_is_ours() -> None:
    assert said_of(MODULES, wrongly_exported) == {}


def test_a_public_module_exports_all_that_it_makes_or_brings_in_from_its_rooms() -> None:
    assert said_of(PUBLIC, not_exported) == {}


def test_a_module_says_in_a_few_lines_what_it_is_for() -> None:
    assert said_of(MODULES, wrongly_described) == {}


def test_nothing_is_left_to_do() -> None:
    marks = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
    texts = [*MODULES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").glob("*.py"), *PAGES]
    assert [path for path in texts if marks.search(path.read_text(encoding="utf-8"))] == []


def test_every_cited_decision_is_recorded() -> None:
    recorded = {path.name[:4] for path in (ROOT / "docs/adr").glob("*.md")}
    cited = {
        number
        for path in [*MODULES, *PAGES]
        for number in re.findall(r"ADR-(\d{4})", path.read_text(encoding="utf-8"))
    }
    assert cited <= recorded
