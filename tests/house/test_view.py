"""Nobody comes to Paks but through a View: not by SQL, not by the store, not by the index.

Each module is read as a syntax tree. For everything that gives Paks, or says something of them, a
table names the few modules that may ask for it; any other that does fails here.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from typing import TypeGuard

import pytest
from tests.house.snippets import ROOT

from recollect.index.index import MemoryIndex
from recollect.ports.store import (
    EdgeRoom,
    MemoryRoom,
    ReceiptRoom,
    RecordRoom,
    StateRoom,
    UseRoom,
    VectorRoom,
    VersionRoom,
)

SOURCE = ROOT / "src/recollect"
MODULES = {
    str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8")
    for path in sorted(SOURCE.rglob("*.py"))
}

# The store, its port, and the suite that stores are tested with are not users of the store.
_STORES = ("stores/", "paks/", "ports/", "testing/")

# Who may ask the store for what it knows of memories, by room and method.
STORE_READS = {
    # Texts. The first is the only way to read one; it takes a View. A writer reads its own, before
    # it writes over them.
    "memories.read": {"recall/sight.py", "verbs/write.py"},
    "memories.changes": {"index/follow.py", "write/link_again.py"},
    # What they were: it takes a View as well.
    "versions.read": {"recall/sight.py"},
    "versions.where": {"verbs/erase.py"},
    "vectors.waiting": {"write/reembed.py", "write/remember.py"},
    # What joins memories: shown by `Sight`, or by those who hold one and keep to its mask.
    "edges.disputes": {"recall/sight.py", "open_store.py"},
    "edges.touching": {
        "recall/inspect.py",
        "verbs/join.py",
        "write/link_again.py",
        "write/reinforce.py",
        "write/transfer.py",
    },
    "edges.between": {"write/likeness.py"},
    "edges.lists": {"write/likeness.py"},
    "edges.full_lists_with": {"write/forget.py", "write/remember.py", "write/status.py"},
    "edges.last_of_full": {"write/likeness.py"},
    # Where memories are, for those who write, erase, or turn numbers into a mask.
    "memories.standing": {
        "verbs/archive.py",
        "verbs/change.py",
        "verbs/erase.py",
        "verbs/gardens.py",
        "verbs/join.py",
        "verbs/lasting.py",
        "verbs/quarantine.py",
        "verbs/write.py",
        "write/link_again.py",
        "write/reinforce.py",
        "write/remember.py",
    },
    # Values for masks; nobody is shown one.
    "memories.facts": {"recall/sight.py"},
    "memories.rows": {
        "open_store.py",
        "recall/authorise.py",
        "recall/inspect.py",
        "write/forget.py",
    },
    # Who says another value of what somebody writes: by numbers, which a mask narrows.
    "memories.claims": {"verbs/change.py"},
    "memories.unplaced": {"verbs/caller.py"},
    "memories.unreadable": {"open_store.py", "index/follow.py"},
    "memories.unreadable_places": {"open_store.py"},
    "memories.next_position": {"write/remember.py"},
    "memories.traces": {"write/forget.py"},
    # What one principal has used, for itself.
    "uses.of": {"open_store.py", "verbs/caller.py"},
    # Ids of what was given, which `Sight` narrows before anybody is told.
    "receipts.find": {"verbs/receipts.py"},
    "receipts.page": {"verbs/receipts.py"},
    "receipts.count": {"verbs/erase.py", "verbs/lasting.py"},
    # All there is, for whoever opened the store.
    "records.page": {"write/whole_export.py"},
    "records.count": {"verbs/read.py", "verbs/restore.py"},
    "records.tenants": {"verbs/read.py"},
    # How large a store is decides whether closing it leaves a copy of its index.
    "state.count": {"index/follow.py", "verbs/upkeep.py", "write/reembed.py"},
    "state.holdings": {"verbs/upkeep.py"},
}
# What the port has besides: it writes, or speaks of the store and not of memories.
STORE_OTHERS = {
    "memories": {"write", "set_standing", "set_ends", "supersede", "erase"},
    "versions": {"put", "erase", "prune"},
    "edges": {"put", "change_lists", "take_out", "dispute", "resolve"},
    "vectors": {"put", "begin_switch", "finish_switch"},
    "uses": {"count", "put"},
    "receipts": {"keep", "erase"},
    "state": {
        "read",
        "commits",
        "knows",
        "set_clock",
        "set_model",
        "fire",
        "events",
    }
    | {"frames", "put_frame", "tidy", "wiping_due", "set_wiped", "answer", "keep_answer"},
}
ROOMS = {
    "memories": MemoryRoom,
    "edges": EdgeRoom,
    "vectors": VectorRoom,
    "uses": UseRoom,
    "receipts": ReceiptRoom,
    "state": StateRoom,
    "records": RecordRoom,
    "versions": VersionRoom,
}

# Who may choose rows of the index: `Sight`, by a View; a writer, at one place.
SELECTORS = {"recall/sight.py", "write/likeness.py"}
# What the index tells without a selection is asked by slot, or is about no Pak at all.
BY_SLOT = {"slots", "row_ids", "pak_id", "pak_ids"}
ABOUT_NO_PAK = {
    "empty",
    "after",
    "after_all",
    "compacted",
    "packed",
    "mend",
    "export",
    "restore",
} | {
    "select",
    "places",
    # A rule is asked of places, and tells for each slot what it said.
    "at_places",
    "code",
    "column",
    "facts",
    # Of one principal, for itself; `Sight` holds its own.
    "knows_uses",
    # By slot, as a column is: who reads them has a mask.
    "has_successors",
    "successors",
    "turning_point",
    "learn_uses",
    "uses_of",
}

# Who may hold a connection, or write SQL about Paks: stores; and selections, which take `readable`.
SQL_ROOMS = ("stores/", "paks/", "recall/select/")
_TABLE = (
    r"(?:paks|memories|pak_\w+|paks_fts\w*|memories_gone"
    r"|memory_(?:edges|disputes|likenesses|versions))"
)
_SQL = re.compile(rf"\b(?:FROM|INTO|UPDATE|JOIN|TABLE|ON)\s+(?:temp\.|main\.)?{_TABLE}\b")
# Who may read the catalogue, which knows no View; `readable` and `may_read` go with it.
CATALOGUE_ROOMS = (
    *("paks/", "stores/", "recall/select/", "recall/inspect.py"),
    "verbs/catalogue.py",  # rows of a page, or of a search, that a View gave
)
_CATALOGUE = re.compile(r"(?:get_paks?|list_paks|iter_paks|count_paks|find_paks_\w+|get_pak_\w+)")
# What gives the index as of when a transaction began.
_GIVES_INDEX = ("follower.before",)
# The command line and its demonstration open the catalogue as what it is: the owner's own file.
_OWNERS_DOOR = "edge/cli/"


def violations(path: str, source: str) -> Iterator[str]:
    """Yield what a module does that only others may do."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from _called(path, node, node.func)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            yield from _renamed(path, node)
        elif not path.startswith(SQL_ROOMS) and _is_sql(node):
            yield f"{path}:{node.lineno} has SQL about Paks, or a connection"


