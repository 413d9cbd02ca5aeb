"""The clients that can be set up: where each keeps its servers, in what shape, and its own command.

In: the folders that clients look into. Out: paths and plain data. A table: what is done with it is
in `setup`. Nothing here reads or writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from recollect.patterns import regex
from recollect.values import dataclass

__all__ = [
    "CLIENTS",
    "NAME",
    "STARTED_BY_PROCESS",
    "Client",
    "Folders",
    "Server",
    "hooks_of",
    "is_ours",
]

# What our server is called in every client; hooks name it.
NAME = "recollect"
_TOOL = "on_hook"
_MAC = "darwin"


@dataclass(frozen=True, slots=True)
class Server:
    """How a client starts our server, and what runs where a hook cannot call it."""

    command: str
    before: tuple[str, ...]
    options: tuple[str, ...]
    env: Mapping[str, str]

    @property
    def arguments(self) -> list[str]:
        """What comes behind the command to start the server."""
        return [*self.before, "mcp", *self.options]

    def hook(self, event: str, client: str, *more: str) -> list[str]:
        """Return the words that answer an event in a process of their own."""
        words = ["hook", event, "--client", client, *more, *self.options]
        env = ["env", *(f"{name}={value}" for name, value in self.env.items())] if self.env else []
        return [*env, self.command, *self.before, *words]


@dataclass(frozen=True, slots=True)
class Folders:
    """Where clients keep their files: below a home directory, unless variables of theirs say else.

    `chosen` has what those say: `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `XDG_CONFIG_HOME`.
    """

    home: Path
    platform: str = "linux"
    chosen: Mapping[str, Path] = field(default_factory=dict)

    @property
    def claude(self) -> Path:
        """Claude Code's own folder."""
        return self.chosen.get("CLAUDE_CONFIG_DIR") or self.home / ".claude"

    @property
    def codex(self) -> Path:
        """Codex' own folder."""
        return self.chosen.get("CODEX_HOME") or self.home / ".codex"

    @property
    def config(self) -> Path:
        """Where programs of a desktop keep what is chosen; on a Mac they ask no variable."""
        chosen = None if self.platform == _MAC else self.chosen.get("XDG_CONFIG_HOME")
        return chosen or self.home / ".config"

    @property
    def applications(self) -> Path:
        """Where large programs keep what is chosen."""
        is_mac = self.platform == _MAC
        return self.home / "Library" / "Application Support" if is_mac else self.config


@dataclass(frozen=True, slots=True)
class Client:
    """A client: `file` holds its servers below `keys`; `hooks_file`, if it has hooks, those."""

    name: str
    title: str
    form: Literal["json", "toml"]
    keys: tuple[str, ...]
    file: Callable[[Folders], Path]
    entry: Callable[[Server], dict[str, Any]]
    program: str | None = None
    add: Callable[[Server], list[str]] | None = None
    take_out: tuple[str, ...] = ()
    hooks_file: Callable[[Folders], Path] | None = None


def _plain(server: Server) -> dict[str, Any]:
    told: dict[str, Any] = {"command": server.command, "args": server.arguments}
    return {**told, "env": dict(server.env)} if server.env else told


def _typed(server: Server) -> dict[str, Any]:
    return {"type": "stdio", **_plain(server)}


def _claude_code(server: Server) -> dict[str, Any]:
    # As its own command writes it, so that both ways lead to the same entry.
    return {"type": "stdio", **_plain(server), "env": dict(server.env)}


def _zed(server: Server) -> dict[str, Any]:
    return {**_plain(server), "env": dict(server.env)}


def _pairs(flag: str, env: Mapping[str, str]) -> list[str]:
    return [word for name, value in env.items() for word in (flag, f"{name}={value}")]


def _claude_adds(server: Server) -> list[str]:
    words = ["claude", "mcp", "add", "--scope", "user", NAME, *_pairs("-e", server.env)]
    return [*words, "--", server.command, *server.arguments]


def _codex_adds(server: Server) -> list[str]:
    words = ["codex", "mcp", "add", NAME, *_pairs("--env", server.env)]
    return [*words, "--", server.command, *server.arguments]


def _gemini_adds(server: Server) -> list[str]:
    words = ["gemini", "mcp", "add", "--scope", "user", NAME, server.command]
    return [*words, *_pairs("-e", server.env), "--", *server.arguments]


CLIENTS: Mapping[str, Client] = {
    one.name: one
    for one in (
        Client(
            "claude-code",
            "Claude Code",
            "json",
            ("mcpServers",),
            # In the home directory, or in the folder that was chosen: not in ~/.claude.
            lambda at: at.chosen.get("CLAUDE_CONFIG_DIR", at.home) / ".claude.json",
            _claude_code,
            program="claude",
            add=_claude_adds,
            take_out=("claude", "mcp", "remove", "--scope", "user", NAME),
            hooks_file=lambda at: at.claude / "settings.json",
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            "json",
            ("mcpServers",),
            lambda at: at.applications / "Claude" / "claude_desktop_config.json",
            _plain,
        ),
        Client(
            "codex",
            "Codex",
            "toml",
            ("mcp_servers",),
            lambda at: at.codex / "config.toml",
            _plain,
            program="codex",
            add=_codex_adds,
            take_out=("codex", "mcp", "remove", NAME),
            hooks_file=lambda at: at.codex / "hooks.json",
        ),
        Client(
            "cursor",
            "Cursor",
            "json",
            ("mcpServers",),
            lambda at: at.home / ".cursor" / "mcp.json",
            _plain,
        ),
        Client(
            "vscode",
            "VS Code",
            "json",
            ("servers",),
            lambda at: at.applications / "Code" / "User" / "mcp.json",
            _typed,
        ),
        Client(
            "gemini",
            "Gemini CLI",
            "json",
            ("mcpServers",),
            lambda at: at.home / ".gemini" / "settings.json",
            _plain,
            program="gemini",
            add=_gemini_adds,
            take_out=("gemini", "mcp", "remove", "--scope", "user", NAME),
        ),
        Client(
            "zed",
            "Zed",
            "json",
            ("context_servers",),
            lambda at: at.config / "zed" / "settings.json",
            _zed,
        ),
        Client(
            "windsurf",
            "Windsurf",
            "json",
            ("mcpServers",),
            lambda at: at.home / ".codeium" / "windsurf" / "mcp_config.json",
            _plain,
        ),
    )
}

# What an event tells: clients fill in what stands in ${}, and some refuse what they do not know.
_ALWAYS = ("hook_event_name", "session_id", "transcript_path", "cwd")
_TELLS: Mapping[str, tuple[str, ...]] = {
    "UserPromptSubmit": ("prompt",),
    "Stop": ("last_assistant_message",),
    "SessionStart": ("source",),
    "PreCompact": ("trigger",),
    "PostToolUse": ("tool_name", "tool_input", "tool_response"),
}
_ACTS = "Edit|Write|Bash|apply_patch|shell"
# In whole seconds, as clients take them; none of ours waits so long.
_PATIENCE_S = 5
# Where a client has no connection to a server at that moment, a process answers.
_BY_PROCESS: Mapping[str, Mapping[str, str]] = {
    "claude-code": {
        "SessionStart": "session-start",
        "PreCompact": "pre-compact",
        "SessionEnd": "session-end",
    },
    "codex": {"SessionEnd": "session-end"},
}
# Whose sessions may begin before we are ready to say anything.
STARTED_BY_PROCESS = tuple(name for name, how in _BY_PROCESS.items() if "SessionStart" in how)
_BY_SERVER: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("UserPromptSubmit", "Stop"),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"),
}
_EVENTS = sorted({word for words in _BY_PROCESS.values() for word in words.values()})
# Words of `Server.hook`: another program may have our name in its path, and hooks of its own.
_OUR_COMMAND = regex(rf"{NAME}\S* (?:\S+ )*?hook (?:{'|'.join(_EVENTS)}) --client ")
# Codex gives an ending session three seconds.
_MOST_AT_END_S = {"codex": 3}


def hooks_of(
    client: str, server: Server, *, tools: bool, name: str = NAME
) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of a client that we answer, each with its group of hooks.

    `name` is what the client calls our server, which is another one in a plugin.
    """
    by_server = (*_BY_SERVER.get(client, ()), *(("PostToolUse",) if tools else ()))
    if client not in _BY_SERVER:
        return []
    found: list[tuple[str, dict[str, Any]]] = []
    for event in by_server:
        only = {"matcher": _ACTS} if event == "PostToolUse" else {}
        found.append((event, {**only, "hooks": [_call(client, event, name)]}))
    for event, word in _BY_PROCESS[client].items():
        found.append((event, {"hooks": [_process(client, event, server.hook(word, client))]}))
    return found


def _call(client: str, event: str, name: str) -> dict[str, Any]:
    told: dict[str, Any] = {one: f"${{{one}}}" for one in (*_ALWAYS, *_TELLS[event])}
    told["client"] = client
    if event == "PostToolUse":
        told["keep_tools"] = True
    return {
        "type": "mcp_tool",
        "server": name,
        "tool": _TOOL,
        "input": told,
        "timeout": _PATIENCE_S,
    }


def _process(client: str, event: str, words: Sequence[str]) -> dict[str, Any]:
    import shlex

    waits = _MOST_AT_END_S.get(client, _PATIENCE_S) if event == "SessionEnd" else _PATIENCE_S
    return {"type": "command", "command": shlex.join(words), "timeout": waits}


def is_ours(hook: object) -> bool:
    """Return whether a hook of a client's file is one that we put there."""
    if not isinstance(hook, dict):
        return False
    if hook.get("type") == "mcp_tool":
        return hook.get("server") == NAME and hook.get("tool") == _TOOL
    command = hook.get("command")
    return isinstance(command, str) and _OUR_COMMAND.search(command) is not None
