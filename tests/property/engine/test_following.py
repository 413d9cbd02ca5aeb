"""An index that followed any history of writes answers as one built from the store as it is."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.engine import rows
from tests.property.engine.asking import opened, recalls

from recollect import Recollect
from recollect.testing import FakeEmbedder

PAKS = [f"p{number}" for number in range(8)]

paks = st.sampled_from(PAKS)
steps = st.one_of(
    st.tuples(st.just("remember"), rows.item(paks)),
    st.tuples(st.just("remember_many"), st.lists(rows.item(paks), max_size=6)),
    st.tuples(st.just("forget"), paks),
    st.tuples(st.just("link"), st.tuples(paks, paks, st.sampled_from([0.2, 0.7, 1.0]))),
    st.tuples(st.just("dispute"), st.tuples(paks, paks)),
    st.tuples(st.just("resolve"), st.tuples(paks, paks)),
    st.tuples(st.just("frame"), st.sampled_from(["attention", "task", "self"])),
    st.tuples(st.just("retitle"), st.tuples(paks, rows.texts)),
    st.tuples(st.just("rename"), st.tuples(paks, paks)),
    st.tuples(st.just("recall"), rows.texts),
    st.tuples(st.just("reindex"), st.none()),
    st.tuples(st.just("outage"), st.booleans()),
)


def act(memory: Recollect, verb: str, what: Any) -> None:
    """Do one thing to a store, if it can be done."""
    if verb == "remember":
        memory.remember(**what)
    elif verb == "remember_many":
        memory.remember_many(what)
    elif verb == "forget":
        memory.forget(what)
    elif verb in ("link", "dispute", "resolve"):
        one, other, *weight = what
        if one != other and memory.get(one) and memory.get(other):
            getattr(memory, verb)(one, other, **({"weight": weight[0]} if weight else {}))
    elif verb == "frame":
        memory.frame(what, "redis queue")
    elif verb == "retitle":
        memory.paks.conn.execute("UPDATE paks SET title = ? WHERE pak_id = ?", what[::-1])
    elif verb == "rename":
        memory.paks.conn.execute("UPDATE OR IGNORE paks SET pak_id = ? WHERE pak_id = ?", what)
    elif verb == "recall":
        memory.recall(what)
    elif verb == "reindex":
        memory.reindex()


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(steps, st.booleans()), max_size=25))
def test_following_any_history_equals_building_anew(
    history: list[tuple[tuple[str, Any], bool]],
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        embedder = FakeEmbedder(16)
        with (
            opened(path, links=True, embedder=embedder) as here,
            opened(path, links=True, embedder=embedder) as there,
        ):
            for (verb, what), by_the_other in history:
                if verb == "outage":
                    embedder.fail = what
                else:
                    act(there if by_the_other else here, verb, what)
            embedder.fail = False
            followed = recalls(here)
            assert recalls(there) == followed
            with opened(path, cache_file=False) as fresh:
                assert recalls(fresh) == followed
            here.reindex()
            assert recalls(here) == followed
            assert recalls(there) == followed
            assert here.check() == ()
