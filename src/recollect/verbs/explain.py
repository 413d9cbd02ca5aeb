"""Explain: why a memory is in an answer, or what left it out, hooks included. Writes nothing.

In: a request as the verb itself takes it, checked and as the hooks left it. Out: an `Explanation`
read from how the verb's own stages went; one that a hook refused is explained by that refusal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.model import FrameRequest, RecallRequest
from recollect.recall.clean import clean_explanation
from recollect.recall.explain import denied, explain_frame, explain_recall
from recollect.recall.select import SelectQuery, explain

if TYPE_CHECKING:
    from recollect.hooks import Denied
    from recollect.model import Explanation, Verb
    from recollect.verbs.caller import Caller
    from recollect.verbs.read import Reader

__all__ = ["Explainer"]

_VERBS: dict[type, Verb] = {RecallRequest: "recall", FrameRequest: "frame", SelectQuery: "select"}
_APART = "Filtered out: it is an instruction, and these come with a recall, apart from its results."


class Explainer:
    """Explains what becomes of one memory for one caller."""

    def __init__(self, caller: Caller, reader: Reader, pak_id: str) -> None:
        self._caller = caller
        self._open_store = caller.open_store
        self._reader = reader
        self._pak_id = pak_id

    def of_recall(self, wanted: RecallRequest) -> Explanation:
        """Explain the answer to a request."""
        found = self._reader.answer(
            wanted.query,
            lambda sight, embedder: explain_recall(
                self._pak_id, self._reader.trace_recall(wanted, sight, embedder)
            ),
        )
        return self._shown(found)

    def of_frame(self, wanted: FrameRequest) -> Explanation:
        """Explain a frame; this counts no use and asks no cache."""
        found = self._reader.answer(
            wanted.query,
            lambda sight, embedder: explain_frame(
                self._pak_id, self._reader.trace_frame(wanted, sight, embedder)
            ),
        )
        return self._shown(found)

    def of_selection(self, wanted: SelectQuery) -> Explanation:
        """Explain a selection from the catalogue."""
        with self._caller.standing_still() as sight:
            found = explain(
                self._caller.catalogue,
                self._pak_id,
                wanted,
                readable=self._caller.selectable(sight),
                token_counter=self._open_store.token_counter,
            )
            is_apart = found.stage == "unknown" and sight.may_read(self._pak_id)
        return self._shown(replace(found, stage="filter", reason=_APART) if is_apart else found)

    def _shown(self, found: Explanation) -> Explanation:
        return clean_explanation(found) if self._open_store.shows_plain_words else found

    def of_denial(
        self, wanted: RecallRequest | FrameRequest | SelectQuery, refusal: Denied
    ) -> Explanation:
        """Explain a request that a hook refused."""
        return denied(
            self._pak_id,
            _VERBS[type(wanted)],
            query=wanted.to_dict(),
            generated_at=self._caller.now(),
            reason=refusal.reason,
        )
