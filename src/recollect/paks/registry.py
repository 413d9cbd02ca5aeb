"""The closed registries: 28 reason codes and 13 risk flags, as literal data.

The catalogue stores any name unless it was opened with `strict=True`; what is here says what the
names mean, how a selector should weigh them, and which severity a flag is pinned to.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["EXCLUDE_CODES", "REASON_CODES", "REASON_WEIGHTS", "RISK_FLAGS", "ReasonCode"]


class ReasonCode(NamedTuple):
    """A registered reason: its category and the weight a selector should give it."""

    category: str
    weight: float


REASON_CODES: Mapping[str, ReasonCode] = MappingProxyType(
    {
        "current_task": ReasonCode("task", 1.0),
        "mandatory": ReasonCode("task", 1.0),
        "acceptance_criteria": ReasonCode("task", 0.9),
        "user_pinned": ReasonCode("task", 1.0),
        "agent_role_match": ReasonCode("match", 0.6),
        "task_type_match": ReasonCode("match", 0.6),
        "direct_file_match": ReasonCode("match", 0.8),
        "direct_test_match": ReasonCode("match", 0.8),
        "dependency_match": ReasonCode("match", 0.5),
        "workflow_relevant": ReasonCode("match", 0.6),
        "recently_modified": ReasonCode("recency", 0.4),
        "recent_failure_link": ReasonCode("recency", 0.9),
        "standard_applies": ReasonCode("authority", 0.9),
        "governance_constraint": ReasonCode("authority", 1.0),
        "risk_relevant": ReasonCode("authority", 0.8),
        "prior_success_pattern": ReasonCode("authority", 0.7),
        "compressed_summary_available": ReasonCode("shape", 0.4),
        "large_raw_context": ReasonCode("shape", 0.2),
        "available_on_request": ReasonCode("shape", 0.3),
        "stable_context": ReasonCode("shape", 0.5),
        "reusable_context": ReasonCode("shape", 0.5),
        "cache_ordering_candidate": ReasonCode("shape", 0.5),
        "low_task_match": ReasonCode("exclude", -1.0),
        "unrelated_domain": ReasonCode("exclude", -1.0),
        "stale_context": ReasonCode("exclude", -1.0),
        "duplicate_context": ReasonCode("exclude", -0.5),
        "excluded_by_budget": ReasonCode("exclude", -0.5),
        "excluded_by_policy": ReasonCode("exclude", -1.0),
    }
)

REASON_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {name: code.weight for name, code in REASON_CODES.items()}
)

EXCLUDE_CODES = frozenset(name for name, code in REASON_CODES.items() if code.category == "exclude")

RISK_FLAGS: Mapping[str, str] = MappingProxyType(
    {
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
)
