"""The Pak catalogue: what is known about each Pak, in one SQLite file.

A drop-in for tokenpak's recall store: `from recollect.paks import RecallStore`. The closed
registries of reason codes and risk flags are in `recollect.paks.registry`.
"""

from __future__ import annotations

from recollect.errors import UnknownPak
from recollect.model.pak import (
    LIST_LIMIT_DEFAULT,
    LIST_LIMIT_MAX,
    CheckReport,
    PakAnchorEntry,
    PakHit,
    PakListFilters,
    PakListResult,
    PakRelationEntry,
    PakRow,
    ReasonCodeEntry,
    RepairReport,
    RiskFlagEntry,
    UpsertResult,
)
from recollect.paks.database import as_catalogue
from recollect.paks.schema import SCHEMA_VERSION
from recollect.paks.store import RecallStore, open_recall_store
from recollect.paks.validate import RISK_FLAG_SEVERITIES
from recollect.settings import default_recall_db_path

__all__ = [
    "LIST_LIMIT_DEFAULT",
    "LIST_LIMIT_MAX",
    "RISK_FLAG_SEVERITIES",
    "SCHEMA_VERSION",
    "CheckReport",
    "PakAnchorEntry",
    "PakHit",
    "PakListFilters",
    "PakListResult",
    "PakRelationEntry",
    "PakRow",
    "ReasonCodeEntry",
    "RecallStore",
    "RepairReport",
    "RiskFlagEntry",
    "UnknownPak",
    "UpsertResult",
    "as_catalogue",
    "default_recall_db_path",
    "open_recall_store",
]
