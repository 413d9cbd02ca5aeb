"""What the hooks had to do with one call of a verb: who ran, who failed, who refused.

In: what the chains of its events came to. Out: what the answer says of it in `meta`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.hooks.chain import ChainResult, HookRun
    from recollect.hooks.decisions import Denied

__all__ = ["UNTOUCHED", "HookOutcome"]


@dataclass(frozen=True, slots=True)
class HookOutcome:
    """What the hooks of a verb did; false when none ran."""

    runs: tuple[HookRun, ...] = ()
    degraded: tuple[str, ...] = ()
    denied: Denied | None = None

    def __bool__(self) -> bool:
        return bool(self.runs)

    def and_then(self, result: ChainResult) -> HookOutcome:
        """Return the outcome with what one more chain came to."""
        return HookOutcome(
            self.runs + result.runs, self.degraded + result.degraded, self.denied or result.denied
        )

    def meta(self, verb: str) -> dict[str, Any]:
        """Return what an answer says of it."""
        found: dict[str, Any] = {"hooks": [run.to_dict() for run in self.runs]}
        if self.denied is not None:
            denial = {"reason": self.denied.reason, "code": self.denied.code}
            found["diagnostic"] = {f"pre_{verb}_denied": denial}
        return found


UNTOUCHED = HookOutcome()
