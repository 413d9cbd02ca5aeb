"""A memory on a server, with the verbs of one that is open here: what `recollect.client` offers.

Requests are made from the table of verbs, answers are read into the types of the model. Loads
httpx; nothing here knows a store.
"""

from __future__ import annotations

__all__: list[str] = []
