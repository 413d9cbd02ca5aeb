"""A selector written straight from the seed's pseudo-code: the calls of the catalogue, Pak by Pak.

In: a store with the calls that `tokenpak` and `recollect.paks` share. Out: ids and scores. It keeps
to the rules of `recollect.recall.select`, so that both must answer alike. Standard library only: it
also runs inside the environments of the peers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

__all__ = ["Straight"]

WEIGHTS = {
    "current_task": 1.0,
    "mandatory": 1.0,
    "acceptance_criteria": 0.9,
    "user_pinned": 1.0,
    "standard_applies": 0.9,
    "governance_constraint": 1.0,
    "risk_relevant": 0.8,
    "prior_success_pattern": 0.7,
    "agent_role_match": 0.6,
    "task_type_match": 0.6,
    "direct_file_match": 0.8,
    "direct_test_match": 0.8,
    "dependency_match": 0.5,
    "workflow_relevant": 0.6,
    "recently_modified": 0.4,
    "recent_failure_link": 0.9,
    "compressed_summary_available": 0.4,
    "large_raw_context": 0.2,
    "available_on_request": 0.3,
    "stable_context": 0.5,
    "reusable_context": 0.5,
    "cache_ordering_candidate": 0.5,
    "low_task_match": -1.0,
    "unrelated_domain": -1.0,
    "stale_context": -1.0,
    "duplicate_context": -0.5,
    "excluded_by_budget": -0.5,
    "excluded_by_policy": -1.0,
}


class Straight:
    """The selector over one store."""

    def __init__(self, store: Any, filters: Any) -> None:
        self._store = store
        self._filters = filters

    def select(
        self, text: str, project: str | None, *, limit: int, days: int, now: str
    ) -> list[tuple[str, float, frozenset[str]]]:
        """Return the best Paks of a query with their scores and severities."""
        hits = self._hits(text)
        rows = self._candidates(hits, project)
        asked_at = datetime.fromisoformat(now)
        scored = {}
        for pak_id, row in rows.items():
            score = hits.get(pak_id, 0.0)
            if project and row.project == project:
                score += 0.5
            age = (asked_at - datetime.fromisoformat(row.updated_at)).total_seconds()
            score += min(1.0, max(0.0, 1.0 - age / (days * 86_400.0)))
            for entry in self._store.get_pak_reason_codes(pak_id):
                weight = WEIGHTS.get(entry.reason_code, 0.0)
                score += weight if weight < 0 else weight * entry.weight
            flags = self._store.get_pak_risk_flags(pak_id)
            scored[pak_id] = (score, frozenset(flag.severity for flag in flags))
        best = sorted(
            self._collapsed(scored, rows).items(),
            key=lambda item: (item[1][0], rows[item[0]].updated_at, item[0]),
            reverse=True,
        )
        return [(pak_id, score, severities) for pak_id, (score, severities) in best[:limit]]

    def _hits(self, text: str) -> dict[str, float]:
        if not text:
            return {}
        found = self._store.conn.execute(
            "SELECT pak_id, rank FROM paks_fts WHERE paks_fts MATCH ? ORDER BY rank", (text,)
        ).fetchall()
        best = -found[0][1] if found else 1.0
        return {pak_id: -rank / best for pak_id, rank in found}

    def _candidates(self, hits: dict[str, float], project: str | None) -> dict[str, Any]:
        rows = {pak_id: self._store.get_pak(pak_id) for pak_id in hits}
        cursor = None
        while project:
            page = self._store.list_paks(self._filters(project=project, cursor=cursor))
            rows.update((row.pak_id, row) for row in page.items)
            cursor = page.next_cursor
            if cursor is None:
                break
        return rows

    def _collapsed(
        self, scored: dict[str, tuple[float, frozenset[str]]], rows: dict[str, Any]
    ) -> dict[str, tuple[float, frozenset[str]]]:
        newest: dict[str, str] = {}
        best: dict[str, float] = {}
        for pak_id, (score, _) in scored.items():
            content, other = rows[pak_id].content_hash, newest.get(rows[pak_id].content_hash)
            best[content] = max(score, best.get(content, score))
            if other is None or (rows[pak_id].updated_at, pak_id) > (rows[other].updated_at, other):
                newest[content] = pak_id
        return {pak_id: (best[content], scored[pak_id][1]) for content, pak_id in newest.items()}
