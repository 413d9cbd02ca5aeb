"""Of another tenant one hears its plain words, and nothing else that it does changes an answer.

In one world the people of globex claim what they like: tags that guarantee, orders, disputes,
links, verdicts. In its twin they say the same words plainly and do nothing. Acme is answered alike.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.policy.asking import answers
from tests.property.policy.mutants import CLAIMS, Claim
from tests.property.policy.test_non_interference import numbers, texts
from tests.property.policy.worlds import ANN, CID, ROOT, World

# What is asked about other things than which memories there are: an instruction is one of those.
HEARD = ("recall", "respond", "frame", "select", "disputes", "quarantine", "explain")
TAGS: tuple[list[str], ...] = ([], ["self/constitutional"], ["self/goal"], ["self/value", "kiln"])
VERBS = ("dispute", "link", "resolve", "quarantine.promote", "quarantine.reject", "forget")
# How fast its author lets a memory fade is told, and not believed; digests are of what is told.
_LEFT_OUT = re.compile(r'"decay":[^,]+,|"recall_id":[^,]+,')
NOW = "2026-01-01T00:00:00Z"

said = st.fixed_dictionaries(
    {
        "content": texts,
        "tags": st.sampled_from(TAGS),
        "confidence": st.sampled_from([0.3, 1.0]),
        "category": st.sampled_from(["knowledge", "knowledge", "instruction"]),
    }
)


class Twins:
    """`full` hears all that globex does, `plain` its plain words; acme does the same in both."""

    def __init__(self, folder: Path) -> None:
        self.full, self.plain = (World(folder, name, receipts=False) for name in ("full", "plain"))
        self.ours: list[str] = []
        self.theirs: list[str] = []

    def close(self) -> None:
        self.full.close()
        self.plain.close()

    def act(self, who: str, verb: str, *arguments: Any, **named: Any) -> None:
        for world in (self.full, self.plain):
            world.clock.advance(seconds=1)
            world.act(who, verb, *arguments, **named)

    def we_say(self, who: str, item: dict[str, Any], scope: str) -> None:
        self.ours.append(f"a{len(self.ours):02d}")
        self.act(who, "remember", **item, scope=scope, pak_id=self.ours[-1])

    def they_say(self, item: dict[str, Any], scope: str = "public") -> None:
        """Let globex say something; what claims to be an order is not said in the twin."""
        pak_id = f"d{len(self.theirs):02d}"
        self.theirs.append(pak_id)
        words = {**item, "tags": [tag for tag in item["tags"] if not tag.startswith("self/")]}
        for world, one in ((self.full, item), (self.plain, words)):
            world.clock.advance(seconds=1)
            if world is self.full or item["category"] != "instruction":
                world.act("dan", "remember", **one, scope=scope, pak_id=pak_id)

    def they_do(self, verb: str, one: int, other: int) -> None:
        """Let globex do something to what is ours."""
        ours = self.ours[one % len(self.ours)]
        names = [*self.ours, *self.theirs]
        ends = (ours, names[other % len(names)])
        self.full.act("dan", verb, *(ends if verb in VERBS[:3] else ends[:1]))

    def was_disputed(self, ours: str, theirs: str) -> None:
        """Let there be a dispute between tenants from a time when anybody could open one."""
        self.full.memory.paks.conn.execute(
            "INSERT OR IGNORE INTO memory_disputes (low, high, note, is_open, created_at)"
            " SELECT min(row_id), max(row_id), '', 1, ? FROM memories"
            " WHERE pak_id IN (?, ?) AND scope = 'public' HAVING count(*) = 2",
            (NOW, ours, theirs),
        )

    def compare(self) -> None:
        for world in (self.full, self.plain):
            world.clock.advance(hours=5)
        orders = [one for one in self.theirs if one not in self.plain.ids()]
        ids = [one for one in (*self.ours, *self.theirs) if one not in orders]
        for who in (ANN, ROOT, CID):
            asked = zip(
                answers(self.full.of(who), ids), answers(self.plain.of(who), ids), strict=True
            )
            for (label, one), (_, other) in asked:
                if label.startswith(HEARD):
                    one, other = _LEFT_OUT.sub("", one), _LEFT_OUT.sub("", other)
                    assert one == other, f"{who.id}: {label}\nwith:    {one}\nwithout: {other}"


def lively(twins: Twins) -> None:
    """Let a little of everything be said and done."""
    fact = {"content": "redis queue worker", "confidence": 0.3, "tags": [], "category": "knowledge"}
    twins.we_say("ann", fact, "public")
    twins.we_say("bob", {**fact, "content": "redis queue release", "confidence": 0.9}, "public")
    twins.we_say("bob", {**fact, "content": "serve acme", "tags": ["self/value"]}, "company")
    twins.we_say("bob", {**fact, "category": "instruction"}, "company")
    held = {"content": "redis rumour"}
    twins.act("bob", "ingest", [held], source="stranger", scope="public")
    twins.ours += [one for one in twins.full.held() if one not in twins.ours]
    claim = {**fact, "content": "redis queue globex", "confidence": 1.0}
    twins.they_say({**claim, "tags": ["self/constitutional", "self/goal"]})
    twins.they_say({**claim, "content": "serve globex", "tags": ["self/value"]})
    twins.they_say({**claim, "category": "instruction"})
    twins.they_say({**claim, "content": "redis queue zebra"})
    twins.they_say(claim, "company")
    twins.was_disputed("a00", "d03")
    for verb in VERBS:
        for one in range(len(twins.ours)):
            twins.they_do(verb, one, one + 1)
            twins.they_do(verb, one, one + 5)


def test_of_another_tenant_we_hear_its_words_alone(tmp_path: Path) -> None:
    twins = Twins(tmp_path)
    lively(twins)
    assert twins.full.of(ANN).recall("globex").results
    twins.compare()
    twins.close()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_the_check_finds_a_claim_that_is_believed(claim: Claim, tmp_path: Path) -> None:
    twins = Twins(tmp_path)
    with claim():
        lively(twins)
        with pytest.raises(AssertionError, match="without:"):
            twins.compare()
    twins.close()


@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), said, st.sampled_from(["public", "company"])),
        min_size=2,
        max_size=6,
    ),
    st.lists(st.tuples(said, st.sampled_from(["public", "public", "local"])), max_size=6),
    st.lists(st.tuples(st.sampled_from(VERBS), numbers, numbers), max_size=8),
)
def test_whatever_another_tenant_does_we_hear_its_words_alone(
    ours: list[tuple[str, dict[str, Any], str]],
    theirs: list[tuple[dict[str, Any], str]],
    done: list[tuple[str, int, int]],
) -> None:
    with TemporaryDirectory() as folder:
        twins = Twins(Path(folder))
        for one in ours:
            twins.we_say(*one)
        for item, scope in theirs:
            twins.they_say(item, scope)
        for act in done:
            twins.they_do(*act)
        twins.compare()
        twins.close()
