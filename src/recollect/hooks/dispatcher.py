"""The one loop around every verb that hooks have a say in: ask, do, tell, report.

In: a row of `recollect.hooks.verbs`, what a caller wants, how the verb checks that, and what does
it. Out: what came of it, with `meta.hooks` when a hook had a part in it. Nothing that does a verb
knows of hooks: it gets the request as they left it, and they are asked while no lock is held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from recollect.errors import HookDenied, InvalidInput
from recollect.hooks.outcome import UNTOUCHED
from recollect.model import LOCAL_PRINCIPAL
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.hooks.decisions import Denied
    from recollect.hooks.handle import Hooks
    from recollect.hooks.outcome import HookOutcome
    from recollect.hooks.payload import Shape
    from recollect.hooks.verbs import HookedVerb
    from recollect.model import Principal

__all__ = ["Dispatcher", "HookedRequest"]

Words = TypeVar("Words")
Request = TypeVar("Request")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class HookedRequest(Generic[Request]):
    """A request as the hooks left it, and what they had to do with it."""

    request: Request
    outcome: HookOutcome = UNTOUCHED


class Dispatcher:
    """Runs verbs of one principal with hooks around them; `hooks` is the handle that users see."""

    def __init__(self, hooks: Hooks, who: Principal = LOCAL_PRINCIPAL) -> None:
        self.hooks = hooks
        self._who = who

    def acting_for(self, who: Principal) -> Dispatcher:
        """Return what runs the verbs of another principal, with the same hooks."""
        return Dispatcher(self.hooks, who)

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
        hooked = self._ask(verb, words, check)
        denied = hooked.outcome.denied
        if denied is None:
            return self.finish(verb, hooked, act(hooked.request))
        if refuse is None:
            raise HookDenied(f"pre_{verb.name}", denied.reason, denied.code)
        return _reported(verb, hooked, refuse(hooked.request, denied))

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
        hooked = self._ask(verb, words, check)
        denied = hooked.outcome.denied
        if denied is None:
            return act(hooked.request)
        return refuse(hooked.request, denied)

    def ask_each(
        self,
        verb: HookedVerb[Request, Any],
        items: Iterable[tuple[str, Words]],
        *,
        check: Callable[[Words], Request],
    ) -> Iterator[HookedRequest[Request]]:
        """Yield many requests as the hooks leave them; walk to the end before the first is done.

        Each comes with where it stands; what is wrong with it, or denied, is told with that.
        """
        return (self._ask_one(verb, where, words, check) for where, words in items)

    def finish(
        self, verb: HookedVerb[Request, Answer], hooked: HookedRequest[Request], answer: Answer
    ) -> Answer:
        """Tell what was done, and return its answer with what hooks had to do with it."""
        if verb.after is not None and self.hooks.listens(verb.after.event):
            done = verb.describe_after(hooked.request, answer)
            if done is not None:
                self.hooks.after(verb.after.payload(done, self._who))
        return _reported(verb, hooked, answer)

    def finish_each(
        self,
        verb: HookedVerb[Request, Answer],
        hooked: Iterable[HookedRequest[Request]],
        answers: Iterable[Answer],
    ) -> list[Answer]:
        """Do the same for many, each as soon as its answer is there."""
        # Strict also draws what comes after the last answer, so that the work is done to its end.
        pairs = zip(hooked, answers, strict=True)
        return [self.finish(verb, request, answer) for request, answer in pairs]

    def _ask_one(
        self,
        verb: HookedVerb[Request, Any],
        where: str,
        words: Words,
        check: Callable[[Words], Request],
    ) -> HookedRequest[Request]:
        try:
            hooked = self._ask(verb, words, check)
        except InvalidInput as error:
            raise InvalidInput(f"{where}: {error.message}", hint=error.hint) from error
        denied = hooked.outcome.denied
        if denied is not None:
            raise HookDenied(f"pre_{verb.name}", denied.reason, denied.code, where=where)
        return hooked

    def _ask(
        self, verb: HookedVerb[Request, Any], words: Words, check: Callable[[Words], Request]
    ) -> HookedRequest[Request]:
        request, outcome = check(words), UNTOUCHED
        for shape in verb.before:
            if outcome.denied is None and self.hooks.listens(shape.event):
                change = _Change(verb, shape, request, check)
                payload = shape.payload(verb.describe_before(request), self._who)
                result = self.hooks.before(payload, change)
                outcome = outcome.and_then(result)
                request = change.request if result.delta else request
        return HookedRequest(request, outcome)


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


def _reported(verb: HookedVerb[Any, Answer], hooked: HookedRequest[Any], answer: Answer) -> Answer:
    return verb.report(answer, hooked.outcome) if hooked.outcome else answer
