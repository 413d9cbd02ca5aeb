"""Before a `forget`, what would go and what would come back; after it, a search of every byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.policy.conftest import People
from tests.contract.policy.test_erasure import item, words

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.index import follow
from recollect.index.evidence import search
from recollect.recall.select import SelectQuery

Open = Callable[..., Recollect]


def found(path: Path, *words: str) -> dict[str, tuple[int, ...]]:
    return {one.name: one.found for one in search(path, words) if one.found}


def test_a_search_finds_a_word_in_every_file_and_none_after_forget(
    tmp_path: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "_WORTH_SAVING", 1)
    with open_memory() as memory:
        memory.remember_many([item(number) for number in range(30)])
        memory.recall("lorem")
    place = tmp_path / "agent.db"
    for field, word in words(1).items():
        assert "agent.db" in found(place, word), field
    with open_memory() as memory:
        memory.remember("qjxsecret one more", pak_id="more")
        (tmp_path / "agent.db.index.1.tmp").write_bytes(b"a draft of QJXSECRET")
        (tmp_path / "agent.db.before-v3").write_bytes("qjxsecret".encode("utf-16-le"))
        held = found(place, "nothing at all", "", "QJXsecret")
        assert set(held.values()) == {(3,)}
        assert set(held) >= {"agent.db", "agent.db-wal", "agent.db.index.1.tmp"}
        assert "agent.db.before-v3" in held
        assert "agent.db.index" in found(place, words(2)["content"])
        assert memory.forget(["more", "pak-1"]).wiped
        assert found(place, "qjxsecret", *words(1).values()) == {}
    assert found(place, "qjxsecret", *words(1).values()) == {}


def test_a_search_puts_together_what_pages_and_full_text_take_apart(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory()
    memory.remember("x" * 4_085 + "qjxlongsecretword" * 500, pak_id="long", title="t")
    memory.remember("a", pak_id="a", title="qjxprefixaaa qjxprefixaab qjxprefixbbb")
    assert found(memory.path, "qjxprefixaab", "qjxprefixbbb")["agent.db"] == (1, 2)
    assert found(memory.path, "qjxlongsecretword" * 490)["agent.db"] == (1,)


def test_a_search_knows_a_word_in_its_other_forms(tmp_path: Path, open_memory: Open) -> None:
    memory = open_memory()
    memory.remember("Ren\u00e9 fires the kiln", pak_id="p", tags=["caf\u00e9"])
    for word in ("Rene\u0301", "REN\u00c9", "caf\u00e9", "cafe\u0301"):
        assert found(memory.path, word), word


def test_a_search_for_nothing_is_refused(tmp_path: Path, open_memory: Open) -> None:
    memory = open_memory()
    for words_given in ((), ("", "  "), ("a\ud800",)):
        with pytest.raises(InvalidInput) as refused:
            search(memory.path, words_given)
        assert refused.value.hint


def superseded(memory: Recollect, old: str, new: str) -> None:
    memory.paks.conn.execute("UPDATE paks SET superseded_by = ? WHERE pak_id = ?", (new, old))


def recalled(memory: Recollect) -> set[str]:
    return {one.fact.pak_id for one in memory.recall("kiln").results}


def selected(memory: Recollect) -> set[str]:
    return {one.pak_id for one in memory.select(SelectQuery("kiln")).scores}


def test_a_dry_run_says_what_would_go_and_what_would_return(open_memory: Open) -> None:
    memory = open_memory()
    for name in ("old", "new", "rival", "other"):
        memory.remember(
            f"the kiln is {name}",
            pak_id=name,
            entity="kiln" if name == "new" else None,
            confidence=0.5 if name == "rival" else 1.0,
        )
    superseded(memory, "old", "new")
    memory.dispute("new", "rival")
    before = memory.stats()
    for told in (memory.forget("new", dry_run=True), memory.forget(entity="KILN", dry_run=True)):
        assert told.pak_ids == ("new",)
        assert told.returns == ("old", "rival")
        assert told.dry_run
        assert not told.wiped
    assert memory.stats() == before
    assert memory.get("new") is not None
    assert memory.forget(["new", "old"], dry_run=True).returns == ("rival",)
    assert memory.forget("nothing", dry_run=True).pak_ids == ()
    assert (recalled(memory), selected(memory)) == (
        {"new", "other"},
        {"new", "rival", "other"},
    )
    assert memory.forget("new").pak_ids == ("new",)
    assert recalled(memory) == selected(memory) == {"old", "rival", "other"}


def test_a_dry_run_tells_nothing_of_what_may_not_be_read(people: People) -> None:
    people.ann.remember("the kiln is free", pak_id="new", scope="company")
    people.bob.remember("the kiln was free", pak_id="old")
    superseded(people.opener, "old", "new")
    people.opener.as_principal(people.bob.principal)
    people.bob.dispute("new", "old")
    assert people.ann.forget("new", dry_run=True).returns == ()
    assert people.ann.forget("old", dry_run=True).pak_ids == ()
    assert people.bob.forget("new", dry_run=True).pak_ids == ()


def test_a_dry_run_asks_no_hook_and_leaves_no_note(people: People) -> None:
    heard: list[object] = []
    for event in ("pre_forget", "post_forget"):
        people.opener.hooks.register(event, heard.append)
    people.ann.remember("the kiln is free", pak_id="p")
    acts = len(people.root.audit())
    people.ann.forget("p", dry_run=True)
    assert heard == []
    assert len(people.root.audit()) == acts
