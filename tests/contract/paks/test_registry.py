from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.contract.paks.samples import pak

from recollect.paks import RISK_FLAG_SEVERITIES, ReasonCodeEntry, RecallStore, RiskFlagEntry
from recollect.paks.registry import EXCLUDE_CODES, REASON_CODES, REASON_WEIGHTS, RISK_FLAGS

if TYPE_CHECKING:
    from pathlib import Path

CODES = {
    "current_task": ("task", 1.0),
    "mandatory": ("task", 1.0),
    "acceptance_criteria": ("task", 0.9),
    "user_pinned": ("task", 1.0),
    "agent_role_match": ("match", 0.6),
    "task_type_match": ("match", 0.6),
    "direct_file_match": ("match", 0.8),
    "direct_test_match": ("match", 0.8),
    "dependency_match": ("match", 0.5),
    "workflow_relevant": ("match", 0.6),
    "recently_modified": ("recency", 0.4),
    "recent_failure_link": ("recency", 0.9),
    "standard_applies": ("authority", 0.9),
    "governance_constraint": ("authority", 1.0),
    "risk_relevant": ("authority", 0.8),
    "prior_success_pattern": ("authority", 0.7),
    "compressed_summary_available": ("shape", 0.4),
    "large_raw_context": ("shape", 0.2),
    "available_on_request": ("shape", 0.3),
    "stable_context": ("shape", 0.5),
    "reusable_context": ("shape", 0.5),
    "cache_ordering_candidate": ("shape", 0.5),
    "low_task_match": ("exclude", -1.0),
    "unrelated_domain": ("exclude", -1.0),
    "stale_context": ("exclude", -1.0),
    "duplicate_context": ("exclude", -0.5),
    "excluded_by_budget": ("exclude", -0.5),
    "excluded_by_policy": ("exclude", -1.0),
}

FLAGS = {
    "mandatory_context_present": "info",
    "cache_sensitive_ordering": "info",
    "raw_logs_deferred": "warn",
    "full_file_deferred": "warn",
    "governance_applies": "warn",
    "release_rule_applies": "warn",
    "oss_pro_boundary_risk": "warn",
    "network_or_egress_risk": "warn",
    "large_context_reduction": "warn",
    "low_confidence_plan": "warn",
    "possible_context_miss": "warn",
    "manual_review_recommended": "warn",
    "mandatory_context_missing": "block",
}


def test_there_are_28_reason_codes_with_category_and_weight() -> None:
    assert dict(REASON_CODES) == CODES
    assert len(REASON_CODES) == 28


def test_there_are_13_risk_flags_with_their_severity() -> None:
    assert dict(RISK_FLAGS) == FLAGS
    assert len(RISK_FLAGS) == 13
    assert set(RISK_FLAGS.values()) == RISK_FLAG_SEVERITIES


def test_the_shorter_views_say_the_same() -> None:
    assert dict(REASON_WEIGHTS) == {name: weight for name, (_, weight) in CODES.items()}
    assert {name for name, (category, _) in CODES.items() if category == "exclude"} == EXCLUDE_CODES


@pytest.mark.parametrize("registry", [REASON_CODES, REASON_WEIGHTS, RISK_FLAGS])
def test_a_registry_cannot_be_changed(registry: Any) -> None:
    with pytest.raises(TypeError):
        registry["current_task"] = None


def test_a_strict_store_takes_everything_in_the_registries(tmp_path: Path) -> None:
    codes = [ReasonCodeEntry(name, 0.5) for name in sorted(CODES)]
    flags = [RiskFlagEntry(name, severity) for name, severity in sorted(FLAGS.items())]
    with RecallStore.open(tmp_path / "recall.db", strict=True) as store:
        store.upsert_pak(**pak())
        store.set_pak_reason_codes("p1", codes)
        store.set_pak_risk_flags("p1", flags)

        assert store.get_pak_reason_codes("p1") == codes
        assert store.get_pak_risk_flags("p1") == flags
