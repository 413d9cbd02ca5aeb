"""What a hook may decide, and what a recall makes of it.

In: a reply off the wire, or what a function returned. Out: `Allow`, `Modify`, `Denied` or
`AskUser`. `PreRecallOutcome` is what the first chain of a recall comes to: `Allow`, `Modified` or
`Denied`; whichever it is, it can be asked for the query, the namespace and the k to go on with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from recollect.hooks.failure import Failure, HookFailed
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.hooks.chain import ChainResult
    from recollect.hooks.payload import Shape

__all__ = [
    "Allow",
    "AskUser",
    "Decision",
    "Denied",
    "Modified",
    "Modify",
    "PreRecallOutcome",
    "decision_of",
]

_DENIED_CODE = 403
_REASON_CHARS = 2000


class PreRecallOutcome:
    """What `apply_pre_recall_expand` comes to.

    `result` tells of the hooks that ran, None when there were none; it is no part of equality.
    """

    result: ChainResult | None = None

    def query(self, original: str) -> str:
        """Return the query to go on with."""
        return original

    def namespace(self, original: str) -> str:
        """Return the namespace to go on with."""
        return original

    def k(self, original: int) -> int:
        """Return how many results to go on with."""
        return original

    def is_denied(self) -> bool:
        """Return whether the recall must be skipped."""
        return False


@dataclass(frozen=True)
class Allow(PreRecallOutcome):
    """Nothing stands against it."""

    result: ChainResult | None = field(default=None, compare=False, repr=False)


class Modified(PreRecallOutcome):
    """Go on, with another query, namespace or k."""

    def __init__(
        self,
        query: str,
        namespace: str,
        k: int,
        *,
        result: ChainResult | None = None,
    ) -> None:
        self._triple = (query, namespace, k)
        self.result = result

    def query(self, original: str) -> str:  # noqa: ARG002
        """Return the rewritten query."""
        return self._triple[0]

    def namespace(self, original: str) -> str:  # noqa: ARG002
        """Return the rewritten namespace."""
        return self._triple[1]

    def k(self, original: int) -> int:  # noqa: ARG002
        """Return the rewritten number of results."""
        return self._triple[2]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Modified) and self._triple == other._triple

    def __repr__(self) -> str:
        query, namespace, k = self._triple
        return f"Modified(query={query!r}, namespace={namespace!r}, k={k})"


@dataclass(frozen=True)
class Denied(PreRecallOutcome):
    """Do not do it, for this reason."""

    reason: str
    code: int = _DENIED_CODE
    result: ChainResult | None = field(default=None, compare=False, repr=False)

    def is_denied(self) -> bool:
        """Return whether the recall must be skipped."""
        return True


@dataclass(frozen=True)
class Modify:
    """Do it, with these fields changed."""

    delta: Mapping[str, Any]


@dataclass(frozen=True)
class AskUser:
    """Ask a person first: the first option goes on, any other refuses."""

    prompt: str
    options: tuple[str, ...] = ("y", "n")
    default: str | None = None


Decision = Allow | Modify | Denied | AskUser
_ALLOW = Allow()


def decision_of(reply: object, shape: Shape) -> Decision:
    """Read a hook's reply, an object as on the wire; what cannot be read is the hook's failure.

    A function may also return a decision as it is, or None to allow.
    """
    if reply is None:
        return _ALLOW
    if isinstance(reply, Modify):
        return Modify(_delta(reply.delta, shape))
    if isinstance(reply, Denied):
        return replace(reply, reason=reply.reason[:_REASON_CHARS])
    if isinstance(reply, AskUser):
        return replace(reply, prompt=reply.prompt[:_REASON_CHARS])
    if isinstance(reply, Allow):
        return reply
    if not isinstance(reply, Mapping):
        raise _bad(f"a reply must be an object, not {type(reply).__name__}")
    action = reply.get("action")
    if action == "allow":
        return _ALLOW
    if action == "modify":
        return Modify(_delta(reply.get("delta"), shape))
    if action == "deny":
        return _denied(reply)
    if action == "ask_user":
        return _ask(reply)
    if "error" in reply:
        raise HookFailed(Failure.RAISED, f"it reported: {str(reply['error'])[:_REASON_CHARS]}")
    raise _bad(f"action must be allow, modify, deny or ask_user, not {action!r:.60}")


def _delta(given: object, shape: Shape) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise _bad("modify needs a delta, an object")
    return shape.delta(given)


def _denied(reply: Mapping[str, Any]) -> Denied:
    reason, code = reply.get("reason", "no reason was given"), reply.get("code", _DENIED_CODE)
    if not isinstance(reason, str) or isinstance(code, bool) or not isinstance(code, int):
        raise _bad("deny needs a reason, a text, and a code, a whole number")
    return Denied(reason[:_REASON_CHARS], code)


def _ask(reply: Mapping[str, Any]) -> AskUser:
    prompt, options, default = reply.get("prompt"), reply.get("options"), reply.get("default")
    options = ["y", "n"] if options is None else options
    if not isinstance(prompt, str) or not _are_texts(options) or not options:
        raise _bad("ask_user needs a prompt, a text, and options, a list of texts")
    if default is not None and default not in options:
        raise _bad("the default of ask_user must be one of its options")
    return AskUser(prompt[:_REASON_CHARS], tuple(options), default)


def _are_texts(values: object) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(one, str) for one in values)


def _bad(problem: str) -> HookFailed:
    return HookFailed(Failure.BAD_REPLY, problem)
