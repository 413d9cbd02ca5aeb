"""Writes the plugin folders' generated files: what clients read, made from the table of clients.

In: nothing but the package. Out: `plugins/`, the marketplaces and `server.json`, with the version
of the package. A house test compares them with this; `python -m tools.plugins` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.edge.agents.clients import NAME, Server, hooks_of

ROOT = Path(__file__).parents[1]
REGISTRY_NAME = "io.github.recollect/recollect"
_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_SAYS = "Long-term memory for agents: what fits a prompt is in it, and every answer says why."
_AUTHOR = {"name": "Recollect"}
_KEYWORDS = ["memory", "recall", "agents", "mcp"]
# In a plugin, our command is found on the path.
_SERVER = Server("recollect", (), (), {})


def files() -> Mapping[str, Any]:
    """Return what each generated file holds, by its path."""
    about = {
        "name": NAME,
        "version": __version__,
        "description": _SAYS,
        "author": _AUTHOR,
        "license": "Apache-2.0",
        "keywords": _KEYWORDS,
    }
    servers = {"mcpServers": {NAME: {"command": "recollect", "args": ["mcp"]}}}
    listed = {"name": NAME, "version": __version__, "description": _SAYS}
    return {
        "plugins/claude-code/.claude-plugin/plugin.json": about,
        "plugins/claude-code/.mcp.json": servers,
        "plugins/claude-code/hooks/hooks.json": _hooks("claude-code", f"plugin:{NAME}:{NAME}"),
        "plugins/codex/.codex-plugin/plugin.json": {
            **about,
            "skills": "./skills/",
            "mcpServers": "./.mcp.json",
            "hooks": "./hooks/hooks.json",
            "interface": {
                "displayName": "Recollect",
                "shortDescription": "Long-term memory with reasons",
                "longDescription": _SAYS,
                "developerName": "Recollect",
                "category": "Productivity",
            },
        },
        "plugins/codex/.mcp.json": servers,
        "plugins/codex/hooks/hooks.json": _hooks("codex", NAME),
        ".claude-plugin/marketplace.json": {
            "name": NAME,
            "owner": _AUTHOR,
            "description": _SAYS,
            "plugins": [{**listed, "source": "./plugins/claude-code"}],
        },
        ".agents/plugins/marketplace.json": {
            "name": NAME,
            "interface": {"displayName": "Recollect"},
            "plugins": [
                {
                    "name": NAME,
                    "source": {"source": "local", "path": "./plugins/codex"},
                    "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                    "category": "Productivity",
                }
            ],
        },
        "server.json": {
            "$schema": _SCHEMA,
            "name": REGISTRY_NAME,
            "title": "Recollect",
            "description": _SAYS,
            "version": __version__,
            "packages": [
                {
                    "registryType": "pypi",
                    "identifier": "recollect",
                    "version": __version__,
                    "runtimeHint": "uvx",
                    "runtimeArguments": [
                        {
                            "type": "named",
                            "name": "--from",
                            "value": f"recollect[mcp]=={__version__}",
                        },
                    ],
                    "packageArguments": [{"type": "positional", "value": "mcp"}],
                    "transport": {"type": "stdio"},
                    "environmentVariables": [
                        {
                            "name": "RECOLLECT_DB",
                            "description": "The file of the memory; ~/.recollect unless told.",
                            "isRequired": False,
                        },
                        {
                            "name": "RECOLLECT_URL",
                            "description": "A running `recollect serve` to ask in place of a file.",
                            "isRequired": False,
                        },
                        {
                            "name": "RECOLLECT_KEY",
                            "description": "The key that says who asks.",
                            "isRequired": False,
                            "isSecret": True,
                        },
                    ],
                }
            ],
        },
    }


def _hooks(client: str, server: str) -> dict[str, Any]:
    hooks: dict[str, list[Any]] = {}
    for event, group in hooks_of(client, _SERVER, tools=False, name=server):
        hooks.setdefault(event, []).append(group)
    told = {"description": "Shows what fits a prompt, and keeps what was said."}
    return {**told, "hooks": hooks} if client == "claude-code" else {"hooks": hooks}


def text_of(held: Any) -> str:
    """Return what a file holds, as it is written."""
    return json.dumps(held, indent=2) + "\n"


def main() -> None:
    """Write every file."""
    for path, held in files().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text_of(held), encoding="utf-8")


if __name__ == "__main__":
    main()
