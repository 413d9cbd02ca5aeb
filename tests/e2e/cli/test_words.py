"""The words that people type: other names for the same, what was meant, and ids by beginning."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect import Recollect
from recollect.edge.cli.words import SAME_AS, WORDS
from recollect.policy import Principal

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]

SCRIPT = Path(sys.executable).with_name("recollect")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lst", "list"),
        ("ls", "list"),
        ("add", "remember"),
        ("find", "recall"),
        ("delete", "forget"),
        ("serch", "search"),
        ("reembedd", "reembed"),
        ("Remember", "remember"),
    ],
)
def test_a_wrong_word_is_met_with_the_one_that_was_meant(run: Run, typed: str, meant: str) -> None:
    said = run(typed, "tea")
    assert said.returncode == 2
    assert f"`recollect {meant}`" in " ".join(said.stderr.split())


def test_a_word_that_is_like_none_is_told_where_all_are(run: Run) -> None:
    said = run("xyzzy")
    assert said.returncode == 2
    assert "--help" in said.stderr


def test_a_word_for_the_same_does_the_same(run: Run, copy: Path) -> None:
    assert set(SAME_AS.values()) <= set(WORDS)
    for words in (("search", "card payment"), ("show", "payments-retry-limit")):
        said, same = (
            json.loads(run(word, *words[1:], "--db", copy, "--json").stdout)
            for word in (words[0], SAME_AS[words[0]])
        )
        for answer in (said, same):
            for told in ("generated_at", "recall_id"):  # they tell the time of asking
                answer.pop(told, None)
        assert said == same
    assert "Forgot payments-provider." in run("rm", "payments-provider", "--db", copy).stdout


def test_the_beginning_of_an_id_is_enough_wherever_one_is_taken(run: Run, copy: Path) -> None:
    for command in (
        ("get", "payments-ret"),
        ("archive", "payments-ret"),
        ("unarchive", "payments-ret"),
        ("explain", "payments-ret"),
        ("link", "payments-ret", "payments-idem"),
        ("dispute", "payments-ret", "payments-idem"),
        ("resolve", "payments-ret", "payments-idem"),
        ("pak", "inspect", "payments-ret"),
        ("paks", "show", "payments-ret"),
        ("forget", "payments-ret"),
    ):
        said = run(*command, "--db", copy, "--json")
        assert said.returncode == 0, said.stdout
        assert "payments-retry-limit" in said.stdout
    with Recollect.open(copy) as memory:
        assert memory.get("payments-retry-limit") is None


def test_a_beginning_of_several_ids_names_them_and_changes_nothing(run: Run, copy: Path) -> None:
    said = run("forget", "payments-re", "--db", copy)
    assert said.returncode == 1
    assert "payments-refund-window, payments-retry-limit" in said.stderr
    with Recollect.open(copy) as memory:
        assert memory.get("payments-retry-limit") is not None


def test_a_whole_id_is_meant_even_if_others_begin_so(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    for name in ("kiln", "kiln-two"):
        run("remember", f"about {name}", "--pak-id", name, "--db", db)
    assert json.loads(run("forget", "kiln", "--db", db, "--json").stdout)["pak_ids"] == ["kiln"]
    # Less than four characters are an id or nothing.
    assert run("forget", "kil", "--db", db).returncode == 1
    assert run("get", "kiln", "--db", db, "--json").returncode == 0


def test_a_beginning_says_nothing_of_what_may_not_be_read(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "agent.db") as memory:
        ann = memory.as_principal(Principal("acme", "ann"))
        bob = memory.as_principal(Principal("acme", "bob"))
        ann.remember("of ann", pak_id="kiln-ann")
        bob.remember("of bob", pak_id="kiln-bob")
        assert ann.ids("kiln") == ("kiln-ann",)
        assert bob.ids("kiln") == ("kiln-bob",)
        assert memory.ids("kiln") == ()


def test_the_first_text_says_where_it_was_written(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    assert run("remember", "tea", "--db", db).stdout.startswith(f"Began a new memory at {db}.\n")
    assert "Began" not in run("remember", "more tea", "--db", db).stdout


def test_a_recall_shows_date_speaker_project_and_tags(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    run(
        *("remember", "I bought a kiln.", "--speaker", "Ann", "--project", "shop"),
        *("--tag", "pottery", "--occurred-at", "8 May 2023", "--db", db),
    )
    for command in (("recall", "kiln"), ("list",)):
        assert "2023-05-08 · Ann · shop · #pottery" in run(*command, "--db", db).stdout


@pytest.mark.parametrize("command", [("list",), ("list", "--json"), ("export",), ("stats",)])
def test_a_pipe_that_is_closed_ends_a_command_without_a_word(
    shop: Path, home: Path, command: tuple[str, ...]
) -> None:
    with subprocess.Popen(
        [SCRIPT, *command, "--db", shop],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == ""


def test_a_key_acts_as_its_principal(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    run("remember", "a secret of the holder", "--pak-id", "mine", "--db", db)
    made = run(
        "keys", "create", "--principal", "bot", "--permissions", "read,write", "--db", db, "--json"
    )
    secret = json.loads(made.stdout)["secret"]
    assert (
        "bots"
        in run(
            "remember", "of the bot", "--pak-id", "bots", "--db", db, RECOLLECT_KEY=secret
        ).stdout
    )
    seen = json.loads(run("--key", secret, "list", "--db", db, "--json").stdout)
    assert [one["pak_id"] for one in seen["items"]] == ["bots"]
    assert run("get", "mine", "--db", db, RECOLLECT_KEY=secret).returncode == 1
    assert (
        json.loads(run("stats", "--db", db, "--json", RECOLLECT_KEY=secret).stdout)["memories"] == 1
    )
    assert run("export", "--db", db, RECOLLECT_KEY=secret).stderr == ""
    paks = run("paks", "list", "--db", db, "--json", RECOLLECT_KEY=secret)
    assert len(json.loads(paks.stdout)["items"]) == 1
    for command in (
        ("forget", "mine"),
        ("export", "--all"),
        ("backup", tmp_path / "copy.db"),
        ("restore", db, "--replace"),
        ("check",),
        ("repair", "--salvage"),
        ("paks", "check"),
        ("paks", "repair"),
        ("forget", "--verify"),
        ("keys", "list"),
        ("audit",),
    ):
        refused = run(*command, "--db", db, RECOLLECT_KEY=secret)
        assert refused.returncode == 1, command
        assert secret not in refused.stdout + refused.stderr
    assert not (tmp_path / "copy.db").exists()
    run("keys", "revoke", secret, "--db", db)
    assert run("list", "--db", db, RECOLLECT_KEY=secret).returncode == 1
    assert run("list", "--db", db, RECOLLECT_KEY="rk_nonsense").returncode == 1


def test_facts_are_ingested_and_judged(run: Run, tmp_path: Path) -> None:
    db, facts = tmp_path / "agent.db", '[{"content": "The kiln is free."}, {"content": " "}]'
    run("remember", "tea", "--db", db)
    run("trust", "set", "mail", "0.1", "--db", db)
    assert json.loads(run("trust", "list", "--db", db, "--json").stdout) == {"trust": {"mail": 0.1}}
    told = run("ingest", "--source", "mail", "--db", db, "--json", stdin=facts)
    done = json.loads(told.stdout)
    assert (done["accepted"], done["quarantined"], done["refused"]) == (0, 1, 1)
    (waiting,) = json.loads(run("quarantine", "list", "--db", db, "--json").stdout)["waiting"]
    assert "content" not in waiting
    assert run("quarantine", "promote", waiting["pak_id"][:9], "--db", db).returncode == 0
    assert "The kiln is free." in run("recall", "kiln", "--db", db).stdout
    assert run("ingest", "--db", db, stdin=facts).returncode == 2
    acts = json.loads(run("audit", "--db", db, "--json").stdout)["acts"]
    assert [act["act"] for act in acts] == ["quarantine.promote", "ingest", "trust.set"]


def test_completion_knows_frames_tags_projects_and_ids(run: Run, shop: Path) -> None:
    def completed(line: str) -> list[str]:
        words = line.split(" ")
        said = run(
            _RECOLLECT_COMPLETE="complete_bash",
            COMP_WORDS=line,
            COMP_CWORD=str(len(words) - 1),
            RECOLLECT_DB=str(shop),
        )
        return said.stdout.split()

    assert completed("recollect frame att") == ["attention"]
    assert completed("recollect recall --project pay") == ["payments"]
    assert "checkout" in completed("recollect recall --tag che")
    assert completed("recollect get payments-retr") == ["payments-retry-limit"]
    assert "remember" in completed("recollect rem")


def test_completion_never_complains(run: Run, tmp_path: Path) -> None:
    said = run(
        _RECOLLECT_COMPLETE="complete_bash",
        COMP_WORDS="recollect frame a",
        COMP_CWORD="2",
        RECOLLECT_DB=str(tmp_path / "nowhere.db"),
    )
    assert (said.stdout.strip(), said.stderr) == ("", "")


def test_a_memory_is_updated_edited_and_keeps_its_history(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    run("remember", "Booked until May.", "--pak-id", "kiln", "--project", "shop", "--db", db)
    said = run("update", "kiln", "Booked until June.", "--tag", "pottery", "--db", db, "--json")
    assert set(json.loads(said.stdout)["changed"]) >= {"content", "tags"}
    assert run("update", "kiln", "--db", db).returncode == 2
    edited = run("edit", "kiln", "--db", db, EDITOR="sed -i s/June/July/")
    assert edited.returncode == 0, edited.stderr
    kept = json.loads(run("get", "kiln", "--db", db, "--json").stdout)["memory"]
    assert (kept["content"], kept["project"]) == ("Booked until July.", "shop")
    assert kept["tags"] == ["pottery"]
    assert run("update", "kiln", "--clear", "project", "--db", db).returncode == 0
    versions = json.loads(run("history", "kiln", "--db", db, "--json").stdout)["versions"]
    texts = [one["memory"]["content"] for one in versions]
    assert list(dict.fromkeys(texts)) in (
        ["Booked until May.", "Booked until June.", "Booked until July."],
        ["Booked until July.", "Booked until June.", "Booked until May."],
    )
    assert [one["memory"]["project"] for one in versions if one["is_current"]] == [None]
    assert "Booked until May." in run("history", "kiln", "--db", db).stdout


@pytest.mark.parametrize(
    ("editor", "code"), [("true", 0), ("false", 1), ("no-such-editor", 1), ("truncate -s 0", 1)]
)
def test_an_editor_that_fails_or_changes_nothing_changes_nothing(
    run: Run, tmp_path: Path, editor: str, code: int
) -> None:
    db = tmp_path / "agent.db"
    run("remember", "Booked until May.", "--pak-id", "kiln", "--db", db)
    assert run("edit", "kiln", "--db", db, EDITOR=editor).returncode == code
    kept = json.loads(run("get", "kiln", "--db", db, "--json").stdout)["memory"]
    assert kept["content"] == "Booked until May."


def test_what_was_written_in_an_editor_is_not_lost(run: Run, tmp_path: Path) -> None:
    db = tmp_path / "agent.db"
    run("remember", "Booked until May.", "--pak-id", "kiln", "--db", db)
    script = tmp_path / "meanwhile.sh"
    script.write_text(
        f"#!/bin/sh\n{SCRIPT} update kiln 'By somebody else.' --db {db} >/dev/null\n"
        'echo "My long text." > "$1"\n'
    )
    script.chmod(0o700)
    said = run("edit", "kiln", "--db", db, EDITOR=str(script), TMPDIR=str(tmp_path))
    assert said.returncode == 1
    assert "somebody meanwhile" in said.stderr
    (mine,) = tmp_path.glob("recollect-*.txt")
    assert str(mine) in said.stderr
    assert mine.read_text() == "My long text."
    kept = json.loads(run("get", "kiln", "--db", db, "--json").stdout)["memory"]
    assert kept["content"] == "By somebody else."


def test_a_list_is_narrowed_ordered_and_counted(run: Run, shop: Path) -> None:
    def listed(*options: str) -> dict[str, Any]:
        said = run("list", *options, "--db", shop, "--json")
        assert said.returncode == 0, said.stdout
        return dict(json.loads(said.stdout))

    found = listed("--tag", "checkout", "--project", "payments", "--counts", "--order", "title")
    assert {one["project"] for one in found["items"]} == {"payments"}
    assert all("checkout" in one["tags"] for one in found["items"])
    titles = [one["title"] for one in found["items"]]
    assert titles == sorted(titles, key=str.casefold)
    assert found["counts"]["project"] == {"payments": len(titles)}
    assert len(listed("--since", "2026-03-01", "--limit", "100")["items"]) < 31
    assert listed("--filter", '{"project": "payments"}')["items"]
    assert run("list", "--filter", "{", "--db", shop).returncode == 1
    first = run("list", "--project", "payments", "--limit", "2", "--counts", "--db", shop).stdout
    assert "payments 8" in first
    (more,) = [line for line in first.splitlines() if line.startswith("More: recollect ")]
    assert run(*shlex.split(more)[2:]).returncode == 0


def test_memories_that_share_something_are_forgotten_together(run: Run, copy: Path) -> None:
    would = run("forget", "--project", "payments", "--dry-run", "--db", copy, "--json")
    assert len(json.loads(would.stdout)["pak_ids"]) == 8
    assert run("forget", "payments-provider", "--tag", "x", "--db", copy).returncode == 2
    assert run("forget", "--db", copy).returncode == 2
    assert run("forget", "--project", "payments", "--db", copy).returncode == 0
    left = json.loads(run("list", "--project", "payments", "--db", copy, "--json").stdout)
    assert left["items"] == []


def test_a_frame_is_narrowed_like_a_recall(run: Run, shop: Path) -> None:
    said = run("frame", "attention", "card", "--project", "payments", "--db", shop, "--json")
    blocks = json.loads(said.stdout)["blocks"]
    assert blocks
    assert {one["memory"]["project"] for one in blocks} == {"payments"}
    nothing = run("frame", "attention", "card", "--since", "2999-01-01", "--db", shop, "--json")
    assert json.loads(nothing.stdout)["text"] == ""
