"""What is installed, pinned and automated agrees with `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.house.snippets import ROOT, makefile_targets
from tools import audit

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")


def test_every_dependency_is_pinned_inside_its_range_with_hashes_and_without_address() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    pinned = audit.pinned()
    wanted = [text for extra in ("dev", "openai", "transformer") for text in extras[extra]]
    for text in (*PROJECT["project"]["dependencies"], *wanted):
        one = Requirement(text)
        versions = pinned[canonicalize_name(one.name)]
        assert versions
        assert [version for version in versions if not one.specifier.contains(version)] == []
    assert "://" not in CONSTRAINTS
    assert "--index-url" not in CONSTRAINTS
    entries = re.split(r"\n(?=\S)", CONSTRAINTS.strip())
    assert [entry for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", entry)] == []


def test_the_audit_finds_nothing() -> None:
    assert list(audit.complaints()) == []


def test_the_audit_sees_what_it_should() -> None:
    assert audit.unused([Requirement("numpy>=2"), Requirement("left-pad>=1")]) == ["left-pad"]
    assert {"numpy", "rich", "markdown-it-py"} <= set(audit.installed(audit.declared()))


def test_the_workflow_runs_every_python_that_is_promised() -> None:
    promised = re.findall(
        r"Python :: (3\.\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.MULTILINE
    )
    assert promised == re.findall(r'"(3\.\d+)"', WORKFLOW.partition("include:")[0])
    used = re.findall(r"uses: (\S+)", WORKFLOW)
    assert {one.partition("@")[0] for one in used} == {"actions/checkout", "actions/setup-python"}
    assert "://" not in WORKFLOW
    assert set(re.findall(r"run: make ([a-z-]+)", WORKFLOW)) <= makefile_targets()


def test_hooks_before_a_commit_fetch_nothing() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"repo: (\S+)", text)) == {"local"}
    assert set(re.findall(r"language: (\S+)", text)) == {"system"}
    for path in re.findall(r"tests/\S+\.py", text):
        assert (ROOT / path).exists()


def test_contributing_names_files_and_targets_that_are_here() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src|tests|docs)/[\w./-]+)`|(tests/\S+\.py)", text)
    assert [name for pair in paths for name in pair if name and not (ROOT / name).exists()] == []
    assert set(re.findall(r"`?\bmake ([a-z-]+)`?", text)) <= makefile_targets()
