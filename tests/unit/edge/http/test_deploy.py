"""What stands in deploy/ agrees with the server."""

from __future__ import annotations

import configparser
import json
import re

import yaml  # type: ignore[import-untyped]
from tests.house.snippets import ROOT

from recollect.edge.http.counts import Counts

DEPLOY = ROOT / "deploy"


def _names() -> set[str]:
    """Every name and label that a server can show."""
    counts = Counts(None)
    counts.began()
    counts.ended("recall", 200, 0.01, reason="server_busy")
    counts.answered("recall", {"degraded": ["vector"]})
    counts.hook_did("check", {"allow": 1})
    page = counts.page().decode()
    named = re.findall(r"^(recollect_\w+)", page, re.MULTILINE)
    labels = re.findall(r'(\w+)="', page)
    return {*named, *labels}


def test_the_board_asks_for_what_a_server_counts_and_for_all_of_it() -> None:
    board = json.loads((DEPLOY / "grafana.json").read_text())
    asked = " ".join(one["expr"] for panel in board["panels"] for one in panel["targets"])
    names = _names()
    wanted = set(re.findall(r"recollect_\w+", asked))
    grouped = {
        one.strip() for group in re.findall(r"by \(([^)]*)\)", asked) for one in group.split(",")
    }
    assert wanted <= names
    assert grouped <= names
    shown = {
        re.sub(r"_(bucket|sum|count|created)$", "", name) for name in names if "recollect_" in name
    }
    assert {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in wanted} == {
        name
        for name in shown
        if not re.search("^recollect_(requests|refused|degraded|hooks|embedder_failures)$", name)
    }


def test_the_container_is_nobody_and_writes_in_one_place() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    (service,) = compose["services"].values()
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert len(service["volumes"]) == 1
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    assert "USER recollect" in lines
    assert [line.split()[1] for line in lines if line.startswith("FROM")] == [
        "python:3.12-slim"
    ] * 2


def test_the_unit_is_closed_off_and_waits_for_what_was_begun() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign, assignment]
    unit.read_string((DEPLOY / "recollect.service").read_text())
    service = unit["Service"]
    assert service["DynamicUser"] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "yes"
    assert int(service["TimeoutStopSec"]) > 32
    assert "recollect serve" in service["ExecStart"]
