"""Plugins and the registry's file are in step with the package: one version, one table of hooks."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from tests.house.snippets import ROOT
from tools.plugins import REGISTRY_NAME, files, text_of

from recollect import __version__

SKILLS = [ROOT / f"plugins/{client}/skills/memory/SKILL.md" for client in ("claude-code", "codex")]


@pytest.mark.parametrize("path", files())
def test_a_generated_file_is_what_the_table_gives(path: str) -> None:
    held = (ROOT / path).read_text(encoding="utf-8")
    assert held == text_of(files()[path]), "run: python -m tools.plugins"


def test_the_registry_the_package_and_the_readme_name_one_version_and_one_server() -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (listed,) = server["packages"]
    assert {server["version"], listed["version"], package["version"]} == {__version__}
    assert listed["identifier"] == package["name"]
    assert f"recollect[mcp]=={__version__}" in text_of(listed)
    assert len(server["description"]) <= 100
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- mcp-name: (\S+) -->", readme) == [server["name"]] == [REGISTRY_NAME]


def test_both_skills_are_one_and_say_what_they_are_for() -> None:
    first, second = (path.read_text(encoding="utf-8") for path in SKILLS)
    assert first == second
    _, front, body = first.split("---\n", 2)
    told = dict(line.split(": ", 1) for line in front.strip().splitlines())
    assert told.keys() == {"name", "description"} and len(told["description"]) <= 1024
    for tool in ("recall", "get_memory", "explain", "update_memory"):
        assert f"`{tool}`" in body


def test_a_plugin_says_in_forty_words_what_it_is() -> None:
    for client in ("claude-code", "codex"):
        text = (ROOT / f"plugins/{client}/README.md").read_text(encoding="utf-8")
        assert len(text.split()) >= 40
        assert f"recollect install {client}" in text
