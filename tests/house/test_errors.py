"""One error tree, drawn as it is; drivers' errors stay where the drivers are."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pkgutil
import re
import sqlite3
from collections.abc import Iterator

import pytest
from tests.house.snippets import ROOT

import recollect
from recollect import errors
from recollect.errors import RecollectError

SOURCE = ROOT / "src/recollect"
# Where SQLite is spoken: an error made here may be the driver's as well, for callers who expect it.
BORDER = ("recollect.paks.", "recollect.stores.sqlite.")
_LINE = re.compile(r"^    ((?:│   |    )*)[├└]── (\w+) *(?:\((\w+)\))?")


def every_class() -> list[type]:
    """Return every class that the package makes, wherever it stands."""
    for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
        importlib.import_module(module.name)
    found: dict[type, None] = {}
    waiting: list[type] = [BaseException]
    while waiting:
        one = waiting.pop()
        waiting += type.__subclasses__(one)
        if one.__module__.startswith("recollect"):
            found[one] = None
    return list(found)


def drawn() -> Iterator[tuple[str, str, str]]:
    """Yield what the tree in the docstring shows: an error, the one above it, its built-in."""
    above = ["RecollectError"]
    for line in (errors.__doc__ or "").splitlines():
        if match := _LINE.match(line):
            depth = len(match[1]) // 4
            above[depth + 1 :] = [match[2]]
            yield match[2], above[depth], match[3] or ""


def test_every_error_for_callers_is_made_in_one_module() -> None:
    tree = [one for one in every_class() if issubclass(one, RecollectError)]
    elsewhere = [one for one in tree if one.__module__ != errors.__name__]
    assert {one.__name__ for one in elsewhere} == {"BrokenReference"}
    assert all(f"{one.__module__}.".startswith(BORDER) for one in elsewhere)
    assert set(errors.__all__) == {one.__name__ for one in tree if one not in elsewhere}


def test_an_exception_outside_of_the_tree_reaches_nobody() -> None:
    outside = [one for one in every_class() if not issubclass(one, RecollectError)]
    assert {one.__name__ for one in outside if one.__name__[0] != "_"} == {
        "Gone",
        "HookFailed",
        "Overtaken",
        "Repeated",
        "StoreMoved",
    }


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    shown = {name: (above, builtin) for name, above, builtin in drawn()}
    assert shown.keys() == set(errors.__all__) - {"RecollectError"}
    for name, (above, builtin) in shown.items():
        first, *others = getattr(errors, name).__bases__
        assert first.__name__ == above, name
        assert [one.__name__ for one in others] == ([builtin] if builtin else []), name


def test_every_error_has_a_code_of_its_own_and_a_place_for_a_hint() -> None:
    tree = [getattr(errors, name) for name in errors.__all__]
    assert len({one.code for one in tree}) == len(tree)
    for one in tree:
        assert "hint" in inspect.signature(one).parameters or one is errors.HookDenied


def test_no_error_but_one_made_at_the_border_is_a_driver_s() -> None:
    for one in every_class():
        if issubclass(one, sqlite3.Error):
            assert f"{one.__module__}.".startswith(BORDER)
    for name in errors.__all__:
        for base in getattr(errors, name).__mro__:
            assert base.__module__ in ("builtins", errors.__name__)
            assert base.__module__ != "builtins" or hasattr(builtins, base.__name__)


def doors() -> list[str]:
    return [str(path.relative_to(SOURCE)) for path in sorted((SOURCE / "edge").rglob("*.py"))]


@pytest.mark.parametrize("path", doors())
def test_a_door_knows_no_driver(path: str) -> None:
    tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name for name in imported if name.split(".")[0] in ("sqlite3", "_sqlite3")}


@pytest.mark.parametrize(
    ("package", "names"),
    [
        ("recollect.hooks", ("HookConfigError", "HookDenied", "HookError")),
        ("recollect.frames", ("FrameExists", "FrameImmutable", "UnknownFrame")),
        ("recollect.recall.render", ("UnknownTemplate",)),
        (
            "recollect.embed",
            (
                "EmbedderBadAnswer",
                "EmbedderError",
                "EmbedderMismatch",
                "EmbedderMissing",
                "EmbedderUnavailable",
            ),
        ),
    ],
)
def test_a_package_gives_its_errors_under_their_old_names(
    package: str, names: tuple[str, ...]
) -> None:
    for name in names:
        assert getattr(importlib.import_module(package), name) is getattr(errors, name)
