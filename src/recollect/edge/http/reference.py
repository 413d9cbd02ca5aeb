"""The reference page: each route with its fields, for people, from the same table.

In: the table of verbs. Out: one page of HTML and its style; it loads nothing else, from nowhere.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from html import escape

from recollect import __version__
from recollect.edge.http.examples import example_of
from recollect.edge.http.openapi import statuses
from recollect.edge.verbs import VERBS, Field, Verb

__all__ = ["STYLE", "page"]

STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #777; --mark: #2463eb; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
nav { columns: 14rem; font-size: .9rem; }
nav a { display: block; color: var(--mark); text-decoration: none; }
h2 { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 1rem; font-size: 1.1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { background: #8881; overflow-x: auto; padding: .75rem; border-radius: .4rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
td, th { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; }
td { vertical-align: top; }
.wide { overflow-x: auto; }
.quiet { color: var(--quiet); }
"""


@functools.cache
def page() -> str:
    """Return the page."""
    return "".join(_page())


def _page() -> Iterator[str]:
    yield (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<title>Recollect over HTTP</title><link rel="stylesheet" href="/reference.css"></head>'
        f"<body><h1>Recollect over HTTP</h1><p>Version {escape(__version__)}. Send your key with "
        "each request: <code>Authorization: Bearer rk_…</code>. Errors are problem+json, with a "
        "<code>code</code>, a <code>detail</code> and a <code>hint</code>. The same for programs: "
        '<a href="/openapi.json">openapi.json</a>.</p><nav>'
    )
    for verb in VERBS:
        yield f'<a href="#{verb.name}"><code>{verb.route.method}</code> {escape(verb.name)}</a>'
    yield "</nav><main>"
    for verb in VERBS:
        yield from _verb(verb)
    yield "</main></body></html>"


def _verb(verb: Verb) -> Iterator[str]:
    needs = verb.permission or "any key"
    yield (
        f'<h2 id="{verb.name}"><code>{verb.route.method} {escape(verb.route.path)}</code></h2>'
        f'<p>{escape(verb.help)} <span class="quiet">({escape(verb.name)}: {verb.effect}; takes'
        f" {escape(needs)})</span></p>"
    )
    if verb.fields:
        yield '<div class="wide"><table><tr><th>field</th><th>is</th><th>meaning</th></tr>'
        yield from (_field(one, verb) for one in verb.fields)
        yield "</table></div>"
    if verb.route.has_body:
        sent = example_of(verb)
        shown = sent if isinstance(sent, str) else json.dumps(sent, indent=2)
        yield f"<pre>{escape(shown)}</pre>"
    said = ", ".join(map(str, (verb.route.status, *statuses(verb))))
    yield f'<p class="quiet">Answers: {said}</p>'


def _field(field: Field, verb: Verb) -> str:
    kind = " or ".join(field.choices) or field.kind.replace("_", " ")
    if field.is_required:
        kind += ", needed"
    elif field.default not in (None, (), ""):
        kind += f", {field.default} unless told"
    where = " (in the path)" if verb.route.in_path(field) else ""
    return (
        f"<tr><td><code>{escape(field.name)}</code>{where}</td><td>{escape(str(kind))}</td>"
        f"<td>{escape(field.help)}</td></tr>"
    )