def _is_sql(node: ast.AST) -> TypeGuard[ast.expr]:
    if isinstance(node, ast.Attribute):
        return node.attr == "conn"
    return isinstance(node, ast.Constant) and bool(_SQL.search(str(node.value)))


def _called(path: str, call: ast.Call, func: ast.Attribute) -> Iterator[str]:
    where, owner, name = f"{path}:{call.lineno}", _name(func.value), func.attr
    if path.startswith(_STORES):
        return
    if _is_room(func.value) and path not in STORE_READS.get(f"{owner}.{name}", {path}):
        yield f"{where} asks the store for {owner}.{name}"
    if owner == "index" and name == "select":
        given = {keyword.arg for keyword in call.keywords}
        if path not in SELECTORS or "view" not in given:
            yield f"{where} selects rows without a View"
    if _CATALOGUE.fullmatch(name) and not path.startswith((*CATALOGUE_ROOMS, _OWNERS_DOOR)):
        yield f"{where} reads the catalogue"


def _renamed(path: str, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> Iterator[str]:
    """A store or an index under another name would go unseen."""
    if path.startswith(_STORES):
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for name, value in _pairs(target, node.value):
            held = _name(value)
            if _is_room(value):
                yield f"{path}:{node.lineno} takes the room {held} out of the store"
            if held in ("store", "index") and _name(name) != held:
                yield f"{path}:{node.lineno} calls the {held} {ast.unparse(name)}"


def _is_room(node: ast.AST | None) -> bool:
    """Return whether a thing is one of the store's rooms in which memories are."""
    return isinstance(node, ast.Attribute) and node.attr in ROOMS and _name(node.value) == "store"


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=False)
    else:
        yield target, value


