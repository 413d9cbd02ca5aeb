"""What a request may look through: the view narrowed by what is asked, as masks over the index.

In: a checked request, its frame, the time, and what the principal sees. Out: `Authorised`, which
every later stage works inside of. Nothing that a request says can widen a view. A filter of
`recall` has its place here and nowhere else in the flow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAllowed
from recollect.index.selection import Where
from recollect.model import INSTRUCTION, Dropped, Place
from recollect.model.filters import all_of, is_called, parse_filter, within
from recollect.policy.permit import is_of_self, known_scope, no_garden
from recollect.policy.view import QUARANTINED
from recollect.ports.memories import RowFilter
from recollect.recall.ranges import NO_TIME, time_asked
from recollect.recall.times import day_of
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.index.selection import Selection
    from recollect.model import FrameDefinition, RecallRequest
    from recollect.model.filters import Filter
    from recollect.policy.view import View
    from recollect.recall.ranges import TimeAsked
    from recollect.recall.sight import Sight

__all__ = [
    "Authorised",
    "Channel",
    "Moment",
    "asked_of",
    "authorise",
    "conditions",
    "effective_confidence",
    "listed",
    "mask_of",
    "reach_of",
]

Channel = Literal["memories", "instructions"]
Mask = NDArray[np.bool_]
Worth = NDArray[np.float64] | None

_EVERY = slice(None)
# What of a request makes a filter; nearly always nothing does.
_asked = attrgetter("thread", "speaker", "filter", "since", "until")
_NOTHING_ASKED = (None,) * 5


@dataclass(frozen=True, slots=True)
class Moment:
    """When something is asked, by both clocks."""

    now: float
    active_hours: float


@dataclass(frozen=True, slots=True, eq=False)
class Authorised:
    """A request with all that it may look at.

    `selection` is what is looked through, `reach` what links may reach: the same but for the
    frame's window. `promised` are the slots of what the frame guarantees. `channel` is what is
    looked for: memories, or instructions. `left_out` is what a window of time took away, counted.
    `asked` is what the question itself says about time.
    """

    request: RecallRequest
    frame: FrameDefinition
    moment: Moment
    channel: Channel
    sight: Sight
    selection: Selection
    reach: Selection
    promised: NDArray[np.int64]
    worth: Worth = None
    left_out: tuple[Dropped, ...] = ()
    asked: TimeAsked = NO_TIME

    @property
    def diversity(self) -> float | None:
        """How far novelty counts; 1 where one entity is asked for and nothing was said."""
        request = self.request
        return (
            1.0 if request.diversity is None and request.entity is not None else request.diversity
        )


def authorise(
    request: RecallRequest,
    frame: FrameDefinition,
    *,
    moment: Moment,
    sight: Sight,
    worth: Worth = None,
    channel: Channel = "memories",
) -> Authorised:
    """Narrow what the principal sees to what is asked; `worth` scales the confidence of slots."""
    sight = _narrowed(request, sight)
    if channel == "instructions" or any(map(is_of_self, _tags_asked_for(request, frame))):
        sight = sight.bound()
    among = mask_of(request, sight, worth)
    where = reach_of(request, frame, channel, with_quarantined=sight.view.with_quarantined)
    tree = asked_of(request)
    reach = selection = sight.select(where, among=among, tree=tree)
    left_out = _outside(request, reach, sight, where, among)
    window, recent = frame.filters.search_window_hours, where
    if window is not None:
        recent = replace(where, reinforced_after=moment.active_hours - window)
        selection = sight.select(recent, among=among, tree=tree)
        reason = (
            f"not used in the last {window:g} active hours, which is all that {frame.name} sees"
        )
        left_out = (*left_out, *_counted(reach.count - selection.count, reason))
    promised = np.empty(0, np.int64)
    if frame.guarantees:
        tagged = sight.index.slots_tagged(frame.guarantees, selection)
        promised = tagged[sight.binds(tagged)]
    asked = _time_asked(request, moment, channel)
    if asked.range is not None:
        inside = all_of((tree, within(asked.range.since, asked.range.until)))
        before = selection.count
        reach = _with(promised, sight.select(where, among=among, tree=inside), where, sight)
        selection = reach
        if window is not None:
            selection = _with(
                promised, sight.select(recent, among=among, tree=inside), recent, sight
            )
        reason = f"not from the time asked for, {asked.range.words}"
        left_out = (*left_out, *_counted(before - selection.count, reason))
    return Authorised(
        request, frame, moment, channel, sight, selection, reach, promised, worth, left_out, asked
    )


def _time_asked(request: RecallRequest, moment: Moment, channel: Channel) -> TimeAsked:
    """Return what a question says about time; an instruction holds whenever it was given."""
    if request.query is None:
        return NO_TIME
    asked = time_asked(request.query, day_of(moment.now))
    if channel == "memories" or asked is NO_TIME:
        return asked
    return replace(asked, range=None, order=None)


def _with(promised: NDArray[np.int64], inside: Selection, where: Where, sight: Sight) -> Selection:
    """Return a selection with what a frame guarantees, whenever that is from."""
    if inside.mask[promised].all():
        return inside
    mask = inside.mask.copy()
    mask[promised] = True
    return sight.select(where, among=mask)


def asked_of(request: RecallRequest, *, whenever: bool = False) -> Filter | None:
    """Return the filter that a request comes to; `whenever`, but for its window of time."""
    if _asked(request) == _NOTHING_ASKED:
        return None
    return all_of(
        (
            is_called("thread", request.thread),
            is_called("speaker", request.speaker),
            None if request.filter is None else parse_filter(request.filter),
            None if whenever else within(request.since, request.until),
        )
    )


def _outside(
    request: RecallRequest, reach: Selection, sight: Sight, where: Where, among: Mask | None
) -> tuple[Dropped, ...]:
    """Return how many a request's own window of time left out, in words and as a number."""
    if request.since is None and request.until is None:
        return ()
    whenever = sight.select(where, among=among, tree=asked_of(request, whenever=True))
    ends = (("since", request.since), ("until", request.until))
    asked = " ".join(f"{name} {at}" for name, at in ends if at is not None)
    return _counted(whenever.count - reach.count, f"not from the time asked for, {asked}")


