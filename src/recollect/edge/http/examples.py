"""An example for each route: what one may send, as the document and the reference page show it.

In: a verb. Out: values that its fields take. A test sends each of them to a server.
"""

from __future__ import annotations

from typing import Any

from recollect.edge.verbs import Field, Verb
from recollect.edge.verbs.fields import REQUIRED

__all__ = ["EXAMPLES", "example_of"]

# What says more than the fields alone would.
EXAMPLES: dict[str, Any] = {
    "remember": {
        "content": "The kiln is booked until Friday.",
        "tags": ["shop"],
        "project": "pottery",
        "metadata": {"ticket": 42},
    },
    "remember_many": {
        "items": ["The glaze is food safe.", {"content": "Ann fires on Mondays.", "speaker": "Bo"}]
    },
    "update": {"tags": ["shop", "kiln"]},
    "forget": {"project": "pottery", "dry_run": True},
    "recall": {"query": "When is the kiln free?", "top_k": 3},
    "frame": {"query": "When is the kiln free?", "token_budget": 500},
    "select": {"text": "kiln", "limit": 5},
    "explain": {"pak_id": "kiln-booking", "query": "When is the kiln free?"},
    "frames.register": {"name": "support", "extends": "attention", "token_budget": 800},
    "frames.update": {"token_budget": 600},
    "gardens.create": {"slug": "lab", "name": "The lab"},
    "gardens.update": {"tier": 0.5},
    "gardens.add": {"role": "writer"},
    "trust.set": {"trust": 0.8},
    "keys.create": {"principal": "ann", "permissions": ["read", "write"], "name": "Ann's agent"},
    "ingest": {
        "source": "mail",
        "items": [{"entity": "Ann", "relation": "lives in", "value": "Berlin"}],
    },
    "import": '{"kind": "memory", "content": "The glaze is food safe."}\n',
    "supersede": {"new": "kiln-repair"},
    "link": {"pak_id": "kiln-booking", "other": "kiln-repair", "weight": 0.8},
}


def example_of(verb: Verb) -> Any:
    """Return what one may send to a verb, without what stands in its path."""
    if verb.name in EXAMPLES:
        return EXAMPLES[verb.name]
    return {
        one.name: _example(one)
        for one in verb.fields
        if not verb.route.in_path(one) and one.default is REQUIRED
    }


def _example(field: Field) -> Any:
    return field.example if field.example is not None else field.name
