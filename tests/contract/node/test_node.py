"""Many stores in one process: each for itself, opened on first use, let go when room is needed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect import Node, Recollect
from recollect.errors import (
    InvalidInput,
    NotAllowed,
    StoreBusy,
    StoreClosed,
    StoreExists,
    StoreReplaced,
    StoreUnavailable,
    UnknownStore,
)
from recollect.hours import iso
from recollect.policy import Principal
from recollect.testing import FakeClock


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "stores", embedder="none", clock=FakeClock()) as made:
        yield made


def files_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def contents(node: Node, name: str) -> set[str]:
    with node.store(name) as memory:
        return {one.content for one in memory.list().items}


def test_each_store_is_by_itself(node: Node) -> None:
    for name in ("acme", "globex"):
        node.create(name)
        with node.store(name) as memory:
            memory.remember(f"The password of {name} is kept in its own safe.")
    assert node.names() == ("acme", "globex")
    assert contents(node, "acme") == {"The password of acme is kept in its own safe."}
    with node.store("globex") as memory:
        found = memory.recall("password").results
    assert [one.fact.content for one in found] == [
        "The password of globex is kept in its own safe."
    ]


def test_a_store_is_an_ordinary_file_with_all_its_own_beside_it(node: Node, tmp_path: Path) -> None:
    node.create("acme")
    with node.store("acme") as memory:
        memory.remember("Anybody can open it.")
        assert memory.path == tmp_path / "stores" / "acme" / "recall.db"
    node.close()
    with Recollect.open(tmp_path / "stores/acme/recall.db", embedder="none") as memory:
        assert memory.recall("open").results


def test_a_name_that_no_store_has_is_told_and_makes_none(node: Node) -> None:
    with pytest.raises(UnknownStore, match="acme"), node.store("acme"):
        pass
    assert node.names() == ()
    assert node.usage().held == 0
    with pytest.raises(UnknownStore):
        node.drop("acme")
    with pytest.raises(UnknownStore):
        node.usage_of("acme")


def test_a_store_that_is_there_is_not_made_again(node: Node) -> None:
    node.create("acme")
    with node.store("acme") as memory:
        memory.remember("Still here.")
    with pytest.raises(StoreExists, match="acme"):
        node.create("acme")
    assert contents(node, "acme") == {"Still here."}


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", ".", "..", "../acme", "/etc/passwd", "a/b", "a\\b", "a\0b", "a.db", ".new-1"),
        *("-acme", "acme-", "_acme", "Acme", "ACME", "a b", "a\nb", "acme\n", "%2e%2e", "a:b"),
        # Cyrillic a, full width a, Kelvin sign, a joiner that nobody sees, digits of elsewhere.
        *("\u0430cme", "\uff41cme", "\u212a", "ac\u200dme", "acme\u0661", "acm\u00e9"),
        *("a" * 65, None, 7, b"acme", "\ud800"),
    ],
)
def test_a_name_that_could_lead_elsewhere_or_be_taken_for_another_is_refused(
    node: Node, tmp_path: Path, name: str
) -> None:
    for call in (node.create, node.drop, node.usage_of, lambda one: node.store(one).__enter__()):
        with pytest.raises(InvalidInput, match="store"):
            call(name)
    assert [one.name for one in tmp_path.iterdir()] == ["stores"]
    assert list((tmp_path / "stores").iterdir()) == []


@pytest.mark.parametrize("name", ["a", "7", "a" * 64, "acme-support_2", "0b7e-4c", "a--b", "con"])
def test_plain_names_are_taken(node: Node, name: str) -> None:
    node.create(name)
    with node.store(name) as memory:
        memory.remember("Something.")
    assert node.names() == (name,)


def test_a_link_is_no_store(node: Node, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    with Node(outside, embedder="none") as other:
        other.create("acme")
    (tmp_path / "stores" / "linked").symlink_to(outside / "acme")
    assert node.names() == ()
    with pytest.raises(UnknownStore), node.store("linked"):
        pass
    with pytest.raises(UnknownStore):
        node.drop("linked")
    with pytest.raises(StoreExists):
        node.create("linked")
    assert (outside / "acme" / "recall.db").is_file()


def test_what_was_lent_is_refused_once_it_was_given_back(node: Node) -> None:
    node.create("acme")
    with node.store("acme") as memory:
        memory.remember("For as long as it is lent.")
        other = memory.as_principal(Principal("t", "ann"))
        assert other.recall("lent").results == ()
    for call in (
        lambda: memory.recall("lent"),
        lambda: memory.remember("too late"),
        lambda: other.recall("lent"),
        lambda: memory.list(),
        lambda: memory.stats(),
        lambda: memory.paks,
        lambda: memory.as_principal(Principal("t", "bob")),
    ):
        with pytest.raises(StoreClosed, match="given back"):
            call()
    assert contents(node, "acme") == {"For as long as it is lent."}


def test_who_borrows_a_store_does_not_close_it(node: Node) -> None:
    node.create("acme")
    with node.store("acme") as one, node.store("acme") as other:
        with one:
            one.remember("Closed by one.")
        one.close()
        assert other.recall("closed").results
        assert one.recall("closed").results


def test_a_store_in_use_is_dropped_when_its_user_is_done_or_not_at_all(node: Node) -> None:
    pool = ThreadPoolExecutor(1)
    node.create("acme")
    with node.store("acme") as memory:
        memory.remember("Somebody is reading this.")
        with pytest.raises(StoreBusy, match="in use"):
            node.drop("acme", timeout=0.05)
        assert memory.recall("reading").results
        dropping = pool.submit(node.drop, "acme", timeout=30)
        memory.remember("And goes on.")
        assert not dropping.done()
    dropping.result()
    pool.shutdown()
    assert node.names() == ()
    with pytest.raises(UnknownStore), node.store("acme"):
        pass


def test_a_name_that_is_free_again_is_another_store(node: Node, tmp_path: Path) -> None:
    node.create("acme")
    with node.store("acme") as memory:
        memory.remember("Of the first.")
    node.drop("acme")
    assert list((tmp_path / "stores").iterdir()) == []
    node.create("acme")
    assert contents(node, "acme") == set()


def test_nothing_is_lost_when_stores_are_let_go(tmp_path: Path) -> None:
    names = [f"store-{number}" for number in range(30)]
    with Node(tmp_path, embedder="none", memory_limit_bytes=1) as node:
        for name in names:
            node.create(name)
            with node.store(name) as memory:
                memory.remember(f"This is of {name}.", pak_id=name)
        assert node.usage().held <= 1
        for name in names:
            with node.store(name) as memory:
                assert [one.fact.content for one in memory.recall("this").results] == [
                    f"This is of {name}."
                ]


def test_the_least_recently_used_goes_first_and_never_one_in_use(tmp_path: Path) -> None:
    with Node(tmp_path, embedder="none") as node:
        for name in ("used", "old", "young"):
            node.create(name)
        with node.store("used") as memory:
            memory.remember("Held all the while.")
            with node.store("old"):
                pass
            with node.store("young"):
                pass
            node._limit = node.usage().memory_bytes - 1
            with node.store("young"):
                pass
            held = {name: node.usage_of(name).is_held for name in node.names()}
            assert held == {"used": True, "old": False, "young": True}
            node._limit = 1
            with node.store("young"):
                pass
            assert node.usage_of("used").users == 1
            assert memory.recall("held").results
        assert node.usage().held <= 1


def test_more_stores_are_held_than_there_may_be_files(tmp_path: Path) -> None:
    names = [f"store-{number}" for number in range(40)]
    with Node(tmp_path, embedder="none", most_connections=4) as node:
        for name in names:
            node.create(name)
            with node.store(name) as memory:
                memory.remember(f"This is of {name}.")
        assert node.usage().held == 40
        assert node.usage().connections <= 4
        open_files = files_open()
        for name in names:
            with node.store(name) as memory:
                memory.remember(f"And this is of {name} too.")
                assert memory.recall("this").results
        assert node.usage().held == 40
        assert node.usage().connections <= 4
        assert files_open() <= open_files + 4


def test_a_store_at_rest_answers_the_same(tmp_path: Path) -> None:
    with Node(tmp_path, clock=FakeClock()) as node:
        node.create("acme")
        with node.store("acme") as memory:
            for number in range(12):
                memory.remember(
                    f"Ticket {number}: the pump of hall {number % 3} is loud.", tags=["pump"]
                )
            memory.forget(memory.list().items[0].pak_id)
            before = memory.recall("which pump is loud in hall 2?")
        held = node._held["acme"]
        held.rest()
        assert node.usage().connections == 0
        with node.store("acme") as memory:
            assert memory.recall("which pump is loud in hall 2?").results == before.results
            memory.remember("The pump of hall 2 was mended.", pak_id="mended")
            assert memory.recall("mended").results[0].fact.pak_id == "mended"
        held.rest()
        node._let_go(held)
        with node.store("acme") as memory:
            assert memory.recall("mended").results[0].fact.pak_id == "mended"
            assert memory.check() == ()


def test_threads_use_stores_all_at_once(tmp_path: Path) -> None:
    names = [f"store-{number}" for number in range(6)]
    with Node(tmp_path, embedder="none", memory_limit_bytes=300_000, most_connections=4) as node:
        for name in names:
            node.create(name)

        def work(thread: int) -> None:
            for turn in range(12):
                name = names[(thread + turn) % len(names)]
                with node.store(name) as memory:
                    memory.remember(f"Turn {turn} of thread {thread}.", pak_id=f"{thread}-{turn}")
                    assert memory.get(f"{thread}-{turn}") is not None

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        found = set()
        for name in names:
            with node.store(name) as memory:
                found |= {one.pak_id for one in memory.list(limit=100).items}
                assert memory.check() == ()
        assert found == {f"{thread}-{turn}" for thread in range(8) for turn in range(12)}


def test_an_exception_gives_the_store_back(node: Node) -> None:
    node.create("acme")
    with pytest.raises(ZeroDivisionError), node.store("acme") as memory:
        memory.remember("Before.")
        raise ZeroDivisionError
    assert node.usage_of("acme").users == 0
    assert contents(node, "acme") == {"Before."}
    node.drop("acme", timeout=0)


def test_an_interrupt_before_the_body_leaves_no_user(node: Node) -> None:
    node.create("acme")
    abandoned = node.store("acme")
    abandoned.__enter__()
    assert node.usage_of("acme").users == 1
    del abandoned
    assert node.usage_of("acme").users == 0
    node.drop("acme", timeout=0)


def test_a_store_that_cannot_be_opened_harms_no_other(node: Node, tmp_path: Path) -> None:
    node.create("good")
    node.create("bad")
    (tmp_path / "stores/bad/recall.db").write_bytes(b"not a database, but long enough for one" * 40)
    for _ in range(2):
        with pytest.raises(Exception, match="not a SQLite database"), node.store("bad"):
            pass
    with node.store("good") as memory:
        memory.remember("Well.")
    assert node.usage().held == 1


def test_a_store_that_others_replaced_is_opened_anew(tmp_path: Path) -> None:
    with Node(tmp_path, embedder="none") as one, Node(tmp_path, embedder="none") as other:
        one.create("acme")
        with one.store("acme") as memory:
            memory.remember("Of the first.")
            other.drop("acme")
            with pytest.raises(StoreReplaced):
                memory.remember("Into nothing.")
        with pytest.raises(UnknownStore), one.store("acme"):
            pass
        other.create("acme")
        with other.store("acme") as memory:
            memory.remember("Of the second.")
        assert contents(one, "acme") == {"Of the second."}


def test_two_nodes_see_what_the_other_wrote(tmp_path: Path) -> None:
    with Node(tmp_path, embedder="none") as one, Node(tmp_path, embedder="none") as other:
        one.create("acme")
        for number in range(5):
            for writer, reader in ((one, other), (other, one)):
                with writer.store("acme") as memory:
                    memory.remember(f"News {number}.", pak_id=f"{number}-{writer is one}")
                writer._held["acme"].rest()
                with reader.store("acme") as memory:
                    found = memory.recall("news", top_k=20).results
                    assert f"{number}-{writer is one}" in {one.fact.pak_id for one in found}


def test_after_closing_nothing_is_answered(node: Node) -> None:
    node.create("acme")
    with node.store("acme") as memory:
        node.close()
        with pytest.raises(StoreClosed):
            memory.recall("anything")
    node.close()
    for call in (node.names, lambda: node.create("b"), lambda: node.store("acme").__enter__()):
        with pytest.raises(StoreClosed):
            call()


def test_the_node_says_what_its_stores_take(node: Node) -> None:
    node.create("acme")
    assert node.usage_of("acme").is_held is False
    with node.store("acme") as memory:
        memory.remember("Something to hold.")
        assert node.usage_of("acme").users == 1
    usage = node.usage_of("acme")
    assert (usage.name, usage.is_held, usage.users) == ("acme", True, 0)
    assert usage.last_used == iso(FakeClock().now())
    assert usage.memory_bytes > 10_000
    assert usage.disk_bytes > 10_000
    total = node.usage()
    assert (total.held, total.users, total.memory_bytes) == (1, 0, usage.memory_bytes)
    assert total.connections == usage.connections >= 1


def test_hooks_are_the_node_s(node: Node) -> None:
    heard: list[object] = []
    node.create("acme")
    node.create("globex")

    node.hooks.register("post_remember", heard.append)
    for name in ("acme", "globex"):
        with node.store(name) as memory:
            memory.remember("Hear, hear.")
            with pytest.raises(NotAllowed, match="node"):
                _ = memory.hooks
    node.close()
    assert len(heard) == 2


def test_stores_share_one_embedder(tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        found = set()
        for name in ("acme", "globex"):
            node.create(name)
            with node.store(name) as memory:
                memory.remember("It has a vector.")
                found.add(id(memory._open_store.embedder))
        assert len(found) == 1


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnavailable):
        Node(tmp_path / "file")
    with pytest.raises(InvalidInput):
        Node("postgres://somewhere/stores")
    with pytest.raises(InvalidInput):
        Node(tmp_path, memory_limit_bytes=0)
