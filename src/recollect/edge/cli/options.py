"""Options that mean the same wherever they stand: the database, JSON, the embedder, a budget, ids.

In: nothing. Out: annotated types for the parameters of commands. What an option does is said by
the command that takes it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import ids, projects
from recollect.edge.cli.complete import tags as tags_there
from recollect.edge.cli.given import Chosen

__all__ = [
    "NARROWING",
    "OF_ANSWERS",
    "OF_RECALLS",
    "Authority",
    "Budget",
    "Category",
    "Confidence",
    "Cursor",
    "Db",
    "Embedder",
    "Filter",
    "FromSource",
    "Garden",
    "Issuer",
    "Json",
    "Key",
    "KeyOfMcp",
    "Limit",
    "McpTools",
    "Metadata",
    "NewProject",
    "NewTags",
    "Now",
    "OccurredAt",
    "OfEntity",
    "OfRelation",
    "OfThread",
    "PakId",
    "PakType",
    "PrincipalClaim",
    "Query",
    "ReadOnly",
    "ReceiptOfIt",
    "RequestId",
    "Resource",
    "SaidBy",
    "Scope",
    "Since",
    "Speaker",
    "Summary",
    "Team",
    "TenantClaim",
    "Thread",
    "Title",
    "TopK",
    "Topic",
    "Ttl",
    "Until",
    "Url",
    "UrlOfMcp",
    "ValidFrom",
    "ValidUntil",
    "Value",
    "taking",
]


def _switch_to_json(context: typer.Context, value: bool) -> bool:
    """Take the option as soon as it is read, so that errors are JSON too."""
    output.of(context).as_json |= value  # a command must not take back what its group was told
    return value


Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="PATH",
        help="The database: a file, sqlite:///file or memory://. Without it: the one that"
        " RECOLLECT_DB names, or the one under ~/.recollect.",
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        callback=_switch_to_json,
        is_eager=True,
        help="Answer with one JSON object, errors included.",
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="SPEC",
        help="static, none, minilm, onnx:FOLDER, openai:MODEL or fastembed:MODEL. Without it:"
        " RECOLLECT_EMBEDDER, or the memory's own.",
        show_default=False,
    ),
]
TopK = Annotated[
    int,
    typer.Option("--top-k", metavar="N", help="How many results at the most. From 1 to 1000."),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        metavar="TOKENS",
        help="How many tokens the texts may have together.",
        show_default=False,
    ),
]
PakId = Annotated[
    str,
    typer.Argument(
        metavar="PAK_ID",
        help="The id of a memory. The beginning of one will do.",
        autocompletion=ids,
    ),
]
Scope = Annotated[
    str | None,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="How widely it is visible: local, if it is new. Or team, company, public.",
        show_default=False,
    ),
]
Garden = Annotated[
    str | None,
    typer.Option(
        "--garden", metavar="SLUG", help="The garden that it goes into.", show_default=False
    ),
]
Query = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[QUERY...]",
        help="The question, in plain words. Without one: what matters most by the frame's other"
        " weights.",
        show_default=False,
    ),
]


Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag",
        metavar="TAG",
        help="Only with one of these tags; a name that ends in % is a beginning. May be given"
        " again.",
        autocompletion=tags_there,
        show_default=False,
    ),
]
Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        help="Only this project, and what lies below it.",
        autocompletion=projects,
        show_default=False,
    ),
]
Entity = Annotated[
    str | None,
    typer.Option(
        "--entity", metavar="NAME", help="Only facts about this entity.", show_default=False
    ),
]
Relation = Annotated[
    str | None,
    typer.Option(
        "--relation", metavar="NAME", help="Only facts of this relation.", show_default=False
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source", metavar="NAME", help="Only what came from this source.", show_default=False
    ),
]
OnlyScope = Annotated[
    str | None,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="Only this scope. It is local, team, company or public.",
        show_default=False,
    ),
]
OnlyGarden = Annotated[
    str | None,
    typer.Option(
        "--garden", metavar="SLUG", help="Only what is in this garden.", show_default=False
    ),
]
MinConfidence = Annotated[
    float | None,
    typer.Option(
        "--min-confidence",
        metavar="0-1",
        help="Only what is at least so sure.",
        show_default=False,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Only what is from this time or later; a day alone is all of it.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="Only what is from this time or earlier; a day alone is all of it.",
        show_default=False,
    ),
]
Thread = Annotated[
    str | None,
    typer.Option(
        "--thread", metavar="NAME", help="Only turns of this conversation.", show_default=False
    ),
]
Speaker = Annotated[
    str | None,
    typer.Option(
        "--speaker", metavar="NAME", help="Only what this speaker said.", show_default=False
    ),
]
Filter = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="JSON",
        help="A condition on fields and metadata: eq ne gt gte lt lte in nin contains exists,"
        ' joined by and, or, not. Such as \'{"metadata.stars": {"gte": 4}}\'.',
        show_default=False,
    ),
]
Now = Annotated[
    str | None,
    typer.Option(
        "--now", metavar="TIME", help="The time that the answer is given at.", show_default=False
    ),
]
Diversity = Annotated[
    float | None,
    typer.Option(
        "--diversity",
        metavar="0-1",
        help="1: what says the same does not wait; the lower, the further apart results lie.",
        show_default=False,
    ),
]
IncludeQuarantined = Annotated[
    bool,
    typer.Option("--include-quarantined", help="For moderators: what waits for them, too."),
]
Refresh = Annotated[bool, typer.Option("--refresh", help="Touch what is returned; it takes write.")]
MinMatch = Annotated[
    Literal["strong", "fair", "weak"] | None,
    typer.Option("--min-match", help="Leave out what fits less well.", show_default=False),
]
MinScore = Annotated[
    float | None,
    typer.Option(
        "--min-score", metavar="0-1", help="Leave out what scores less.", show_default=False
    ),
]
Limit = Annotated[
    int, typer.Option("--limit", metavar="N", help="How many a page. From 1 to 1000.")
]
Cursor = Annotated[
    str | None,
    typer.Option(
        "--cursor", metavar="TOKEN", help="Where the page before ended.", show_default=False
    ),
]
NewTags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag",
        metavar="TAG",
        help="Names to find it by; self/… are what frames guarantee by. May be given again.",
        autocompletion=tags_there,
        show_default=False,
    ),
]
NewProject = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        help="The project it belongs to, as a path of segments.",
        autocompletion=projects,
        show_default=False,
    ),
]
Title = Annotated[
    str | None,
    typer.Option(
        "--title",
        metavar="TEXT",
        help="A title; otherwise the text's beginning.",
        show_default=False,
    ),
]
Summary = Annotated[
    str | None,
    typer.Option("--summary", metavar="TEXT", help="What it says, in short.", show_default=False),
]
Category = Annotated[
    str | None,
    typer.Option(
        "--category",
        metavar="NAME",
        help="The kind of memory: knowledge, if it is new.",
        show_default=False,
    ),
]
Topic = Annotated[
    str | None,
    typer.Option("--topic", metavar="NAME", help="What it is about.", show_default=False),
]
PakType = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="NAME",
        help="Its type in the catalogue: memory, if it is new.",
        show_default=False,
    ),
]
Authority = Annotated[
    str | None,
    typer.Option(
        "--authority",
        metavar="NAME",
        help="Whose word it is: user_approved, if it is new.",
        show_default=False,
    ),
]
FromSource = Annotated[
    str | None,
    typer.Option("--source", metavar="NAME", help="Where it came from.", show_default=False),
]
OfEntity = Annotated[
    str | None,
    typer.Option(
        "--entity", metavar="NAME", help="What the fact is about. Such as Ann.", show_default=False
    ),
]
OfRelation = Annotated[
    str | None,
    typer.Option(
        "--relation", metavar="NAME", help="What of it. Such as lives in.", show_default=False
    ),
]
Value = Annotated[
    str | None,
    typer.Option(
        "--value", metavar="TEXT", help="And what that is. Such as Berlin.", show_default=False
    ),
]
Confidence = Annotated[
    float | None,
    typer.Option(
        "--confidence", metavar="0-1", help="How sure it is: 1, if it is new.", show_default=False
    ),
]
OfThread = Annotated[
    str | None,
    typer.Option(
        "--thread",
        metavar="NAME",
        help="The conversation that it is a turn of.",
        show_default=False,
    ),
]
SaidBy = Annotated[
    str | None,
    typer.Option("--speaker", metavar="NAME", help="Who said it.", show_default=False),
]
OccurredAt = Annotated[
    str | None,
    typer.Option(
        "--occurred-at",
        metavar="TIME",
        help="When it happened: ISO-8601, seconds since 1970, or as people write it.",
        show_default=False,
    ),
]
Ttl = Annotated[
    str | None,
    typer.Option(
        "--ttl",
        metavar="TIME",
        help="For how many seconds it holds from now on. Written as 90s, 30m, 12h, 30d or 2w.",
        show_default=False,
    ),
]
Team = Annotated[
    str | None,
    typer.Option(
        "--team", metavar="NAME", help="Whose it is, with the scope team.", show_default=False
    ),
]
Metadata = Annotated[
    str | None,
    typer.Option(
        "--metadata",
        metavar="JSON",
        help="What else is known, for filters. Such as '{\"stars\": 4}'.",
        show_default=False,
    ),
]
ValidFrom = Annotated[
    str | None,
    typer.Option("--valid-from", metavar="TIME", help="From when on it holds.", show_default=False),
]
ValidUntil = Annotated[
    str | None,
    typer.Option("--valid-until", metavar="TIME", help="Until when it holds.", show_default=False),
]


def _choose_read_only(wanted: bool) -> None:
    Chosen.read_only = wanted


def _choose_key(given: str | None) -> None:
    Chosen.key = given


def _choose_url(given: str | None) -> None:
    Chosen.url = given


def _choose_key_again(given: str | None) -> None:
    """Take what stands behind a command, if it stands there: the lines of clients end with it."""
    Chosen.key = given or Chosen.key


def _choose_url_again(given: str | None) -> None:
    Chosen.url = given or Chosen.url


RequestId = Annotated[
    str | None,
    typer.Option(
        "--request-id",
        metavar="NAME",
        help="A name of your own for this request: sent again under it, it is done once.",
        show_default=False,
    ),
]
ReceiptOfIt = Annotated[
    bool,
    typer.Option("--receipt", help="Keep a receipt of the answer; RECOLLECT_RECEIPTS=1 does so."),
]
ReadOnly = Annotated[
    bool,
    typer.Option(
        "--read-only",
        callback=_choose_read_only,
        help="Open the database for reading; commands that write refuse.",
    ),
]


Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="SECRET",
        callback=_choose_key,
        help="Act as the principal of this key. RECOLLECT_KEY does the same, and is not in the list"
        " of processes.",
        show_default=False,
    ),
]


KeyOfMcp = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="SECRET",
        callback=_choose_key_again,
        help="Act as the principal of this key; RECOLLECT_KEY does the same.",
        show_default=False,
    ),
]
UrlOfMcp = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        callback=_choose_url_again,
        help="Ask the server at this address; RECOLLECT_URL does the same.",
        show_default=False,
    ),
]


McpTools = Annotated[
    str,
    typer.Option(
        "--mcp-tools", metavar="NAMES", help="What is listed at /mcp: default, all or chatgpt."
    ),
]
Issuer = Annotated[
    str | None,
    typer.Option(
        "--issuer",
        metavar="URL",
        help="Take tokens of this issuer at /mcp, besides keys.",
        show_default=False,
    ),
]
Resource = Annotated[
    str | None,
    typer.Option(
        "--resource",
        metavar="URL",
        help="With --issuer: the address of /mcp as clients know it, which tokens must be for.",
        show_default=False,
    ),
]
TenantClaim = Annotated[
    str | None,
    typer.Option(
        "--tenant-claim",
        metavar="NAME",
        help="With --issuer: the claim that is the tenant; without it, local.",
        show_default=False,
    ),
]
PrincipalClaim = Annotated[
    str,
    typer.Option(
        "--principal-claim", metavar="NAME", help="With --issuer: the claim that is the principal."
    ),
]


Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        callback=_choose_url,
        help="Ask the server at this address, or at unix:PATH, in place of a file. RECOLLECT_URL"
        " does the same; --key says who asks.",
        show_default=False,
    ),
]

# What narrows a list, a frame and a recall; what more an answer has; what only a recall has.
NARROWING: dict[str, Any] = {
    "tags": Tags,
    "project": Project,
    "entity": Entity,
    "relation": Relation,
    "source": Source,
    "scope": OnlyScope,
    "garden": OnlyGarden,
    "min_confidence": MinConfidence,
    "since": Since,
    "until": Until,
    "thread": Thread,
    "speaker": Speaker,
    "filter_": Filter,
}
OF_ANSWERS: dict[str, Any] = {**NARROWING, "min_score": MinScore, "min_match": MinMatch}
OF_RECALLS: dict[str, Any] = {
    **OF_ANSWERS,
    "diversity": Diversity,
    "include_quarantined": IncludeQuarantined,
    "refresh": Refresh,
    "now": Now,
}


def taking(options: dict[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options beside its own; it gets their values by name.

    They stand before `--db`. A filter that is added to a verb is added here, for all commands.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def taken(*args: Any, **given: Any) -> None:
            command(*args, **given)

        own = inspect.signature(command, eval_str=True)
        more = [_parameter(name, kind) for name, kind in options.items()]
        mine = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        shared = next(place for place, one in enumerate(mine) if one.name == "db")
        listed = [*mine[:shared], *more, *mine[shared:]]
        vars(taken)["__signature__"] = own.replace(parameters=listed)
        taken.__annotations__ = {one.name: one.annotation for one in listed}
        return taken

    return decorate


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    default = False if get_args(kind)[0] is bool else None
    return inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind
    )
