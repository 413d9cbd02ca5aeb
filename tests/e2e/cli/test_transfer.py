"""`export` and `import`: what one database gives, another takes."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recollect import Recollect
from recollect.policy import Principal

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]


def known(db: Path) -> dict[str, tuple[str, tuple[str, ...], int]]:
    with Recollect.open(db) as memory:
        items = memory.list(limit=1000).items
        return {one.pak_id: (one.content, one.tags, one.reinforced) for one in items}


def test_what_is_exported_is_imported_again(run: Run, shop: Path, tmp_path: Path) -> None:
    file, db = tmp_path / "shop.jsonl", tmp_path / "twin.db"
    said = run("export", file, "--db", shop)
    assert said.stdout == f"Exported 30 memories, 7 links, 1 dispute to {file}.\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]
    taken = run("import", file, "--db", db, "--json")
    told = json.loads(taken.stdout)
    assert len({one["pak_id"] for one in told.pop("items")}) == 30
    assert told == {"imported": 30, "created": 30, "pending": 0}
    assert known(db) == known(shop)
    again = run("import", file, "--db", db)
    assert again.stdout == "Imported 30 memories, 0 of them new.\n"
    with Recollect.open(db) as twin, Recollect.open(shop) as memory:
        assert twin.disputes() == memory.disputes()
        links = [line for line in memory.export() if json.loads(line)["kind"] == "link"]
        assert [line for line in twin.export() if json.loads(line)["kind"] == "link"] == links


def test_an_export_goes_through_a_pipe_in_utf_8(run: Run, tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    run("remember", "Grüner Tee für Zoë 🍵", "--pak-id", "tea", "--db", first)
    lines = run("export", "--db", first, PYTHONIOENCODING="latin-1")
    assert lines.stderr == ""
    assert [json.loads(line)["kind"] for line in lines.stdout.splitlines()] == ["memory"]
    taken = run("import", "-", "--db", second, stdin=lines.stdout)
    assert taken.stdout == "Imported 1 memories, 1 of them new.\n"
    assert known(second) == known(first)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('{"kind": "memory", "content": "fine"}\nnonsense\n', "line 2 is not a line of an export"),
        ('{"kind": "memory", "content": " "}\n', "line 1: content is blank"),
        ('{"content": "no kind"}\n', "line 1 is not a line of an export"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_imported(
    run: Run, tmp_path: Path, lines: str, said: str
) -> None:
    db = tmp_path / "agent.db"
    result = run("import", "-", "--db", db, stdin=lines)
    assert result.returncode == 1
    assert said in result.stderr
    assert known(db) == {}


def test_a_file_that_cannot_be_read_or_written_is_named(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    nowhere = tmp_path / "no" / "where.jsonl"
    for command in (("export", nowhere, "--db", shop), ("import", nowhere, "--db", tmp_path / "n")):
        result = run(*command)
        assert result.returncode == 1
        assert f"{nowhere} cannot be" in result.stderr
        assert "Hint:" in result.stderr


def test_all_of_a_store_comes_back_byte_for_byte(run: Run, shop: Path, tmp_path: Path) -> None:
    db = tmp_path / "twin.db"
    mine = run("export", "--db", shop)
    assert mine.stderr.startswith("Left out: ")
    everything = run("export", "--all", "--db", shop)
    assert everything.stderr == "Keys, the audit log and vectors are in no export.\n"
    assert run("import", "-", "--db", db, stdin=everything.stdout).returncode == 0
    assert run("export", "--all", "--db", db).stdout == everything.stdout
    again = run("import", "-", "--db", db, stdin=everything.stdout)
    assert again.returncode == 1
    assert "holds nothing yet" in again.stderr


def test_whoever_exports_a_store_of_somebody_else_is_told(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "theirs.db"
    with Recollect.open(db) as memory:
        memory.as_principal(Principal("acme", "ann")).remember("of ann", scope="company")
        memory.as_principal(Principal("zoo", "zoe")).remember("of zoe")
        memory.as_principal(Principal("zoo", "zoe")).remember("the kiln is cold")
    file = tmp_path / "mine.jsonl"
    said = run("export", file, "--db", db, "--json")
    assert said.returncode == 1
    told = json.loads(said.stdout)
    assert (told["memories"], told["left_out"]) == (0, {"memory": 3})
    assert told["tenants"] == {"acme": 1, "zoo": 2}
    assert said.stderr == (
        "Not one memory was exported: all there are belong to others.\n"
        "Left out: 3 memories.\n"
        "Memories left out, by tenant: acme 1, zoo 2.\n"
        "`recollect export --all` writes all of the store.\n"
    )
    piped = run("export", "--db", db)
    assert (piped.returncode, piped.stderr) == (1, said.stderr)
    whole = run("export", "--all", "--db", db)
    assert whole.returncode == 0
    assert whole.stdout.count('"kind": "memory"') == 3


def test_who_exports_some_of_a_store_is_told_of_the_others(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "both.db"
    with Recollect.open(db) as memory:
        memory.remember("mine")
        memory.as_principal(Principal("acme", "ann")).remember("of ann")
        memory.as_principal(Principal("acme", "ann")).remember("of all", scope="public")
    said = run("export", "--db", db)
    assert said.returncode == 0
    assert "Left out: 1 memory.\nMemories left out, by tenant: acme 1.\n" in said.stderr


def test_an_empty_store_is_exported_without_a_complaint(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "empty.db"
    Recollect.open(db).close()
    said = run("export", "--db", db)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_a_principal_is_told_nothing_of_what_it_may_not_read(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "both.db") as memory:
        ann = memory.as_principal(Principal("acme", "ann"))
        ann.remember("of ann")
        before = list(ann.export())
        memory.remember("mine")
        memory.as_principal(Principal("zoo", "zoe")).remember("of zoe")
        assert list(ann.export()) == before
