"""What a source says counts by what it claims times our trust in it, applied once, as it is now."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.testing import FakeClock

CLAIMS = st.floats(0, 1).map(lambda claim: round(claim, 3))
# Below one half what is ingested waits for a moderator, and counts for nobody.
TRUSTS = st.floats(0.5, 1).map(lambda trust: round(trust, 3))


def opened(folder: str) -> Recollect:
    path = Path(folder) / "a.db"
    return Recollect.open(path, embedder="none", clock=FakeClock(), cache_file=False)


def ingested(memory: Recollect, source: str, claim: float) -> str:
    fact = {"content": f"redis holds the queue of {source}", "confidence": claim}
    (item,) = memory.ingest([fact], source=source).items
    return str(item.pak_id)


def effective(memory: Recollect, pak_id: str) -> float:
    results = memory.recall("redis queue", top_k=50).results
    (counted,) = [one.signals.confidence for one in results if one.fact.pak_id == pak_id]
    return counted


@settings(max_examples=25, deadline=None)
@given(claim=CLAIMS, trusts=st.lists(TRUSTS, min_size=2, max_size=4), before=st.booleans())
def test_what_counts_is_the_claim_times_the_trust_whenever_it_was_set(
    claim: float, trusts: list[float], before: bool
) -> None:
    with TemporaryDirectory() as folder, opened(folder) as memory:
        if before:
            memory.trust.set("peer", trusts[0])
        pak_id = ingested(memory, "peer", claim)
        counted = []
        for trust in sorted(trusts):
            memory.trust.set("peer", trust)
            counted.append(effective(memory, pak_id))
            assert counted[-1] == pytest.approx(claim * trust, abs=1e-9)
            shown = memory.get(pak_id)
            assert shown is not None
            assert shown.confidence == min(claim, trust)
        assert counted == sorted(counted)


@settings(max_examples=25, deadline=None)
@given(claim=CLAIMS, trust=TRUSTS)
def test_a_stranger_is_trusted_by_half_and_never_beats_whom_we_vetted(
    claim: float, trust: float
) -> None:
    with TemporaryDirectory() as folder, opened(folder) as memory:
        memory.trust.set("half", 0.5)
        memory.trust.set("vetted", trust)
        stranger, half, vetted = (
            effective(memory, ingested(memory, source, claim))
            for source in ("stranger", "half", "vetted")
        )
        memory.remember("redis holds the queue of ours", pak_id="ours", confidence=claim)
        assert stranger == half == pytest.approx(0.5 * claim, abs=1e-9)
        assert stranger <= vetted <= effective(memory, "ours")


@settings(max_examples=15, deadline=None)
@given(claim=CLAIMS, trust=st.none() | TRUSTS)
def test_what_we_remember_ourselves_counts_in_full_until_we_say_otherwise(
    claim: float, trust: float | None
) -> None:
    with TemporaryDirectory() as folder, opened(folder) as memory:
        memory.remember("redis holds the queue", pak_id="a", source="paper", confidence=claim)
        if trust is not None:
            memory.trust.set("paper", trust)
        assert effective(memory, "a") == pytest.approx(claim * (trust or 1.0), abs=1e-9)
        shown = memory.get("a")
        assert shown is not None
        assert shown.confidence == claim


def test_filters_and_disputes_go_by_what_counts(tmp_path: Path) -> None:
    with opened(str(tmp_path)) as memory:
        told = ingested(memory, "peer", 0.9)
        memory.remember("redis holds no queue", pak_id="ours", confidence=0.6)
        memory.dispute(told, "ours")

        def answer(**asked: float) -> list[str]:
            return [one.fact.pak_id for one in memory.recall("redis queue", **asked).results]  # type: ignore[arg-type]

        assert answer() == ["ours"]
        assert answer(min_confidence=0.46) == ["ours"]
        memory.trust.set("peer", 1.0)
        assert answer() == [told]
        memory.resolve(told, "ours")
        assert set(answer(min_confidence=0.46)) == {"ours", told}
        memory.trust.set("peer", 0.5)
        assert set(answer(min_confidence=0.45)) == {"ours", told}
        assert set(answer(min_confidence=0.451)) == {"ours"}


def test_an_export_tells_what_was_claimed(tmp_path: Path) -> None:
    with opened(str(tmp_path)) as memory:
        ingested(memory, "peer", 0.9)
        (line,) = memory.export()
        assert '"confidence": 0.9' in line or '"confidence":0.9' in line


@pytest.mark.parametrize("trust", [-0.01, 1.01, float("nan"), "0.5", None, True])
def test_trust_is_a_number_from_0_to_1(tmp_path: Path, trust: Any) -> None:
    with opened(str(tmp_path)) as memory:
        with pytest.raises(InvalidInput):
            memory.trust.set("peer", trust)
        for share in (0, 1, 0.25):
            memory.trust.set("peer", share)
            assert memory.trust.of("peer") == share
        assert memory.trust.list() == {"peer": 0.25}
