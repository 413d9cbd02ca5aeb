"""Who may read what: principals, scopes, gardens, quarantine, trust, the sanitizer, keys.

Rules only, as pure functions of their arguments; where the facts are kept is the stores' matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.on_demand import names_of

if TYPE_CHECKING:
    from recollect.model import PERMISSIONS, Garden, Member, Place, Principal
    from recollect.policy.keys import IssuedKey, KeyRow
    from recollect.policy.sanitizer import plain, risks
    from recollect.policy.view import View, view_of

__all__ = [
    "PERMISSIONS",
    "Garden",
    "IssuedKey",
    "KeyRow",
    "Member",
    "Place",
    "Principal",
    "View",
    "plain",
    "risks",
    "view_of",
]

__getattr__ = names_of(
    __name__,
    {
        "recollect.model": "PERMISSIONS Garden Member Place Principal",
        ".keys": "IssuedKey KeyRow",
        ".sanitizer": "plain risks",
        ".view": "View view_of",
    },
)
