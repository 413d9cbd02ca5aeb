"""The inspector: a store in the browser, page by page, for whoever must answer for an agent.

A page is a function from a `Visit` to plain data, a template, and one `Page` in its module's PAGES,
which `pages/__init__.py` lists. The same data is at its path with `.json`. It asks by
`visit.ask(verb, ...)`, and so tells what the API would tell the same key. What changes something is
a `Form`, sent with the token of `parts.token(token)`; it says where to `Go` then. Templates extend
`layout.html`; stored text passes `seen`; lists end with `parts.pager`. Data is whole: a name that a
template asks for and the data lacks is an error, so give None.
"""

from __future__ import annotations

__all__: list[str] = []
