"""Templates: where they are, and the few words of their own that they have.

In: the name of a template and plain data. Out: HTML. Everything is escaped unless it is markup that
was made here; a name that is not there is an error, not an empty place.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from recollect import __version__
from recollect.edge.inspector import texts
from recollect.edge.inspector.assets import address_of

__all__ = ["render"]

_FOLDER = Path(__file__).parent / "templates"
_INDENTED = re.compile(r"^[ \t]+", re.MULTILINE)


def render(template: str, **data: Any) -> str:
    """Return a page."""
    return _environment().get_template(template).render(**data)


class _Loader(FileSystemLoader):
    """Templates without their indentation: it is for readers of templates, not of pages."""

    def get_source(self, environment: Environment, template: str) -> Any:
        """Return the text of a template."""
        source, *rest = super().get_source(environment, template)
        return _INDENTED.sub("", source), *rest


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=_Loader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "seen": texts.seen,
        "beginning": texts.beginning,
        "is_long": texts.is_long,
        "coded": texts.coded,
        "month": texts.month,
        "sentence": texts.sentence,
        "count": lambda number: f"{number:,}",
        "share": lambda number: f"{number:.3f}",
        "percent": lambda number: f"{100 * number:.0f} %",
        "day": _day,
        "moment": _moment,
    }
    made.globals |= {
        "asset": address_of,
        "address": texts.address,
        "pak_url": lambda pak_id: texts.address("pak", pak_id),
        "with_query": _with_query,
        "version": __version__,
    }
    return made


def _day(time: str | None) -> str:
    return "" if time is None else time[:10]


def _moment(time: str | None) -> str:
    """Return a time as people read it: to the minute, in UTC."""
    return "" if time is None else f"{time[:10]} {time[11:16]}".strip()


def _with_query(path: str, **given: Any) -> str:
    """Return a path with what is asked of it; what is None is left out."""
    pairs = [
        (name, one)
        for name, value in given.items()
        for one in (value if isinstance(value, list | tuple) else [value])
        if one is not None and one != ""
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path
