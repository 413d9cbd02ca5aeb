"""The fields that several verbs share: what narrows a recall, a frame and a listing."""

from __future__ import annotations

from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.model.access import SCOPES
from recollect.model.answer import MATCHES
from recollect.model.request import BUDGET_MAX, TOP_K_MAX

__all__ = ["AMOUNT", "FITTING", "NARROWING", "NOW", "PAK_ID", "QUERY", "SCOPE", "WINDOW"]

SCOPE = Field("scope", "text", "Only this scope.", choices=SCOPES)
PAK_ID = Field("pak_id", "text", "The id of a memory.", REQUIRED, example="kiln-booking")
QUERY = Field(
    "query",
    "text",
    "The question, in plain words; without one, what matters most by the frame's other weights.",
    example="When is the kiln free?",
)
NOW = Field("now", "time", "The time that the answer is given at; without it, now.")

WINDOW = (
    Field("since", "time", "Only what is from this time or later; a day alone is all of it."),
    Field("until", "time", "Only what is from this time or earlier; a day alone is all of it."),
)

NARROWING = (
    Field("tags", "texts", "Only with one of these tags; a name that ends in % is a beginning."),
    Field("project", "text", "Only this project, and what lies below it."),
    Field("entity", "text", "Only facts about this entity."),
    Field("relation", "text", "Only facts of this relation."),
    Field("source", "text", "Only what came from this source."),
    SCOPE,
    Field("garden", "text", "Only what is in this garden."),
    Field("min_confidence", "number", "Only what is at least so sure.", least=0, most=1),
    *WINDOW,
    Field("thread", "text", "Only turns of this conversation."),
    Field("speaker", "text", "Only what this speaker said."),
    Field(
        "filter",
        "object",
        "A condition on fields and metadata: eq ne gt gte lt lte in nin contains exists,"
        " joined by and, or, not.",
        example={"metadata.ticket": {"eq": 42}},
    ),
)

AMOUNT = (
    Field("top_k", "whole", "How many results at the most.", 5, least=1, most=TOP_K_MAX),
    Field(
        "token_budget",
        "whole",
        "How many tokens the texts may have together; without it, what the frame says.",
        least=1,
        most=BUDGET_MAX,
    ),
)

FITTING = (
    Field("min_score", "number", "Leave out what scores less.", least=0, most=1),
    Field("min_match", "text", "Leave out what fits less well.", choices=MATCHES),
)
