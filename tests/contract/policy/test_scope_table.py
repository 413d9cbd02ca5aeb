"""The table of docs/security.md, walked: each cell is what really happens to a memory there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from tests.contract.policy.conftest import People, people_of
from tests.house.snippets import ROOT

from recollect import Recollect
from recollect.errors import RecollectError
from recollect.model import Permission
from recollect.policy import Principal
from recollect.recall.select import SelectQuery

HEADING = "### What each scope may do"
# The permissions that an act may take beside `read`, the fewest first.
LADDER: tuple[tuple[Permission, ...], ...] = (
    (),
    ("write",),
    ("moderate",),
    ("write", "instruct"),
    ("moderate", "instruct"),
    ("write", "admin", "moderate", "instruct"),
)
TEAM = ("red",)


class Walk:
    """One column of the table: memories are made there, and somebody of acme acts on them."""

    def __init__(self, people: People, column: str) -> None:
        self.opener = people.opener
        self.is_foreign = "another tenant" in column
        scope = next(s for s in ("local", "team", "company", "public") if f"`{s}`" in column)
        self.place = {"scope": scope, "team": "red" if scope == "team" else None}
        self.author = people.dan if self.is_foreign else self.who(*LADDER[-1])
        people.root.trust.set("rumour", 0.1)
        people.dan.trust.set("rumour", 0.1)
        self.numbers = count()

    def who(self, *permissions: Permission) -> Recollect:
        """Return the handle of ann with these permissions."""
        asker = Principal("acme", "ann", TEAM, ("read", *permissions))
        return self.opener.as_principal(asker)

    def made(self, text: str = "the kiln", **more: object) -> str:
        """Store something in this column's place, and return its id."""
        number = next(self.numbers)
        given = {**self.place, "pak_id": f"p{number}", **more}
        return self.author.remember(f"{text} {number}", **given).pak_id  # type: ignore[arg-type]

    def mine(self, scope: str, **more: object) -> str:
        """Store something of acme's, and return its id."""
        number = next(self.numbers)
        boss = self.who(*LADDER[-1])
        return boss.remember(f"ours {number}", scope=scope, pak_id=f"p{number}", **more).pak_id  # type: ignore[arg-type]

    def held(self, **more: object) -> str:
        """Let something wait in quarantine in this column's place, and return its id."""
        fact = {"content": f"a rumour {next(self.numbers)}", **more}
        (item,) = self.author.ingest([fact], source="rumour", **self.place).items  # type: ignore[arg-type]
        return str(item.pak_id)


def joined(one: str, other: str, who: Recollect) -> None:
    """Do all that can be done to a pair."""
    who.link(one, other)
    who.dispute(one, other)
    assert who.resolve(one, other)


def read(walk: Walk, who: Recollect) -> None:
    pak_id = walk.made("porcelain")
    assert who.get(pak_id)
    assert who.inspect(pak_id)
    assert [one.pak_id for one in who.history(pak_id)] == [pak_id]
    assert pak_id in [one.pak_id for one in who.list().items]
    assert pak_id in [one.fact.pak_id for one in who.recall("porcelain", top_k=50).results]
    assert pak_id in [one.pak_id for one in who.select(SelectQuery("porcelain")).scores]
    assert pak_id in [one.pak_id for one in who.frame("attention", "porcelain", top_k=50).blocks]
    assert who.explain(pak_id, "porcelain", top_k=50).stage == "returned"
    assert any(pak_id in line for line in who.export())


def write(walk: Walk, who: Recollect, **more: object) -> None:
    who.remember("again", pak_id=walk.made(), **walk.place, **more)  # type: ignore[arg-type]


def erase(walk: Walk, who: Recollect) -> None:
    pak_id = walk.made()
    assert who.archive(pak_id)
    assert who.unarchive(pak_id)
    assert who.forget(pak_id).pak_ids == (pak_id,)


def change(walk: Walk, who: Recollect) -> None:
    old, new = walk.made(), walk.made()
    who.update(old, content="otherwise")
    who.supersede(old, new)
    assert [one.changed for one in who.history(old)][1:] == [
        ("content", "title"),
        ("superseded_by",),
    ]


def judge(walk: Walk, who: Recollect, **more: object) -> None:
    first, second = walk.held(**more), walk.held(**more)
    assert {first, second} <= {one.pak_id for one in who.quarantine.list()}
    who.quarantine.promote(first)
    who.quarantine.reject(second)


# What somebody of acme tries; the cell says which permissions it takes beside `read`.
ACTS: dict[str, Callable[[Walk, Recollect], None]] = {
    "read it: `recall`, `frame`, `select`, `explain`, `get`, `inspect`, `list`, `history`,"
    " `export`": read,
    "write it again: `remember`": write,
    "give it a tag under `self/`": lambda w, who: write(w, who, tags=["self/goal"]),
    "make it an instruction": lambda w, who: write(w, who, category="instruction"),
    "`forget` it, `archive` it (the owner)": erase,
    "`update` it, `supersede` it with one like it (the owner)": change,
    "`link`, `dispute`, `resolve` it with one like it": lambda w, who: joined(
        w.made(), w.made(), who
    ),
    "the same with a `company` memory of mine": lambda w, who: joined(
        w.made(), w.mine("company"), who
    ),
    "the same with a `public` memory of mine": lambda w, who: joined(
        w.made(), w.mine("public"), who
    ),
    "the same with an instruction of mine": lambda w, who: joined(
        w.made(), w.mine("company", category="instruction"), who
    ),
    "judge it in `quarantine`": judge,
    "let it out with a tag under `self/`": lambda w, who: judge(w, who, tags=["self/goal"]),
}