def _counted(count: int, reason: str) -> tuple[Dropped, ...]:
    return (Dropped("", "window", reason, count),) if count else ()


def listed(
    request: RecallRequest, sight: Sight, worth: Callable[[], Worth]
) -> tuple[Sight, Selection]:
    """Return the same for a listing, which shows also what is archived, and instructions.

    `worth` is asked for if anything depends on it.
    """
    sight = _narrowed(request, sight)
    if any(map(is_of_self, request.tags or ())):
        sight = sight.bound()
    where = Where(active_only=False, project=request.project, narrow_tags=tuple(request.tags or ()))
    among = mask_of(request, sight, None if request.min_confidence is None else worth())
    return sight, sight.select(where, among=among, tree=asked_of(request))


def reach_of(
    request: RecallRequest, frame: FrameDefinition, channel: Channel, *, with_quarantined: bool
) -> Where:
    """Return what a memory must fulfil to be reached by a request, however old it is."""
    orders = channel == "instructions"
    return Where(
        statuses=("active", QUARANTINED) if with_quarantined else ("active",),
        project=request.project,
        tag_patterns=frame.filters.tag_patterns,
        narrow_tags=tuple(request.tags or ()),
        categories=(INSTRUCTION,) if orders else frame.filters.categories,
        without_category=None if orders else INSTRUCTION,
        current_only=True,
    )


def _tags_asked_for(request: RecallRequest, frame: FrameDefinition) -> tuple[str, ...]:
    return (*frame.filters.tag_patterns, *(request.tags or ()))


def conditions(request: RecallRequest) -> dict[str, Any]:
    """Return what a request asks for besides what a `Where` can say, by name."""
    given = ((name, getattr(request, name)) for name in _CONDITIONS)
    return {name: value for name, value in given if value is not None}


def effective_confidence(
    sight: Sight, worth: Worth, slots: NDArray[np.int64] | slice = _EVERY
) -> NDArray[np.float64]:
    """Return how sure we are of slots: as it was said, times our trust and the garden's tier.

    Trust is applied here and nowhere else: filters, scores and disputes go by the same number.
    """
    said: NDArray[np.float64] = sight.index.column("confidence")[slots]
    return said if worth is None else said * worth[slots]


def mask_of(request: RecallRequest, sight: Sight, worth: Worth) -> Mask | None:
    """Return which of all slots fulfil what a `Where` and a filter cannot say; None for all."""
    masks = [_CONDITIONS[name](value, sight, worth) for name, value in conditions(request).items()]
    return np.logical_and.reduce(masks) if masks else None


def _stored(filter_for: Callable[[str], RowFilter]) -> Callable[[Any, Sight, Worth], Mask]:
    """Return the mask of a condition that the store knows and the index does not."""

    def mask(value: str, sight: Sight, _worth: Worth) -> Mask:
        rows = sight.store.memories.rows(filter_for(value))
        said = np.zeros(sight.index.size, np.bool_)
        said[sight.index.slots_of_rows(rows)] = True
        return said

    return mask


def _sure_enough(least: float, sight: Sight, worth: Worth) -> Mask:
    sure: Mask = effective_confidence(sight, worth) >= least
    return sure


_CONDITIONS: Mapping[str, Callable[[Any, Sight, Worth], Mask]] = MappingProxyType(
    {
        "entity": _stored(lambda name: RowFilter(entity=name)),
        "relation": _stored(lambda name: RowFilter(relation=name)),
        "source": _stored(lambda name: RowFilter(source=name)),
        "min_confidence": _sure_enough,
    }
)


def _narrowed(request: RecallRequest, sight: Sight) -> Sight:
    """Return no more than was there before: what a request says can only take away."""
    view = sight.view
    if request.scope is not None:
        view = view.narrowed(scope=known_scope(request.scope))
    if request.garden is not None:
        view = view.narrowed(garden=_known_garden(request.garden, sight))
    if request.include_quarantined:
        view = replace(_moderator(view), with_quarantined=True)
    return sight if view is sight.view else replace(sight, view=view)


def _known_garden(slug: str, sight: Sight) -> str:
    view = sight.view
    found = sight.store.access.gardens(view.tenant, slug=slug) if view.role_in(slug) else {}
    garden = found.get(slug)
    if garden is None or not view.allows(
        Place(view.tenant, view.principal, garden.scope, garden.team, slug)
    ):
        raise no_garden(slug)
    return slug


def _moderator(view: View) -> View:
    if view.moderates_all or any(role == "moderator" for _, role in view.roles):
        return view
    raise NotAllowed(
        f"{view.principal} may not see what is in quarantine.",
        hint="leave include_quarantined out; it is for moderators.",
    )
