"""Triggers that leave a row in the log for each change that comes past `commit`.

Whoever edits the file with the catalogue, the origin's own program or plain SQL is heard of like
any commit: the store moves on by one, under a name that is drawn at random, so that two copies of a
file never have a head in common once they part. While a commit is under way they only take notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = [
    "EDIT_OF_MEMORIES",
    "LOG_TRIGGERS",
    "NOTING",
    "TRIGGERS_OF_FULLTEXT",
    "TRIGGERS_OF_USES",
    "TRIGGERS_OF_VERSIONS",
]

_COMMITTING = "(SELECT committing FROM engine_state)"
_OF_PAK = "(SELECT row_id FROM memories WHERE pak_id = {end}.pak_id)"
_PAIR_STANDS = (
    "EXISTS (SELECT 1 FROM memories WHERE row_id = {end}.low)"
    " AND EXISTS (SELECT 1 FROM memories WHERE row_id = {end}.high)"
)
# What answers are made of beside memories and links: the log only says that it changed.
_BESIDE = ("memory_disputes", "memory_frames", "gardens", "garden_members", "source_trust")
_EVENTS = {"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD"}
# With foreign keys off, as most tools have them, nothing of a deleted memory would go with it.
_HANG_ON = (
    ("memory_edges", "low"),
    ("memory_edges", "high"),
    ("memory_likenesses", "row_id"),
    ("memory_likenesses", "other"),
    ("memory_disputes", "low"),
    ("memory_disputes", "high"),
)


def _trigger(event: str, table: str, when: str, *statements: str, name: str = "log") -> str:
    body = "".join(f"    {statement};\n" for statement in statements)
    return (
        f"CREATE TRIGGER {name}_{table}_{event.lower()} AFTER {event} ON {table}\n"
        f"WHEN {when}\nBEGIN\n{body}END"
    )


def _past(event: str, table: str, column: str, listed: str, *, size: int, when: str = "1") -> str:
    """Log a change that came past any commit."""
    return _trigger(
        event,
        table,
        f"NOT {_COMMITTING} AND {when}",
        "UPDATE engine_state SET revision = revision + 1, commit_id = lower(hex(randomblob(16)))",
        f"INSERT INTO commits (revision, commit_id, size, {column})"
        f" SELECT revision, commit_id, {size}, {listed} FROM engine_state",
    )


def _inside(event: str, table: str, row_id: str, *, gone: bool, when: str = "1") -> str:
    """Note for the commit under way what it may not know of."""
    note = f"INSERT INTO commit_notes (row_id, gone) VALUES ({row_id}, {int(gone)})"
    return _trigger(event, table, f"{_COMMITTING} AND {when}", note, name="note")


def _of_paks() -> tuple[str, ...]:
    """The row that a memory has in the catalogue was edited, replaced or deleted."""
    of_new = _OF_PAK.format(end="NEW")
    listed, is_memory = f"'[' || {of_new} || ']'", f"{of_new} IS NOT NULL"
    return (
        _past("INSERT", "paks", "touched", listed, size=1, when=is_memory),
        _past("UPDATE", "paks", "touched", listed, size=1, when=is_memory),
        _inside("UPDATE", "paks", of_new, gone=False, when=is_memory),
        _trigger(
            "DELETE",
            "paks",
            f"{_OF_PAK.format(end='OLD')} IS NOT NULL",
            "DELETE FROM memories WHERE pak_id = OLD.pak_id",
            name="clear",
        ),
    )


def _clearing(hanging: Sequence[tuple[str, str]]) -> str:
    cleared = (f"DELETE FROM {table} WHERE {end} = OLD.row_id" for table, end in hanging)
    return _trigger("DELETE", "memories", f"NOT {_COMMITTING}", *cleared, name="clear")


def _of_memories() -> tuple[str, ...]:
    return (
        _past("INSERT", "memories", "touched", "'[' || NEW.row_id || ']'", size=1),
        _past("UPDATE", "memories", "touched", "'[' || NEW.row_id || ']'", size=1),
        _past("DELETE", "memories", "gone", "'[' || OLD.row_id || ']'", size=1),
        _inside("DELETE", "memories", "OLD.row_id", gone=True),
        _clearing(_HANG_ON),
    )


def _of_links() -> tuple[str, ...]:
    """A link was edited; those that go with a memory are no change of their own."""
    return tuple(
        _past(
            event,
            "memory_edges",
            "edges",
            f"'[' || {end}.low || ',' || {end}.high || ']'",
            size=2,
            when=_PAIR_STANDS.format(end=end),
        )
        for event, end in _EVENTS.items()
    )


def _of_what_is_beside() -> tuple[str, ...]:
    return tuple(
        _past(event, table, "touched", "'[]'", size=0) for table in _BESIDE for event in _EVENTS
    )


def _of_uses(table: str, stands: str) -> Iterator[str]:
    """Somebody's uses were edited; those that go with a memory or a link are no change."""
    for event, end in _EVENTS.items():
        who = f"json_array('used ' || json_array({end}.tenant, {end}.principal))"
        yield _past(event, table, "events", who, size=0, when=stands.format(end=end))


_USED_STANDS = "EXISTS (SELECT 1 FROM memories WHERE row_id = {end}.row_id)"
_USED_LINK_STANDS = (
    "EXISTS (SELECT 1 FROM memory_edges WHERE low = {end}.low AND high = {end}.high)"
)
_USED = (("memory_uses", "row_id"), ("link_uses", "low"), ("link_uses", "high"))
# Once each principal has uses of its own: they are followed, and hang on memories and links.
TRIGGERS_OF_USES = (
    *_of_uses("memory_uses", _USED_STANDS),
    *_of_uses("link_uses", _USED_LINK_STANDS),
    "DROP TRIGGER clear_memories_delete",
    _clearing((*_HANG_ON, *_USED)),
    _trigger(
        "DELETE",
        "memory_edges",
        f"NOT {_COMMITTING}",
        "DELETE FROM link_uses WHERE low = OLD.low AND high = OLD.high",
        name="clear",
    ),
)

# Versions hang on their memory too.
TRIGGERS_OF_VERSIONS = (
    "DROP TRIGGER clear_memories_delete",
    _clearing((*_HANG_ON, *_USED, ("memory_versions", "row_id"))),
)

# An edit past any commit, once rows have seals; that a seal is taken away is part of the edit.
EDIT_OF_MEMORIES = _past(
    "UPDATE",
    "memories",
    "touched",
    "'[' || NEW.row_id || ']'",
    size=1,
    when="NEW.seal IS OLD.seal AND NEW.vector_seal_0 IS OLD.vector_seal_0"
    " AND NEW.vector_seal_1 IS OLD.vector_seal_1",
)

# Each row of full text has its texts in this table of FTS5's, and goes from there, by whichever
# statement: whoever deletes words is noted, also where there is no memory of them.
TRIGGERS_OF_FULLTEXT = tuple(
    _trigger(
        event,
        "paks_fts_content",
        "(SELECT unlooked FROM engine_state) IS NOT '?'",
        "UPDATE engine_state SET unlooked = '?'",
        name="unlooked",
    )
    for event in ("DELETE", "UPDATE")
)
NOTING = ("unlooked_paks_fts_content_delete", "unlooked_paks_fts_content_update")

LOG_TRIGGERS = (*_of_paks(), *_of_memories(), *_of_links(), *_of_what_is_beside())
