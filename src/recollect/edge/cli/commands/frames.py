"""`recollect frames …`: the recipes that turn memories into prompt text, and your own ones.

In: options of the command line. Out: calls of the engine's registry of frames. What an option
means is checked there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import frames as frames_there
from recollect.edge.cli.options import Db, Embedder, Json, RequestId

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.model import FrameDefinition

__all__ = ["app"]

_N = TypeVar("_N", int, float)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Look at the recipes that turn memories into prompt text, and make your own.",
)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The name of the frame.", autocompletion=frames_there)
]
Shares = Annotated[
    tuple[float, float, float, float, float] | None,
    typer.Option(
        "--weights",
        metavar="SIM CONF REC CENT REINF",
        help="How much each signal counts; all five, together 1. In this order: similarity,"
        " confidence, recency, centrality, reinforcement.",
        show_default=False,
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget", metavar="TOKENS", help="How long its text may be.", show_default=False
    ),
]
Template = Annotated[
    str | None,
    typer.Option(
        "--template",
        metavar="NAME",
        help="The name of a template, or a format string of your own.",
        show_default=False,
    ),
]
Guarantees = Annotated[
    list[str] | None,
    typer.Option(
        "--guarantee",
        metavar="TAG",
        help="Tags, or beginnings with %, whose memories are always in it. May be given again.",
        show_default=False,
    ),
]
TagPatterns = Annotated[
    list[str] | None,
    typer.Option(
        "--tag-pattern",
        metavar="TAG",
        help="Only memories with this tag, or one starting so if it ends in %; may be given again.",
        show_default=False,
    ),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        metavar="NAME",
        help="Only memories of this category; may be given again.",
        show_default=False,
    ),
]
CacheTtl = Annotated[
    str | None,
    typer.Option(
        "--cache-ttl",
        metavar="SECONDS",
        help="Use an answer again for so many seconds; `none` to make each one anew.",
    ),
]
CacheEvents = Annotated[
    list[str] | None,
    typer.Option(
        "--cache-event",
        metavar="EVENT",
        help="An event that ends cached answers at once; may be given again.",
        show_default=False,
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="HOURS",
        help="Only memories used in the last so many active hours; `none` for however old.",
    ),
]


@app.command("list", epilog="Example: recollect frames list")
def list_(
    context: typer.Context,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """List the built-in frames, then your own."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = memory.frames.list()

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import frames as view

        console.print(view.table(found))

    output.of(context).show(wire.frames(found), draw)


@app.command(epilog="Example: recollect frames show task")
def show(
    context: typer.Context,
    name: Name,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Show one frame in full."""
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found, extends = memory.frames.get(name), memory.frames.extends(name)
    _say(context, found, extends)


@app.command(epilog="Example: recollect frames register review --extends task --budget 400")
def register(
    context: typer.Context,
    name: Name,
    extends: Annotated[
        str | None,
        typer.Option(
            "--extends",
            metavar="NAME",
            help="The frame that it starts from.",
            autocompletion=frames_there,
            show_default=False,
        ),
    ] = None,
    weights: Shares = None,
    template: Template = None,
    budget: Budget = None,
    guarantees: Guarantees = None,
    tag_patterns: TagPatterns = None,
    window: Window = None,
    categories: Categories = None,
    cache_ttl: CacheTtl = None,
    cache_events: CacheEvents = None,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Make a frame of your own; give it weights, or a frame that it extends."""
    from recollect.edge.cli import open_memory

    given = _fields(
        weights=weights,
        template=template,
        token_budget=budget,
        guarantees=guarantees,
        filters=_filters(tag_patterns, window, categories),
    )
    given |= _cache(cache_ttl, cache_events)
    with open_memory.existing(db, embedder) as memory:
        made = memory.frames.register(name, extends=extends, request_id=request_id, **given)
    _say(context, made, extends)


@app.command(epilog="Example: recollect frames update review --budget 600")
def update(
    context: typer.Context,
    name: Name,
    weights: Shares = None,
    template: Template = None,
    budget: Budget = None,
    guarantees: Guarantees = None,
    tag_patterns: TagPatterns = None,
    window: Window = None,
    categories: Categories = None,
    cache_ttl: CacheTtl = None,
    cache_events: CacheEvents = None,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Change a frame of your own; what is not given stays."""
    from recollect.edge.cli import open_memory

    given = _fields(
        weights=weights,
        template=template,
        token_budget=budget,
        guarantees=guarantees,
        filters=_filters(tag_patterns, window, categories),
    )
    given |= _cache(cache_ttl, cache_events)
    with open_memory.existing(db, embedder) as memory:
        changed = memory.frames.update(name, request_id=request_id, **given)
        extends = memory.frames.extends(name)
    _say(context, changed, extends)


@app.command(epilog="Example: recollect frames delete review")
def delete(
    context: typer.Context,
    name: Name,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Delete a frame of your own."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        memory.frames.delete(name, request_id=request_id)
    output.of(context).show(wire.deleted(name), lambda console: console.print(f"Deleted {name}."))


def _say(context: typer.Context, frame: FrameDefinition, extends: str | None) -> None:
    from recollect.edge import wire

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import frames as view

        console.print(view.recipe(frame, extends))

    output.of(context).show(wire.frame(frame, extends), draw)


def _fields(*, weights: tuple[float, ...] | None, **given: Any) -> dict[str, Any]:
    """Return the fields that were given, as the registry takes them."""
    from recollect.model import Weights

    given["weights"] = Weights(*weights) if weights else None
    return {name: value for name, value in given.items() if value}


def _filters(
    tag_patterns: list[str] | None, window: str | None, categories: list[str] | None
) -> dict[str, Any]:
    filters: dict[str, Any] = {}
    if tag_patterns:
        filters["tag_patterns"] = tag_patterns
    if categories:
        filters["categories"] = categories
    if window is not None:
        filters["search_window_hours"] = _number_or_none(window, float, "hours")
    return filters


def _cache(ttl: str | None, events: list[str] | None) -> dict[str, Any]:
    """Return the cache's fields, where any was given; a frame without a cache says so by None."""
    seconds = None if ttl is None else _number_or_none(ttl, int, "seconds")
    if ttl is not None and seconds is None:
        if events:
            raise typer.BadParameter("a frame without a cache has no --cache-event.")
        return {"cache": None}
    given = {"ttl_seconds": seconds, "invalidate_on": events}
    fields = {name: value for name, value in given.items() if value is not None}
    return {"cache": fields} if fields else {}


def _number_or_none(text: str, kind: type[_N], unit: str) -> _N | None:
    if text == "none":
        return None
    try:
        return kind(text)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is neither a number of {unit} nor none.") from None