def _name(node: ast.AST | None) -> str:
    """Return what a thing is called, without the underscore of a private attribute."""
    if isinstance(node, ast.Attribute):
        return node.attr.lstrip("_")
    if isinstance(node, ast.Name):
        return node.id.lstrip("_")
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(_GIVES_INDEX):
        return "index"
    return ""


def test_a_module_comes_to_paks_through_a_view_alone() -> None:
    assert MODULES
    assert [found for path in MODULES for found in violations(path, MODULES[path])] == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("engine.py", "found = self._store.memories.read(where, view)"),
        ("recall/pipeline.py", "texts = sources.sight.store.memories.read(w, sources.sight.view)"),
        ("recall/explain.py", "stages.sources.sight.store.memories.rows(where)"),
        ("verbs/trust.py", "for one in self._open_store.store.memories.changes(START): pass"),
        ("engine.py", "list(self._store.vectors.waiting(10))"),
        ("verbs/gardens.py", "self._open_store.store.edges.touching([1])"),
        ("recall/pipeline.py", "sources.index.select(Where())"),
        ("recall/sight.py", "self.index.select(where)"),
        ("engine.py", "self._open_store.follower.current().index.select(view=None)"),
        ("engine.py", "self._catalogue.get_pak('p')"),
        ("verbs/keys.py", "self._open_store.catalogue.list_paks()"),
        ("engine.py", "self._catalogue.conn.execute('SELECT 1')"),
        ("recall/score.py", "sql = 'SELECT content FROM memories WHERE pak_id = ?'"),
        ("frames/cache.py", "sql = 'SELECT title FROM paks'"),
        ("index/graph.py", "sql = f'SELECT low FROM memory_edges WHERE low = {low}'"),
        ("edge/cli/commands/recall.py", "sql = 'SELECT * FROM x JOIN memories USING (pak_id)'"),
        ("engine.py", "things = self._store"),
        ("verbs/erase.py", "opened, things = caller.open_store, caller.store"),
        ("recall/pipeline.py", "if (rows := sources.index): pass"),
        ("verbs/erase.py", "rows = opened.follower.before(revision)"),
        ("recall/inspect.py", "sight.store.edges.lists([1])"),
        ("write/forget.py", "edges = store.edges"),
    ],
)
def test_a_planted_way_around_it_is_seen(path: str, line: str) -> None:
    assert list(violations(path, f"{MODULES[path]}\n{line}\n"))


def test_what_the_store_tells_of_memories_is_all_in_the_table() -> None:
    methods = {
        f"{room}.{name}"
        for room, protocol in ROOMS.items()
        for name in vars(protocol)
        if not name.startswith("_")
    }
    others = {f"{room}.{name}" for room, names in STORE_OTHERS.items() for name in names}
    assert methods == STORE_READS.keys() | others


def test_what_gives_memories_takes_a_view_and_has_no_default_for_it() -> None:
    for called in STORE_READS:
        room, name = called.split(".")
        signature = inspect.signature(getattr(ROOMS[room], name))
        if re.search(r"\b(Memory|Texts|KeptVersion)\b", str(signature.return_annotation)):
            assert called in ("memories.read", "versions.read")
            assert signature.parameters["view"].default is inspect.Parameter.empty


def test_what_the_index_says_of_many_paks_takes_a_selection_without_default() -> None:
    for name, method in inspect.getmembers(MemoryIndex, inspect.isfunction):
        if name.startswith("_") or name in ABOUT_NO_PAK:
            continue
        parameters = inspect.signature(method).parameters
        if "selection" in parameters:
            assert parameters["selection"].default is inspect.Parameter.empty, name
        else:
            assert BY_SLOT & parameters.keys(), f"{name} takes neither a selection nor slots"


@pytest.mark.parametrize(
    ("called", "argument"),
    [("select", "readable"), ("explain", "readable"), ("inspect", "may_read")],
)
def test_the_verbs_say_what_is_readable_wherever_the_catalogue_is_read(
    called: str, argument: str
) -> None:
    calls = [
        node
        for path in MODULES
        if path.startswith("verbs/")
        for node in ast.walk(ast.parse(MODULES[path]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == called
    ]
    assert calls
    for call in calls:
        assert argument in {keyword.arg for keyword in call.keywords}


def test_one_function_turns_a_principal_into_a_view() -> None:
    makers = {
        path
        for path, source in MODULES.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "View"
    }
    assert makers <= {"policy/view.py", "testing/commit_contract.py"}
    askers = {
        path
        for path, source in MODULES.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "view_of"
    }
    assert askers <= {"open_store.py", "testing/commit_contract.py"}