def guarantees(walk: Walk, who: Recollect) -> bool:
    pak_id = walk.made("unrelated", tags=["self/goal"])
    shown = {one.pak_id: one for one in who.frame("task", "porcelain", top_k=1).blocks}
    return pak_id in shown and shown[pak_id].guaranteed


def is_of_self(walk: Walk, who: Recollect) -> bool:
    pak_id = walk.made("unrelated", tags=["self/value"])
    in_frame = pak_id in [one.pak_id for one in who.frame("self", "unrelated", top_k=50).blocks]
    asked = who.recall("unrelated", tags=["self/%"], top_k=50).results
    assert in_frame == (pak_id in [one.fact.pak_id for one in asked])
    return in_frame


def instructs(walk: Walk, who: Recollect) -> bool:
    pak_id = walk.made("answer", category="instruction")
    return pak_id in [one.fact.pak_id for one in who.recall("answer", top_k=50).instructions]


def counts_uses(walk: Walk, who: Recollect) -> bool:
    pak_id = walk.made("stoneware")
    who.frame("attention", "stoneware", top_k=50)
    known = walk.author.get(pak_id), who.get(pak_id)
    assert known[0] is not None
    assert known[1] is not None
    return known[0].reinforced > 0 or known[1].reinforced > 0


def supersedes(walk: Walk, who: Recollect) -> bool:
    """Whether a memory of mine gives way to it, if somebody of mine says so."""
    mine = walk.mine("company")
    try:
        walk.who(*LADDER[-1]).supersede(mine, walk.made("ours"))
    except RecollectError:
        assert walk.is_foreign
    return mine not in [one.fact.pak_id for one in who.recall("ours", top_k=50).results]


def silences(walk: Walk, who: Recollect) -> bool:
    """Whether it keeps a public memory of mine out of my answers, once its people say so."""
    mine = walk.mine("public", confidence=0.1)
    try:
        walk.author.dispute(walk.made("ours", confidence=1.0), mine)
    except RecollectError:
        assert walk.is_foreign
    return mine not in [one.fact.pak_id for one in who.recall("ours", top_k=50).results]


# What it does by itself in an answer to somebody of acme.
EFFECTS: dict[str, Callable[[Walk, Recollect], bool]] = {
    "is guaranteed a place by its tag": guarantees,
    "is in frames about oneself, and answers to tags under `self/`": is_of_self,
    "comes back in `instructions`": instructs,
    "its use is counted by `frame`": counts_uses,
    "keeps mine out of answers where its people dispute it": silences,
    "takes the place of mine where that was superseded by it": supersedes,
}


def table() -> tuple[list[str], dict[str, list[str]]]:
    """Return the columns of the table, and its cells by the first one of their row."""
    text = (ROOT / "docs/security.md").read_text(encoding="utf-8").partition(HEADING)[2]
    lines = text.partition("\n## ")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return rows[0][1:], {row[0]: row[1:] for row in rows[2:]}


COLUMNS, CELLS = table()


def cells() -> Iterator[object]:
    for row, said in CELLS.items():
        for column, cell in zip(COLUMNS, said, strict=True):
            yield pytest.param(row, column, cell, id=f"{row} / {column}")


def taken(walk: Walk, act: Callable[[Walk, Recollect], None]) -> str:
    """Return the fewest permissions with which an act succeeds, as a cell says it."""
    for permissions in LADDER:
        try:
            act(walk, walk.who(*permissions))
        except (RecollectError, AssertionError):
            continue
        return ", ".join(permissions) or "yes"
    return "no"


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Walk]]:
    """Open a store for each column."""
    folder = tmp_path_factory.mktemp("walks")
    opened = [
        Recollect.open(folder / f"{n}.db", embedder="none", links=False)
        for n in range(len(COLUMNS))
    ]
    yield {
        column: Walk(people_of(memory), column)
        for column, memory in zip(COLUMNS, opened, strict=True)
    }
    for memory in opened:
        memory.close()


@pytest.mark.parametrize(("row", "column", "cell"), list(cells()))
def test_a_cell_says_what_happens(walks: dict[str, Walk], row: str, column: str, cell: str) -> None:
    walk = walks[column]
    if row in ACTS:
        assert taken(walk, ACTS[row]) == cell
    else:
        assert ("yes" if EFFECTS[row](walk, walk.who()) else "no") == cell


def test_the_table_has_a_row_for_all_that_is_tried() -> None:
    assert set(CELLS) == ACTS.keys() | EFFECTS.keys()
    assert len(COLUMNS) == 5
