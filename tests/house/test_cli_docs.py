"""`docs/cli.md` knows every command, and its examples and those for operators do what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.house.snippets import ROOT, Reader, blocks, commands
from typer.main import get_command

from recollect.edge.cli.app import app

PAGE = ROOT / "docs/cli.md"


def test_each_command_of_the_page_for_operators_does_what_it_shows(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(ROOT / "docs/operating.md"):
        reader.follow(block)
    for word in ("backup", "restore", "check", "stats", "reembed", "export", "import", "keys"):
        assert any(f"recollect {word}" in command for command in reader.commands), word


def test_every_command_has_a_heading_and_every_heading_a_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    headings = set(re.findall(r"^## `(recollect [^`]+)`$", text, re.MULTILINE))
    assert headings == set(commands(get_command(app), "recollect"))


def test_every_option_is_named_below_its_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text.split("## What all commands share\n")[1].split("\n## ")[0]
    shared = set(re.findall(r"^\| `(--[\w-]+)", section, re.MULTILINE))
    assert shared == {
        "--db",
        "--json",
        "--help",
        "--embedder",
        "--request-id",
        "--read-only",
        "--url",
        "--key",
    }
    for name in commands(get_command(app), "recollect"):
        section = re.split(r"^## ", text.split(f"## `{name}`\n")[1], flags=re.MULTILINE)[0]
        command: Any = get_command(app)
        for word in name.split()[1:]:
            command = command.commands[word]
        options = {
            option for param in command.params for option in param.opts if option[:2] == "--"
        }
        missing = {option for option in options if f"`{option}" not in section}
        assert missing - shared == set(), name


def test_the_examples_run_and_print_what_the_page_shows(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(PAGE):
        reader.follow(block)
    for name in commands(get_command(app), "recollect"):
        assert any(name in command for command in reader.commands), f"no example of {name}"
