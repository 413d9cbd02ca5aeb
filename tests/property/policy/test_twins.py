"""Two stores live through the same days, but for what one principal may not read.

Here nothing is deleted: the twin never knew of it. The principal's own writes, its cached frames
and what they count are part of what must be equal.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.examples import examples
from tests.property.policy.asking import FRAMES, QUERIES, answer, answers
from tests.property.policy.test_non_interference import facts, numbers, sources, texts
from tests.property.policy.worlds import ANN, PEOPLE, World, places


class Twins(RuleBasedStateMachine):
    """`full` has everything, `bare` what the asker may read; the asker sees no difference."""

    @initialize(
        who=st.sampled_from(["ann", "bob", "cid", "dan"]),
        sanitizer=st.sampled_from(["flag", "block"]),
        links=st.booleans(),
    )
    def begin(self, who: str, sanitizer: str, links: bool) -> None:
        self.folder = TemporaryDirectory()
        folder = Path(self.folder.name)
        self.who = PEOPLE[who]
        self.full = World(folder, "full", sanitizer=sanitizer, links=links)
        self.bare = World(folder, "bare", sanitizer=sanitizer, links=links)
        self.bare.clock, self.bare.embedder = self.full.clock, self.full.embedder
        for one in (self.bare.memory._open_store, self.full.memory._open_store):
            one.clock, one.embedder = self.full.clock, self.full.embedder
        self.count = 0

    def teardown(self) -> None:
        if hasattr(self, "full"):
            self.full.close()
            self.bare.close()
            self.folder.cleanup()

    def both(self, who: str, verb: str, *arguments: Any, **named: Any) -> None:
        """Let somebody do something in both; what the asker is told must be the same."""
        one = answer(lambda: self.full.act(who, verb, *arguments, **named))
        other = answer(lambda: self.bare.act(who, verb, *arguments, **named))
        assert who != self.who.id or one == other, f"{verb}\nwith:    {one}\nwithout: {other}"

    def one(self, number: int, *, hidden: bool) -> str:
        known = self.full.hidden_from(self.who) if hidden else self.bare.ids()
        return known[number % len(known)] if known else "nobody"

    @rule(who=st.sampled_from(sorted(PEOPLE)), at=numbers, item=facts)
    def remember(self, who: str, at: int, item: dict[str, Any]) -> None:
        here = places(PEOPLE[who])
        self.count += 1
        known = set(self.full.hidden_from(self.who))
        arguments = {**item, "pak_id": f"p{self.count:03d}", **here[at % len(here)]}
        told = answer(lambda: self.full.act(who, "remember", **arguments))
        if known == set(self.full.hidden_from(self.who)):
            other = answer(lambda: self.bare.act(who, "remember", **arguments))
            assert who != self.who.id or told == other, f"remember\n{told}\n{other}"

    @rule(at=numbers, source=sources, items=st.lists(facts, min_size=1, max_size=2))
    def ingest(self, at: int, source: str, items: list[dict[str, Any]]) -> None:
        """What bob takes in: what comes to light in the full one comes to the bare one too."""
        here = places(PEOPLE["bob"])[at % len(places(PEOPLE["bob"]))]
        for item in items:
            known = set(self.full.hidden_from(self.who))
            self.full.act("bob", "ingest", [item], source=source, **here)
            if known == set(self.full.hidden_from(self.who)):
                self.bare.act("bob", "ingest", [item], source=source, **here)

    @rule(one=numbers, other=numbers, verb=st.sampled_from(["link", "dispute", "resolve"]))
    def join(self, one: int, other: int, verb: str) -> None:
        self.both(self.who.id, verb, self.one(one, hidden=False), self.one(other, hidden=False))

    @rule(who=st.sampled_from(["root", "bob", "dan"]), one=numbers, other=numbers)
    def join_to_the_hidden(self, who: str, one: int, other: int) -> None:
        ends = self.one(one, hidden=True), self.one(other, hidden=other % 2 == 0)
        self.full.act(who, "link", *ends)
        self.full.act(who, "dispute", *ends)

    @rule(who=st.sampled_from(sorted(PEOPLE)), name=st.sampled_from(FRAMES), text=texts)
    def frame(self, who: str, name: str, text: str) -> None:
        """Whoever is given something: others find more in the full one than in the bare one."""
        self.both(who, "frame", name, text, top_k=3)

    @rule(number=numbers, item=facts)
    def rewrite(self, number: int, item: dict[str, Any]) -> None:
        """The asker writes something of its own anew, perhaps into another thread."""
        if self.bare.ids():
            pak_id = self.one(number, hidden=False)
            self.both(self.who.id, "remember", **{**item, "pak_id": pak_id})

    @rule(number=numbers, text=texts, at=numbers, moves=st.booleans())
    def update(self, number: int, text: str, at: int, moves: bool) -> None:
        """The asker changes something of its own, and may move it to where others read it."""
        here = places(self.who)[at % len(places(self.who))] if moves else {}
        self.both(self.who.id, "update", self.one(number, hidden=False), content=text, **here)

    @rule(one=numbers, other=numbers)
    def supersede(self, one: int, other: int) -> None:
        ends = self.one(one, hidden=False), self.one(other, hidden=False)
        self.both(self.who.id, "supersede", *ends)

    @rule(who=st.sampled_from(["root", "bob", "dan"]), one=numbers, other=numbers)
    def supersede_by_the_hidden(self, who: str, one: int, other: int) -> None:
        """Somebody lets something give way to what the asker may not read."""
        hidden = self.one(other, hidden=True)
        for number in (True, False):
            self.full.act(who, "supersede", self.one(one, hidden=number), hidden)

    @rule(number=numbers, hidden=st.booleans())
    def forget(self, number: int, hidden: bool) -> None:
        pak_id = self.one(number, hidden=hidden)
        for who in ("root", "dan"):
            self.full.act(who, "forget", pak_id)
            if not hidden:
                self.bare.act(who, "forget", pak_id)

    @rule(number=numbers, verdict=st.sampled_from(["promote", "reject"]))
    def judge(self, number: int, verdict: str) -> None:
        held = self.full.held()
        pak_id = held[number % len(held)] if held else "nobody"
        if pak_id in self.bare.held() or verdict == "reject":
            self.both("root", f"quarantine.{verdict}", pak_id)

    @rule(hours=st.sampled_from([0.1, 2.0, 6.0]))
    def wait(self, hours: float) -> None:
        self.full.clock.advance(hours=hours)

    @rule(fails=st.booleans())
    def outage(self, fails: bool) -> None:
        self.full.embedder.fail = fails
        for one in (self.full, self.bare):
            one.memory.retry_pending()

    @rule()
    def reindex(self) -> None:
        self.full.memory.reindex()
        self.bare.memory.reindex()

    @rule()
    def ask_everything(self) -> None:
        ids = [*self.full.ids(), "nobody"]
        full, bare = self.full.of(self.who), self.bare.of(self.who)
        for (label, one), (_, other) in zip(answers(full, ids), answers(bare, ids), strict=True):
            assert one == other, f"{label}\nwith:    {one}\nwithout: {other}"

    @invariant()
    def the_asker_sees_no_difference(self) -> None:
        if hasattr(self, "full"):
            for query in (None, QUERIES[0]):
                one, other = (
                    answer(lambda w=w, q=query: w.of(self.who).recall(q, frame="task"))
                    for w in (self.full, self.bare)
                )
                assert one == other, f"recall {query}\nwith:    {one}\nwithout: {other}"


TestTwins = Twins.TestCase
TestTwins.settings = settings(
    max_examples=examples(12),
    stateful_step_count=25,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(facts, st.booleans()), min_size=1, max_size=12),
    st.lists(st.tuples(numbers, numbers, st.sampled_from(["link", "dispute"])), max_size=6),
    st.lists(st.booleans(), min_size=16, max_size=24),
    st.booleans(),
)
def test_what_was_forgotten_might_never_have_been(
    items: list[tuple[dict[str, Any], bool]],
    joins: list[tuple[int, int, str]],
    crowd: list[bool],
    by_entity: bool,
) -> None:
    # So many that are alike that some of their links give way to the doomed.
    items = [
        *items,
        *(({"content": f"{QUERIES[0]} {n % 5}"}, is_doomed) for n, is_doomed in enumerate(crowd)),
    ]
    with TemporaryDirectory() as folder:
        # That something was answered stays, so what is compared here is without receipts.
        before, never = (World(Path(folder), name, receipts=False) for name in ("before", "never"))
        try:
            for number, (item, is_doomed) in enumerate(items):
                entity = {"entity": "Doomed"} if is_doomed else {"entity": "Ann"}
                arguments = {**item, **entity, "value": "tea", "pak_id": f"p{number:02d}"}
                before.act("bob", "remember", **arguments, scope="company")
                if not is_doomed:
                    never.act("bob", "remember", **arguments, scope="company")
            names = [f"p{number:02d}" for number in range(len(items))]
            for one, other, verb in joins:
                pair = names[one % len(names)], names[other % len(names)]
                before.act("bob", verb, *pair)
                never.act("bob", verb, *pair)
            before.of(ANN).recall(QUERIES[0])
            if by_entity:
                before.act("bob", "forget", entity="doomed")
            else:
                doomed = [name for name, (_, gone) in zip(names, items, strict=True) if gone]
                before.act("bob", "forget", doomed)
            for who in (ANN, PEOPLE["bob"], PEOPLE["root"]):
                here, there = before.of(who), never.of(who)
                for (label, one), (_, other) in zip(  # type: ignore[assignment]
                    answers(here, names), answers(there, names), strict=True
                ):
                    assert one == other, f"{label}\nbefore: {one}\nnever:  {other}"
        finally:
            before.close()
            never.close()
