"""Risk flags that describe a package as a whole: what was picked together, and what was not.

In: a few facts that `select` and `frame` know when they are done. Out: flags of the registry, the
loudest first. `PACKAGE_RULES` says in words when each is raised, `package_flags` in code.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from recollect.model import PackageFlag
from recollect.paks.registry import RISK_FLAGS
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.recall.pipeline import Trace

__all__ = ["LITTLE", "PACKAGE_RULES", "REDUCED_TO", "Package", "frame_package", "package_flags"]

# A package of which less than this share is left was reduced a lot.
REDUCED_TO = 0.1
# Below this the best that was found says little: a score of `select`, a confidence of `frame`.
LITTLE = 0.5

PACKAGE_RULES: Mapping[str, str] = MappingProxyType(
    {
        "mandatory_context_missing": "something that must be in the package is not: a candidate"
        " with the reason code mandatory (select), or a memory with a tag that the frame"
        " guarantees (frame) was left out",
        "large_context_reduction": "fewer than one in ten of the candidates are in the package",
        "low_confidence_plan": "the package is weak: no score reaches 0.5 (select), or the blocks'"
        " confidence is below 0.5 on average (frame)",
        "possible_context_miss": "something was asked and nothing in the package matches it, a"
        " source was down, or the budget cut what ranked above something that stayed",
        "cache_sensitive_ordering": "the order matters to a cache: a memory in the package has the"
        " reason code cache_ordering_candidate (select), or the frame keeps its answers (frame)",
        "mandatory_context_present": "all that must be in the package is, and there is some",
    }
)

_LOUDNESS = ("block", "warn", "info")


@dataclass(frozen=True, slots=True)
class Package:
    """What there is to know about a package.

    `strength` is the best score or the mean confidence, None for an empty package. `considered`
    counts what was in it before limits and budgets cut.
    """

    returned: int
    considered: int
    mandatory: int
    mandatory_missing: int
    asked: bool
    matched: int
    strength: float | None
    degraded: bool = False
    jumped: bool = False
    cached_order: bool = False


def package_flags(package: Package) -> tuple[PackageFlag, ...]:
    """Return the flags that hold, the loudest first, then by name."""
    strength = package.strength
    holds = {
        "mandatory_context_missing": package.mandatory_missing > 0,
        "mandatory_context_present": package.mandatory > 0 and package.mandatory_missing == 0,
        "possible_context_miss": (package.asked and package.matched == 0)
        or package.degraded
        or package.jumped,
        "low_confidence_plan": strength is not None and strength < LITTLE,
        "large_context_reduction": package.returned < package.considered * REDUCED_TO,
        "cache_sensitive_ordering": package.cached_order,
    }
    raised = [PackageFlag(name, RISK_FLAGS[name]) for name in PACKAGE_RULES if holds[name]]
    return tuple(sorted(raised, key=lambda flag: (_LOUDNESS.index(flag.severity), flag.risk_flag)))


def frame_package(trace: Trace) -> Package:
    """Return what there is to know about the text of a frame."""
    frame, index = trace.authorised.frame, trace.sources.index
    blocks = trace.packed.blocks
    inside = {block.pak_id for block in blocks}
    tagged = index.slots_tagged(frame.guarantees, trace.authorised.reach)
    must = set(index.pak_ids(tagged[trace.authorised.sight.binds(tagged)]))
    cut = sum(one.stage not in ("suppress", "window") for one in trace.dropped)
    kept = [one.pak_id in inside for one in trace.chosen.others]
    sure = [block.signals.confidence for block in blocks]
    return Package(
        returned=len(blocks),
        considered=len(blocks) + cut,
        mandatory=len(must & inside),
        mandatory_missing=len(must - inside),
        asked=trace.request.query is not None,
        matched=sum(block.signals.similarity > 0 for block in blocks),
        strength=sum(sure) / len(sure) if sure else None,
        degraded=bool(trace.degraded),
        # What fits comes first unless something that ranked higher did not.
        jumped=kept != sorted(kept, reverse=True),
        cached_order=frame.cache is not None and bool(blocks),
    )
