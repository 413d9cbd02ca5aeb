"""One request of a page: who asks, what was typed, and the verbs as that person may use them.

In: a store that was lent for this request, the session, the query, the form. Out: answers of verbs,
as every door gives them. A page has no other way to a memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from recollect.edge import wire
from recollect.edge.http.identity import Noted, Presented, is_local_token, is_owner_token
from recollect.edge.http.routes import carried_out, receipt_of
from recollect.edge.verbs import by_name, from_texts
from recollect.errors import InvalidInput, KeyNeeded
from recollect.model import LOCAL_PRINCIPAL, Principal

if TYPE_CHECKING:
    from recollect.edge.http.server import Server
    from recollect.edge.http.stores import Served
    from recollect.edge.inspector.sessions import Session

__all__ = ["Visit", "name_of"]


class Visit:
    """A visit of one page."""

    def __init__(
        self,
        server: Server,
        served: Served,
        *,
        shown: Presented,
        session: Session | None,
        in_path: Mapping[str, str],
        query: Mapping[str, Sequence[str]],
        form: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.server = server
        self.served = served
        self.session = session
        self._shown = shown
        self._in_path = {name: unquote(value) for name, value in in_path.items()}
        self._query = query
        self._form = form
        self._left_out: set[str] = set()
        self._flagged: dict[str | None, Mapping[str, Sequence[str]]] = {}
        self._lent = ExitStack()
        # The receipt of what was answered last on this page, where receipts are kept.
        self.receipt: str | None = None

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self._lent.close()

    @property
    def me(self) -> Principal:
        """Who asks."""
        return self.served.memory.principal

    @property
    def is_owner(self) -> bool:
        """Whether whoever asks opened the file itself, on this machine."""
        return is_owner_token(self._shown, self.server.options)

    @property
    def is_at_the_machine(self) -> bool:
        """Whether whoever asks may look after the server: hooks, numbers of all its callers."""
        return self.is_owner or is_local_token(self._shown, self.server.options)

    @property
    def typed(self) -> Mapping[str, Sequence[str]]:
        """All that was typed, by name, whatever became of it."""
        return self._query if self._form is None else self._form

    def leave_out(self, name: str) -> None:
        """Go on as if nothing had been typed under a name: it will not do."""
        self._left_out.add(name)

    def text(self, name: str) -> str | None:
        """Return what was typed; None for nothing, and for blanks."""
        found = self.texts(name)
        return found[-1] if found else None

    def texts(self, name: str) -> list[str]:
        """Return all that was given under a name, without what is blank."""
        if name in self._in_path:
            return [self._in_path[name]]
        if name in self._left_out:
            return []
        return [one for one in self.typed.get(name, ()) if one.strip()]

    def paged(self, found: Sequence[Any], most: int, name: str = "cursor") -> dict[str, Any]:
        """Return the page that is asked for of a list that is known whole."""
        text = self.text(name) or "0"
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise InvalidInput("this is no page of this list.", hint="start with the first page.")
        before = min(int(text), len(found))
        return {
            "items": list(found[before : before + most]),
            "count": len(found),
            "next_cursor": str(before + most) if len(found) > before + most else None,
            "is_first": before == 0,
        }

    def given(self, verb: str, *names: str) -> dict[str, Any]:
        """Return what was typed for fields of a verb, each as its kind is."""
        fields = [one for one in by_name(verb).fields if one.name in names]
        typed = {name: self.texts(name) for name in names}
        return from_texts(fields, {name: texts for name, texts in typed.items() if texts})

    def ask(self, verb: str, /, **given: Any) -> wire.Object:
        """Carry out a verb as who asks, and return what leaves."""
        return self.ask_as(None, verb, **given)

    def ask_as(self, who: str | None, verb: str, /, **given: Any) -> wire.Object:
        """Carry out a verb as another that one may act as; None is oneself."""
        size = len(json.dumps(given, default=str))
        served = self.served_as(who)
        told = carried_out(self.server, by_name(verb), served, given, size=size)
        if not isinstance(told, dict):
            raise TypeError(f"{verb} is no verb for a page")
        self.receipt = receipt_of(self.server, told) or self.receipt
        return told

    def served_as(self, who: str | None) -> Served:
        """Return the store as somebody may use it whom one may act as."""
        if who is None or who == name_of(self.me):
            return self.served
        key = None if self.session is None else self.session.key_of(who)
        if key is not None:
            return self._lend(who, key)
        if self.is_owner:
            return self._as_any(who)
        raise InvalidInput(
            f"you may not ask as {who!r:.80}.", hint="sign in with a key of theirs, too."
        )

    def _lend(self, who: str, key: Noted) -> Served:
        try:
            return self._lent.enter_context(self.server.stores.serve(key))
        except KeyNeeded:
            raise InvalidInput(
                f"the key of {who!r:.80} is not good any more.",
                hint="sign in with another of theirs.",
            ) from None

    def flagged(self, who: str | None = None) -> Mapping[str, Sequence[str]]:
        """Return the ids of what may be read and has a risk flag in the catalogue, by flag."""
        if who not in self._flagged:
            self._flagged[who] = self.served_as(who).memory.catalogue.flagged()
        return self._flagged[who]

    def older(self, **named: Any) -> Mapping[str, Sequence[int]]:
        """Return the numbers of earlier versions that forgetting what is named would erase."""
        return self.served.memory.catalogue.older(**named)

    def others(self) -> list[str]:
        """Return the names of those that one may act as, oneself first."""
        names = [name_of(self.me)]
        if self.session is not None:
            names += [one.who for one in self.session.held]
        if self.is_owner:
            names += [name_of(one) for one in self._known()]
        return list(dict.fromkeys(names))

    def _as_any(self, who: str) -> Served:
        from dataclasses import replace

        found = next((one for one in self._known() if name_of(one) == who), None)
        if found is None:
            raise InvalidInput(
                f"there is no key of {who!r:.80}.", hint="make one: recollect keys create."
            )
        return replace(self.served, memory=self.served.opener.as_principal(found))

    def _known(self) -> list[Principal]:
        rows = self.served.opener.keys.list()
        return [LOCAL_PRINCIPAL, *(one.principal for one in rows if one.revoked_at is None)]


def name_of(who: Principal) -> str:
    """Return how a principal is called on pages: its tenant only where that is not the usual."""
    return who.id if who.tenant == LOCAL_PRINCIPAL.tenant else f"{who.tenant}/{who.id}"
