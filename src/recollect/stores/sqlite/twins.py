"""Second copies of what changes often or is small: for each table an index that holds its columns.

SQLite keeps an index in step whoever writes, so an edit by hand is never taken for damage; and its
own integrity check compares each row with it. Data only: SQL text, and which columns are twice.
"""

from __future__ import annotations

from typing import TypeAlias

__all__ = [
    "LIGHTER_TWINS",
    "TWINS",
    "TWINS_OF_USES",
    "TWINS_OF_VERSIONS",
    "TWIN_INDEXES",
    "itself",
    "twin_where",
]

# A row of the log that a commit leaves has a seal; those that triggers leave are here twice.
_ONLY = {
    "twin_commits": "seal IS NULL",
    "idx_memory_versions_successor": "superseded_by IS NOT NULL",
}

# Tables that are an index themselves, by their key.
_WITHOUT_ROWID = frozenset(
    {
        *("memory_edges", "memory_likenesses", "memory_disputes", "gardens", "garden_members"),
        *("access_keys", "source_trust", "memory_frames", "kept_answers", "kept_answer_rows"),
        *("memory_uses", "link_uses", "receipt_items"),
    }
)
_Twins: TypeAlias = dict[str, tuple[str, tuple[str, ...]]]

# Name of the index: table and columns. The columns that come first are in the order of arrival, or
# those that the table was indexed by anyway.
_FIRST: _Twins = {
    "twin_memories": (
        "memories",
        (
            *("row_id", "tenant", "owner", "scope", "team", "garden", "status"),
            *("reinforced", "last_reinforced"),
        ),
    ),
    "idx_paks_walk": ("paks", ("updated_at", "pak_id", "source_type", "authority", "created_at")),
    "twin_reason_codes": (
        "pak_reason_codes",
        ("pak_id", "reason_code", "weight", "created_at"),
    ),
    "twin_risk_flags": ("pak_risk_flags", ("pak_id", "risk_flag", "severity", "created_at")),
    "twin_anchors": ("pak_anchors", ("pak_id", "anchor_id", "source_path", "kind")),
    "twin_relations": (
        "pak_relations",
        ("pak_id", "related_pak_id", "relation_type", "created_at"),
    ),
    "idx_memory_edges_high": ("memory_edges", ("high", "low", "weight", "automatic")),
    "idx_memory_likenesses_other": ("memory_likenesses", ("other", "row_id", "closeness")),
    "idx_memory_disputes_high": (
        "memory_disputes",
        ("high", "low", "note", "is_open", "created_at"),
    ),
    "twin_gardens": (
        "gardens",
        ("tenant", "slug", "name", "scope", "team", "tier", "created_at"),
    ),
    "idx_garden_members_slug": ("garden_members", ("tenant", "slug", "principal", "role")),
    "twin_keys": (
        "access_keys",
        (
            *("prefix", "digest", "tenant", "principal", "teams", "permissions", "name"),
            *("created_at", "expires_at", "revoked_at"),
        ),
    ),
    "twin_trust": ("source_trust", ("tenant", "source", "trust")),
    "twin_frames": ("memory_frames", ("tenant", "name", "definition", "extends")),
    "twin_commits": (
        "commits",
        ("revision", "commit_id", "at", "size", "touched", "gone", "edges", "events"),
    ),
    "twin_events": ("memory_events", ("event", "changed")),
    "twin_state": (
        "engine_state",
        (
            *("id", "version", "store_id", "revision", "model_id", "dimension"),
            *("vector_slot", "next_model_id", "next_dimension", "active_hours", "seen_at"),
            "commit_id",
        ),
    ),
}

_OF_USES: _Twins = {
    "twin_uses": (
        "memory_uses",
        ("tenant", "principal", "row_id", "reinforced", "last_reinforced"),
    ),
    "twin_link_uses": ("link_uses", ("tenant", "principal", "low", "high", "uses")),
}
_OF_VERSIONS: _Twins = {
    "idx_memory_versions_successor": ("memory_versions", ("superseded_by", "row_id", "number")),
}
TWIN_INDEXES = {**_FIRST, **_OF_USES, **_OF_VERSIONS}


def twin_where(name: str) -> str:
    """Return the condition of the rows that an index holds a second time, as SQL."""
    return f" WHERE {_ONLY[name]}" if name in _ONLY else ""


def itself(table: str) -> str:
    """Return what makes SQLite read a table and not a copy that is an index.

    Of a table without row ids it reads an index that has all columns even where NOT INDEXED stands.
    """
    is_index = table in _WITHOUT_ROWID
    return f"INDEXED BY sqlite_autoindex_{table}_1" if is_index else "NOT INDEXED"


def _made(name: str, where: str = "") -> tuple[str, str]:
    table, columns = TWIN_INDEXES[name]
    return (
        f"DROP INDEX IF EXISTS {name}",
        f"CREATE INDEX {name} ON {table} ({', '.join(columns)}){where}",
    )


TWINS = tuple(statement for name in _FIRST for statement in _made(name))
TWINS_OF_USES = tuple(statement for name in _OF_USES for statement in _made(name))
TWINS_OF_VERSIONS = tuple(
    statement for name in _OF_VERSIONS for statement in _made(name, twin_where(name))
)
# Each index that a write has to keep in step is a page or two of every commit.
LIGHTER_TWINS = (
    "DROP INDEX IF EXISTS twin_paks",
    *_made("idx_paks_walk"),
    "ALTER TABLE commits ADD COLUMN seal INTEGER",
    *_made("twin_commits", twin_where("twin_commits")),
)
