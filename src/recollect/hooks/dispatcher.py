"""The one loop around every verb that hooks have a say in: ask, do, tell, report.

In: a row of `recollect.hooks.verbs`, what a caller wants, how the verb checks that, and what does
it. Out: what came of it, with `meta.hooks` when a hook had a part in it. Nothing that does a verb
knows of hooks: it gets the request as they left it, and they are asked while no lock is held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from recollect import check
from recollect.errors import InvalidInput
from recollect.hooks.chain import HookRun
from recollect.hooks.decisions import Denied
from recollect.hooks.errors import HookDenied
from recollect.hooks.handle import Hooks
from recollect.hooks.outcome import UNTOUCHED, HookOutcome
from recollect.hooks.payload import Shape
from recollect.hooks.verbs import LINK, REMEMBER, HookedVerb
from recollect.model import LinkRequest, Memory, Remembered, RememberRequest

__all__ = ["Dispatcher", "Heard", "Touch"]

Words = TypeVar("Words")
Request = TypeVar("Request")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Heard(Generic[Request]):
    """A request as the hooks left it, and what they had to do with it."""

    request: Request
    outcome: HookOutcome = UNTOUCHED


@dataclass(frozen=True, slots=True)
class Touch:
    """What the hooks made of a text that is to be stored; `delta` as arguments."""

    outcome: HookOutcome = UNTOUCHED
    delta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> tuple[HookRun, ...]:
        """What each hook did."""
        return self.outcome.runs

    def report(self) -> dict[str, Any]:
        """Return what the report of a write says of it."""
        return {**self.outcome.meta("remember"), "degraded": list(self.outcome.degraded)}


class Dispatcher:
    """Runs verbs with their hooks around them; `hooks` is the handle that users see."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks

    def run(
        self,
        verb: HookedVerb[Request, Answer],
        words: Words,
        *,
        check: Callable[[Words], Request],
        act: Callable[[Request], Answer],
        refuse: Callable[[Request, Denied], Answer] | None = None,
    ) -> Answer:
        """Do what a caller wants, as the hooks leave it; without hooks, `act` on what was checked.

        A denied request is answered by `refuse`; without one, `HookDenied` is raised.
        """
        if self.hooks.is_idle:
            return act(check(words))
        heard = self._ask(verb, words, check)
        denied = heard.outcome.denied
        if denied is None:
            return self.finish(verb, heard, act(heard.request))
        if refuse is None:
            raise HookDenied(f"pre_{verb.name}", denied.reason, denied.code)
        return _reported(verb, heard, refuse(heard.request, denied))

    def explain(
        self,
        verb: HookedVerb[Request, Any],
        words: Words,
        *,
        check: Callable[[Words], Request],
        act: Callable[[Request], Answer],
        refuse: Callable[[Request, Denied], Answer],
    ) -> Answer:
        """Say what would become of a request: hooks are asked as by the verb, and told nothing."""
        heard = self._ask(verb, words, check)
        denied = heard.outcome.denied
        if denied is None:
            return act(heard.request)
        return refuse(heard.request, denied)

    def ask_each(
        self,
        verb: HookedVerb[Request, Any],
        items: Iterable[tuple[str, Words]],
        *,
        check: Callable[[Words], Request],
    ) -> list[Heard[Request]]:
        """Return many requests as the hooks leave them, before anything is done about the first.

        Each comes with where it stands; what is wrong with it, or denied, is told with that.
        """
        return [self._ask_one(verb, where, words, check) for where, words in items]

    def finish(
        self, verb: HookedVerb[Request, Answer], heard: Heard[Request], answer: Answer
    ) -> Answer:
        """Tell what was done, and return its answer with what hooks had to do with it."""
        if verb.after is not None and self.hooks.listens(verb.after.event):
            told = verb.told(heard.request, answer)
            if told is not None:
                self.hooks.after(verb.after.payload(told))
        return _reported(verb, heard, answer)

    def finish_each(
        self,
        verb: HookedVerb[Request, Answer],
        heard: Iterable[Heard[Request]],
        answers: Iterable[Answer],
    ) -> list[Answer]:
        """Do the same for many, each as soon as its answer is there."""
        pairs = zip(heard, answers, strict=True)
        return [self.finish(verb, request, answer) for request, answer in pairs]

    def remember(self, memory: Memory) -> Touch:
        """Return what the hooks make of a text that is to be stored."""
        (shape,) = REMEMBER.before
        if not self.hooks.listens(shape.event):
            return Touch()
        result = self.hooks.before(shape.payload(memory))
        if result.denied is not None:
            raise HookDenied(shape.event.value, result.denied.reason, result.denied.code)
        return Touch(UNTOUCHED.and_then(result), shape.arguments(result.delta))

    def remembered(self, memories: Sequence[Memory], reports: Sequence[Remembered]) -> None:
        """Tell of texts that were stored."""
        for memory, report in zip(memories, reports, strict=True):
            self.finish(REMEMBER, Heard(RememberRequest({}, memory)), report)

    def before_link(self, pak_id: str, other: str, weight: float) -> float:
        """Return the weight that the hooks give a link, unless one objects."""
        wanted = LinkRequest(pak_id, other, weight)
        return self._ask_one(LINK, "", wanted, checked_link).request.weight

    def linked(self, pak_id: str, other: str, weight: float) -> None:
        """Tell of a link that was made."""
        self.finish(LINK, Heard(LinkRequest(pak_id, other, weight)), None)

    def link(self, pak_id: str, other: str, weight: float, join: Callable[[float], None]) -> None:
        """Join two memories, unless a hook objects."""
        weight = self.before_link(pak_id, other, weight)
        join(weight)
        self.linked(pak_id, other, weight)

    def _ask_one(
        self,
        verb: HookedVerb[Request, Any],
        where: str,
        words: Words,
        check: Callable[[Words], Request],
    ) -> Heard[Request]:
        try:
            heard = self._ask(verb, words, check)
        except InvalidInput as error:
            raise InvalidInput(f"{where}: {error.message}", hint=error.hint) from error
        denied = heard.outcome.denied
        if denied is not None:
            raise HookDenied(f"pre_{verb.name}", denied.reason, denied.code, where=where)
        return heard

    def _ask(
        self, verb: HookedVerb[Request, Any], words: Words, check: Callable[[Words], Request]
    ) -> Heard[Request]:
        request, outcome = check(words), UNTOUCHED
        for shape in verb.before:
            if outcome.denied is None and self.hooks.listens(shape.event):
                change = _Change(verb, shape, request, check)
                result = self.hooks.before(shape.payload(verb.described(request)), change)
                outcome = outcome.and_then(result)
                request = change.request if result.delta else request
        return Heard(request, outcome)


def checked_link(wanted: LinkRequest) -> LinkRequest:
    """Return a link whose weight it may have."""
    return replace(wanted, weight=check.positive_share("weight", wanted.weight))


class _Change(Generic[Request]):
    """A request with what hooks changed so far, checked like a caller's words each time."""

    def __init__(
        self,
        verb: HookedVerb[Request, Any],
        shape: Shape,
        request: Request,
        check: Callable[[Any], Request],
    ) -> None:
        self._verb, self._shape, self._check = verb, shape, check
        self._original = self.request = request

    def __call__(self, delta: Mapping[str, Any]) -> None:
        changes = self._shape.arguments(delta)
        self.request = self._check(self._verb.apply(self._original, changes))


def _reported(verb: HookedVerb[Any, Answer], heard: Heard[Any], answer: Answer) -> Answer:
    return verb.report(answer, heard.outcome) if heard.outcome else answer
