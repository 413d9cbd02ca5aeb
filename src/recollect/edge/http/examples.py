"""An example for each route: what one may send, as the document and the reference page show it.

In: a verb. Out: values that its fields take. A test sends each of them to a server.
"""

from __future__ import annotations

from typing import Any

from recollect.edge.verbs import Field, Verb
from recollect.edge.verbs.fields import REQUIRED

__all__ = ["ANSWERS", "EXAMPLES", "example_of"]

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
    "list": {"project": "pottery", "limit": 20},
    "audit": {"limit": 20},
    "receipts": {"limit": 20},
    "paks.list": {"project": "pottery", "limit": 20},
    "export": {"filter": {"project": {"eq": "pottery"}}},
    "why": {"recall_id": "recall_5c2f0a91b7d3e84610fa2c35"},
    "keys.revoke": {"prefix": "rk_4f9a1c"},
    "gardens.remove": {"principal": "ann"},
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


# What takes nothing has no example but its answer: that of a store that is new.
ANSWERS: dict[str, Any] = {
    "me": {
        "tenant": "local",
        "principal": "ann",
        "teams": ["kiln"],
        "permissions": ["read", "write"],
    },
    "disputes": {"disputes": []},
    "frames.list": {
        "frames": [
            {
                "name": "attention",
                "weights": {
                    "similarity": 0.35,
                    "confidence": 0.15,
                    "recency": 0.25,
                    "centrality": 0.15,
                    "reinforcement": 0.1,
                },
                "filters": {"tag_patterns": [], "categories": [], "search_window_hours": 200.0},
                "guarantees": [],
                "template": "attention",
                "token_budget": 2000,
                "cache": None,
                "source": "builtin",
            }
        ]
    },
    "gardens.list": {"gardens": []},
    "quarantine.list": {"waiting": []},
    "trust.list": {"trust": {"mail": 0.8}},
    "keys.list": {"keys": []},
    "stats": {"memories": 31},
    "stores.list": {"stores": ["acme"]},
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
