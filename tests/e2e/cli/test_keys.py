"""`keys create`, `list` and `revoke`: the secret is shown once, and only its key is ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect import Recollect
from recollect.errors import NotAllowed
from recollect.policy import Principal

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]


def answer(result: CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)


def principal_for(db: Path, secret: str) -> Principal:
    with Recollect.open(db) as memory:
        return memory.keys.principal_for(secret)


def test_a_key_stands_for_whom_it_was_made_for_until_it_is_revoked(run: Run, copy: Path) -> None:
    made = answer(
        run(
            *("keys", "create", "--principal", "ann", "--tenant", "acme", "--name", "laptop"),
            *("--team", "red", "--team", "blue", "--permissions", "write, read"),
            *("--expires", "2126-01-31T12:00:00Z", "--db", copy, "--json"),
        )
    )
    ann = Principal("acme", "ann", ("blue", "red"), ("read", "write"))
    assert principal_for(copy, made["secret"]) == ann
    key = made["key"]
    assert {name: key[name] for name in ("tenant", "principal", "name", "expires_at")} == {
        "tenant": "acme",
        "principal": "ann",
        "name": "laptop",
        "expires_at": "2126-01-31T12:00:00Z",
    }
    # The command line has the file, so it lists and ends the keys of every tenant.
    assert answer(run("keys", "list", "--db", copy, "--json")) == {"keys": [key]}
    assert answer(run("keys", "list", "--tenant", "local", "--db", copy, "--json")) == {"keys": []}
    assert answer(run("keys", "revoke", key["prefix"], "--db", copy, "--json")) == {
        "revoked": key["prefix"]
    }
    with pytest.raises(NotAllowed):
        principal_for(copy, made["secret"])
    (ended,) = answer(run("keys", "list", "--db", copy, "--json"))["keys"]
    assert ended["revoked_at"] is not None


def test_people_see_the_secret_once_and_are_told_so(run: Run, copy: Path) -> None:
    shown = run("keys", "create", "--principal", "bob", "--db", copy).stdout
    (secret,) = [line for line in shown.splitlines() if line.startswith("rk_")]
    assert principal_for(copy, secret) == Principal(id="bob", permissions=("read",))
    assert "it is not shown again" in " ".join(shown.split())
    listed = run("keys", "list", "--db", copy).stdout
    assert secret.split("_")[1] in listed
    for place in (copy, copy.with_name("copy.db-wal")):
        assert not place.exists() or secret.encode() not in place.read_bytes()
    assert secret not in listed + run("keys", "list", "--db", copy, "--json").stdout
    prefix = secret.split("_")[1]
    said = run("keys", "revoke", prefix, "--db", copy).stdout
    assert said == f"Revoked {prefix}. Nobody gets in with it any more.\n"
    assert "revoked 20" in run("keys", "list", "--db", copy).stdout


def test_a_key_that_was_found_somewhere_is_revoked_whole_and_not_repeated(
    run: Run, copy: Path
) -> None:
    made = answer(run("keys", "create", "--principal", "ann", "--db", copy, "--json"))
    ended = run("keys", "revoke", made["secret"], "--db", copy)
    assert ended.stdout.startswith(f"Revoked {made['key']['prefix']}.")
    again = run("keys", "revoke", made["secret"], "--db", copy)
    assert again.returncode == 1
    assert made["secret"] not in ended.stdout + again.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "--principal", "ann", "--permissions", "fly"), "there is no permission 'fly'"),
        (("create", "--principal", " "), "id of a principal must be a name"),
        (
            ("create", "--principal", "ann", "--expires", "soon"),
            "expires_at must be an ISO-8601 time",
        ),
        (("create", "--principal", "ann", "--expires", "2020-01-01T00:00:00Z"), "a time to come"),
        (("revoke", "000000000000"), "there is no living key of this prefix"),
        (("revoke", "rk_nonsense"), "there is no living key of this prefix"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_no_key(
    run: Run, copy: Path, words: tuple[str, ...], said: str
) -> None:
    result = run("keys", *words, "--db", copy)
    assert result.returncode == 1
    assert said in result.stderr
    assert "Hint:" in result.stderr
    assert run("keys", "list", "--db", copy).stdout == "There are no keys.\n"
