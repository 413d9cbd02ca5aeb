"""Keys: shown once, stored as a hash, looked up by prefix, ended at will."""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policy.bytes_on_disk import found_in
from tests.contract.policy.conftest import People

from recollect import Node
from recollect.errors import InvalidInput, NotAllowed
from recollect.policy import PERMISSIONS, Principal, keys
from recollect.testing import FakeClock

ANN = Principal("acme", "ann", ("red",), ("read", "write"))


def test_a_key_stands_for_its_principal(people: People) -> None:
    issued = people.root.keys.create(ANN, name="laptop")
    assert people.opener.keys.principal_for(issued.secret) == ANN
    assert people.ann.keys.principal_for(issued.secret) == ANN
    (row,) = people.root.keys.list()
    assert row == issued.row
    assert (row.name, row.principal) == ("laptop", ANN)
    assert issued.secret not in repr(row)
    assert row.prefix in issued.secret


def test_only_a_hash_of_it_is_in_the_file(people: People, tmp_path: Path) -> None:
    issued = people.root.keys.create(ANN)
    secret = issued.secret.split("_", 2)[2]
    # Whoever takes the key for its prefix ends it, and does not write it into the log.
    assert people.root.keys.revoke(issued.secret)
    assert not people.root.keys.revoke(f"{issued.secret} ")
    people.opener.keys.principal_for(people.root.keys.create(ANN).secret)
    assert found_in(tmp_path, [issued.secret, secret, secret[:20]]) == []
    assert found_in(tmp_path, [hashlib.sha256(issued.secret.encode()).hexdigest()])


def test_a_thief_of_the_stored_keys_can_use_none_of_them(people: People) -> None:
    prefix = people.root.keys.create(ANN).row.prefix
    with closing(sqlite3.connect(people.opener.path)) as file:
        stolen = [str(one) for row in file.execute("SELECT * FROM access_keys") for one in row]
    assert prefix in stolen
    for one in stolen:
        for key in (one, f"rk_{prefix}_{one}", f"rk_{prefix}_{one[:43]}"):
            with pytest.raises(NotAllowed):
                people.opener.keys.principal_for(key)


def test_secrets_have_256_random_bits_and_differ(people: People) -> None:
    made = [people.root.keys.create(ANN) for _ in range(20)]
    assert len({one.secret for one in made}) == len({one.row.prefix for one in made}) == 20
    assert keys.SECRET_BYTES * 8 == 256
    assert all(len(one.secret.split("_", 2)[2]) == 43 for one in made)


def test_the_comparison_takes_constant_time(people: People, monkeypatch: Any) -> None:
    issued = people.root.keys.create(ANN)
    compared = []
    honest = hmac.compare_digest

    def watched(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return honest(one, other)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    unknown = "rk_000000000000_" + "A" * 43
    wrong = issued.secret[:-4] + "AAAA"
    for key in (issued.secret, wrong, unknown):
        try:
            people.opener.keys.principal_for(key)
        except NotAllowed:
            assert key != issued.secret
    # A key with an unknown prefix costs a comparison like any other.
    assert len(compared) == 3
    assert all(len(one) == len(other) == 64 for one, other in compared)


def test_wrong_revoked_expired_and_unknown_keys_are_one_answer(
    people: People, clock: FakeClock
) -> None:
    living = people.root.keys.create(ANN)
    revoked = people.root.keys.create(ANN)
    expired = people.root.keys.create(ANN, expires_at="2026-01-01T01:00:00Z")
    assert people.opener.keys.principal_for(expired.secret) == ANN
    assert people.root.keys.revoke(revoked.row.prefix)
    assert not people.root.keys.revoke(revoked.row.prefix)
    clock.advance(hours=1)
    swapped = f"rk_{living.row.prefix}_{revoked.secret.split('_', 2)[2]}"
    answers = set()
    for key in (
        revoked.secret,
        expired.secret,
        swapped,
        living.secret[:-1],
        living.secret + "A",
        living.secret.upper(),
        "rk_000000000000_" + "A" * 43,
        "",
        "secret",
        None,
        7,
        living.secret.encode(),
        "é" * 59,
    ):
        with pytest.raises(NotAllowed) as error:
            people.opener.keys.principal_for(key)  # type: ignore[arg-type]
        answers.add((error.value.message, error.value.hint))
    assert len(answers) == 1
    assert people.opener.keys.principal_for(living.secret) == ANN


def test_nobody_gives_more_than_they_have(people: People) -> None:
    with pytest.raises(NotAllowed):
        people.ann.keys.create(ANN)
    helper = people.opener.as_principal(Principal("acme", "helper", (), ("read", "admin")))
    with pytest.raises(NotAllowed, match="write"):
        helper.keys.create(ANN)
    with pytest.raises(NotAllowed, match="another tenant"):
        people.root.keys.create(Principal("globex", "dan", (), PERMISSIONS))
    assert (
        people.opener.keys.create(Principal("globex", "dan", (), PERMISSIONS)).row.principal.tenant
        == "globex"
    )
    assert people.root.keys.list() == ()


def test_keys_of_another_tenant_are_neither_seen_nor_ended(people: People) -> None:
    theirs = people.dan.keys.create(Principal("globex", "dan", (), ("read",)))
    assert people.root.keys.list() == ()
    assert people.root.keys.list("globex") == ()
    assert not people.root.keys.revoke(theirs.row.prefix)
    assert not people.root.keys.revoke(theirs.row.prefix, tenant="globex")
    assert people.opener.keys.principal_for(theirs.secret).id == "dan"
    assert people.opener.keys.revoke(theirs.row.prefix, tenant="globex")


@pytest.mark.parametrize(
    "moment", ["2025-12-31T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01", "soon", 7, ""]
)
def test_an_end_must_be_a_time_to_come(people: People, moment: Any) -> None:
    with pytest.raises(InvalidInput, match="expires_at"):
        people.root.keys.create(ANN, expires_at=moment)
    assert people.root.keys.list() == ()


def test_a_key_names_its_store_among_others(tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        for name in ("a", "a_b", "deadbeef0123_x"):
            node.create(name)
            with node.store(name) as memory:
                issued = memory.keys.create(ANN)
                assert issued.secret is not None
                assert keys.store_of(issued.secret) == name
                assert memory.keys.principal_for(issued.secret) == ANN
                assert memory.keys.revoke(issued.secret)
    assert keys.store_of("rk_0123456789ab_" + "x" * 43) is None
    assert keys.store_of("rk_A_0123456789ab_" + "x" * 43) is None
    assert keys.store_of(None) is None
