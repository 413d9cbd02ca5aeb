"""The words of the product as frozen values. Standard library only; knows nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.on_demand import names_of

if TYPE_CHECKING:
    from recollect.model.access import (
        LOCAL,
        LOCAL_PRINCIPAL,
        PERMISSIONS,
        ROLES,
        SCOPES,
        Garden,
        Member,
        Permission,
        Place,
        Principal,
        Role,
        Scope,
        known_scope,
    )
    from recollect.model.answer import (
        Dropped,
        FrameResult,
        Match,
        PackageFlag,
        RecallResponse,
        RecallResult,
        ScoredBlock,
        Signals,
        canonical_json,
    )
    from recollect.model.explanation import RETURNED, UNKNOWN, Contribution, Explanation, Verb
    from recollect.model.frame import CachePolicy, FrameDefinition, FrameFilters, Weights
    from recollect.model.memory import (
        EXTERNAL,
        INSTRUCTION,
        WRITTEN,
        Memory,
        Remembered,
        Status,
        is_settled,
        name_key,
        words_of,
    )
    from recollect.model.receipt import (
        AnsweredBy,
        ItemState,
        Part,
        Receipt,
        ReceiptItem,
        ReceiptPage,
        text_digest,
    )
    from recollect.model.reports import (
        BackedUp,
        Examination,
        Forgotten,
        Ingested,
        IngestedItem,
        Looked,
        Repaired,
        Restored,
        Salvaged,
    )
    from recollect.model.request import (
        ON_CONFLICT,
        ForgetRequest,
        FrameRequest,
        IngestRequest,
        LinkRequest,
        ListRequest,
        OnConflict,
        RecallRequest,
        RememberRequest,
    )
    from recollect.model.version import Version, changed_fields, kept_fields, memory_of

__all__ = [
    "EXTERNAL",
    "INSTRUCTION",
    "LOCAL",
    "LOCAL_PRINCIPAL",
    "ON_CONFLICT",
    "PERMISSIONS",
    "RETURNED",
    "ROLES",
    "SCOPES",
    "UNKNOWN",
    "WRITTEN",
    "AnsweredBy",
    "BackedUp",
    "CachePolicy",
    "Contribution",
    "Dropped",
    "Examination",
    "Explanation",
    "ForgetRequest",
    "Forgotten",
    "FrameDefinition",
    "FrameFilters",
    "FrameRequest",
    "FrameResult",
    "Garden",
    "IngestRequest",
    "Ingested",
    "IngestedItem",
    "ItemState",
    "LinkRequest",
    "ListRequest",
    "Looked",
    "Match",
    "Member",
    "Memory",
    "OnConflict",
    "PackageFlag",
    "Part",
    "Permission",
    "Place",
    "Principal",
    "RecallRequest",
    "RecallResponse",
    "RecallResult",
    "Receipt",
    "ReceiptItem",
    "ReceiptPage",
    "RememberRequest",
    "Remembered",
    "Repaired",
    "Restored",
    "Role",
    "Salvaged",
    "Scope",
    "ScoredBlock",
    "Signals",
    "Status",
    "Verb",
    "Version",
    "Weights",
    "canonical_json",
    "changed_fields",
    "is_settled",
    "kept_fields",
    "known_scope",
    "memory_of",
    "name_key",
    "text_digest",
    "words_of",
]

__getattr__ = names_of(
    __name__,
    {
        ".access": "LOCAL LOCAL_PRINCIPAL PERMISSIONS ROLES SCOPES Garden Member Permission "
        "Place Principal Role Scope known_scope",
        ".answer": "Dropped FrameResult Match PackageFlag RecallResponse RecallResult "
        "ScoredBlock Signals canonical_json",
        ".explanation": "RETURNED UNKNOWN Contribution Explanation Verb",
        ".frame": "CachePolicy FrameDefinition FrameFilters Weights",
        ".memory": "EXTERNAL INSTRUCTION WRITTEN Memory Remembered Status is_settled name_key "
        "words_of",
        ".receipt": "AnsweredBy ItemState Part Receipt ReceiptItem ReceiptPage text_digest",
        ".reports": "BackedUp Examination Forgotten Ingested IngestedItem Looked Repaired "
        "Restored Salvaged",
        ".request": "ON_CONFLICT ForgetRequest FrameRequest IngestRequest LinkRequest "
        "ListRequest OnConflict RecallRequest RememberRequest",
        ".version": "Version changed_fields kept_fields memory_of",
    },
)
