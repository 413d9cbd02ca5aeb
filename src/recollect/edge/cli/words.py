"""The words of the command line: which module does what a word says, and what a wrong one means.

In: a word as somebody typed it. Out: its command, made when it is asked for, so that one command
does not wait for the others to be loaded; or a hint at the word that was meant.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

__all__ = ["SAME_AS", "WORDS", "Word", "Words"]


class Word(NamedTuple):
    """Where a command is, below which heading it stands, and how it is used.

    A lenient one passes over options that it does not know.
    """

    module: str
    name: str
    panel: str
    example: str = ""
    is_lenient: bool = False


_EVERY_DAY, _CHANGE = "Every day", "Change what is there"
_OPERATE, _ACCESS, _INSIDE = "Look after a memory", "Who may what", "Inside"
_AGENTS = "Coding agents"
WORDS = {
    "demo": Word("demo", "demo", _EVERY_DAY, "recollect demo --keep shop.db"),
    "remember": Word(
        "remember",
        "remember",
        _EVERY_DAY,
        'recollect remember "Deploys happen before noon." --tag deploys',
    ),
    "recall": Word(
        "recall", "recall", _EVERY_DAY, 'recollect recall "when do we deploy?" --top-k 3'
    ),
    "list": Word("list", "list_", _EVERY_DAY, "recollect list --project shop --limit 10"),
    "get": Word("memories", "get", _EVERY_DAY, "recollect get payments-double-charge"),
    "frame": Word(
        "frame", "frame", _EVERY_DAY, 'recollect frame task "ship the release" --budget 800'
    ),
    "select": Word(
        "select", "select", _EVERY_DAY, "recollect select card payment --project payments --limit 5"
    ),
    "explain": Word(
        "explain",
        "explain",
        _EVERY_DAY,
        'recollect explain payments-double-charge --for "charged twice?"',
    ),
    "why": Word("why", "why", _EVERY_DAY, "recollect why recall_6353c31168f578df1a387f86"),
    "receipts": Word("receipts", "receipts", _EVERY_DAY, "recollect receipts --limit 5"),
    "update": Word("change", "update", _CHANGE, 'recollect update kiln "Booked until June."'),
    "edit": Word("change", "edit", _CHANGE, "recollect edit payments-retry-limit"),
    "supersede": Word("change", "supersede", _CHANGE, "recollect supersede rome oslo"),
    "history": Word("change", "history", _CHANGE, "recollect history payments-retry-limit"),
    "forget": Word("memories", "forget", _CHANGE, "recollect forget payments-double-charge"),
    "touch": Word("memories", "touch", _CHANGE, "recollect touch glaze-order"),
    "archive": Word("memories", "archive", _CHANGE, "recollect archive payments-double-charge"),
    "unarchive": Word(
        "memories", "unarchive", _CHANGE, "recollect unarchive payments-double-charge"
    ),
    "link": Word(
        "memories",
        "link",
        _CHANGE,
        "recollect link payments-retry-limit payments-idempotency --weight 0.8",
    ),
    "dispute": Word(
        "memories",
        "dispute",
        _CHANGE,
        "recollect dispute storefront-spa-trial storefront-server-pages",
    ),
    "resolve": Word(
        "memories",
        "resolve",
        _CHANGE,
        "recollect resolve storefront-spa-trial storefront-server-pages",
    ),
    "ingest": Word("ingest", "ingest", _CHANGE, "recollect ingest facts.json --source mail"),
    "export": Word("transfer", "export", _OPERATE, "recollect export agent.jsonl"),
    "import": Word("transfer", "import_", _OPERATE, "recollect import agent.jsonl --db copy.db"),
    "backup": Word("backup", "backup", _OPERATE, "recollect backup monday.db"),
    "restore": Word(
        "backup", "restore", _OPERATE, "recollect restore monday.db --db agent.db --replace"
    ),
    "tidy": Word("memories", "tidy", _OPERATE, "recollect tidy --dry-run"),
    "stats": Word("upkeep", "stats", _OPERATE, "recollect stats --json"),
    "check": Word("upkeep", "check", _OPERATE, "recollect check && echo all is well"),
    "repair": Word("upkeep", "repair", _OPERATE, "recollect repair && recollect check"),
    "reindex": Word("upkeep", "reindex", _OPERATE, "recollect reindex"),
    "reembed": Word(
        "upkeep", "reembed", _OPERATE, "recollect reembed openai:text-embedding-3-small"
    ),
    "audit": Word("audit", "audit", _OPERATE, "recollect audit --limit 20"),
    "serve": Word("serve", "serve", _OPERATE, "recollect serve --db agent.db --port 8377"),
    "inspector": Word("inspector", "inspector", _OPERATE, "recollect inspector --db agent.db"),
    "mcp": Word("mcp", "mcp", _OPERATE, "recollect mcp --db agent.db"),
    "install": Word("install", "install", _AGENTS, "recollect install claude-code --dry-run"),
    "uninstall": Word("install", "uninstall", _AGENTS, "recollect uninstall claude-code"),
    "doctor": Word("doctor", "doctor", _AGENTS, "recollect doctor codex"),
    "hook": Word(
        "hook", "hook", _AGENTS, "recollect hook stop --client codex < event.json", is_lenient=True
    ),
    "pause": Word("pause", "pause", _AGENTS, "recollect pause --for 30m"),
    "resume": Word("pause", "resume", _AGENTS, "recollect resume"),
    "keys": Word("keys", "app", _ACCESS),
    "gardens": Word("gardens", "app", _ACCESS),
    "quarantine": Word("quarantine", "app", _ACCESS),
    "trust": Word("trust", "app", _ACCESS),
    "frames": Word("frames", "app", _INSIDE),
    "hooks": Word("hooks", "app", _INSIDE),
    "paks": Word("paks", "app", _INSIDE),
    "pak": Word("pak", "app", _INSIDE),
    "eval": Word("evaluate", "app", _INSIDE),
}
# Other words for the same.
SAME_AS = {"search": "recall", "show": "get", "rm": "forget"}
# What people type who know other programs.
_MEANT = {
    **dict.fromkeys(("add", "save", "store", "put", "write", "new", "init", "learn"), "remember"),
    **dict.fromkeys(("find", "query", "ask", "grep", "lookup", "retrieve"), "recall"),
    **dict.fromkeys(("delete", "remove", "erase", "del", "unremember", "purge"), "forget"),
    **dict.fromkeys(("ls", "all", "browse", "memories"), "list"),
    **dict.fromkeys(("set", "change", "modify", "correct"), "update"),
    **dict.fromkeys(("replace", "successor", "obsolete"), "supersede"),
    **dict.fromkeys(("versions", "undo", "diff", "blame"), "history"),
    **dict.fromkeys(("cat", "view", "read", "open", "inspect"), "show"),
    **dict.fromkeys(("gc", "clean", "vacuum", "expire", "prune"), "tidy"),
    **dict.fromkeys(("refresh", "renew"), "touch"),
    **dict.fromkeys(("info", "status", "count"), "stats"),
    **dict.fromkeys(("verify", "fsck", "validate", "health"), "check"),
    **dict.fromkeys(("fix", "heal"), "repair"),
    **dict.fromkeys(("dump", "save-all"), "export"),
    **dict.fromkeys(("load",), "import"),
    **dict.fromkeys(("copy", "snapshot"), "backup"),
    **dict.fromkeys(("prompt", "context"), "frame"),
    **dict.fromkeys(("server", "http", "api", "daemon", "start"), "serve"),
    **dict.fromkeys(("ui", "web", "gui", "dashboard", "browser"), "inspector"),
    **dict.fromkeys(("mute", "off", "disable", "incognito", "private"), "pause"),
    **dict.fromkeys(("unpause", "unmute", "on", "enable"), "resume"),
    **dict.fromkeys(("log", "logs"), "audit"),
    **dict.fromkeys(("key", "token", "tokens", "login", "auth"), "keys"),
    **dict.fromkeys(("garden", "share"), "gardens"),
    **dict.fromkeys(("evaluate", "bench", "measure"), "eval"),
    **dict.fromkeys(("version",), "--version"),
    **dict.fromkeys(("help",), "--help"),
}
_ALIKE = 0.6
_LENIENT = {"ignore_unknown_options": True, "allow_extra_args": True}


class Words(TyperGroup):
    """The commands, each made when it is first asked for."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command of a word, or of one that means the same."""
        return self.commands.get(SAME_AS.get(cmd_name, cmd_name))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the same wherever
        """Return the words in the order in which a reader meets them."""
        return list(WORDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return a command and its arguments; a wrong word is met with what was meant."""
        word = args[0]
        if word[:1] != "-" and SAME_AS.get(word, word) not in WORDS and not ctx.resilient_parsing:
            ctx.fail(f"There is no command {word!r}. {_hint(word)}")
        return super().resolve_command(ctx, args)


class _Commands(MutableMapping[str, Any]):
    """The commands by name: as many as there are words, loaded one by one."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name, WORDS[name])
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(WORDS)

    def __len__(self) -> int:
        return len(WORDS)


def _made(name: str, word: Word) -> Any:
    found = getattr(import_module(f"recollect.edge.cli.commands.{word.module}"), word.name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(
            name,
            epilog=f"Example: {word.example}",
            context_settings=_LENIENT if word.is_lenient else None,
        )(found)
        found = alone
    command: Any = typer.main.get_command(found)
    command.name = name
    command.rich_help_panel = word.panel
    return command


def _hint(word: str) -> str:
    known = word.lower()
    if known in _MEANT:
        return f"Did you mean `recollect {_MEANT[known]}`?"
    alike = difflib.get_close_matches(known, [*WORDS, *SAME_AS], n=2, cutoff=_ALIKE)
    if alike:
        return f"Did you mean {' or '.join(f'`recollect {one}`' for one in alike)}?"
    return "`recollect --help` names all commands; `recollect recall` and a question asks one."
