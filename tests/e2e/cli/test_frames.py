"""`recollect frames …`: look at the recipes, make one, use it, change it, delete it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]

WEIGHTS = ("--weights", "0.4", "0.4", "0.1", "0.05", "0.05")


def test_the_built_in_frames_are_listed_and_shown(run: Run, shop: Path) -> None:
    listed = json.loads(run("frames", "list", "--db", shop, "--json").stdout)["frames"]
    assert [one["name"] for one in listed] == ["self", "attention", "task", "evidence"]
    drawn = run("frames", "list", "--db", shop, COLUMNS="80").stdout
    assert "0.35 0.15 0.25 0.15 0.10" in drawn
    assert "always self/constitutional" in drawn
    shown = run("frames", "show", "self", "--db", shop).stdout
    for text in ("constitutional", "3,600 s", "200 active hours", "reinforcement", "0.30"):
        assert text in shown


def test_a_frame_of_ones_own_lives_and_dies(run: Run, copy: Path) -> None:
    made = run(
        *("frames", "register", "review", "--extends", "task", *WEIGHTS, "--template", "self"),
        *("--budget", "400", "--guarantee", "self/value", "--tag-pattern", "self/%"),
        *("--tag-pattern", "checkout", "--window", "none", "--db", copy, "--json"),
    )
    frame = json.loads(made.stdout)["frame"]
    assert frame["weights"]["confidence"] == 0.4
    assert frame["extends"] == "task"
    assert frame["template"] == "self"
    assert frame["token_budget"] == 400
    assert frame["guarantees"] == ["self/value"]
    assert frame["filters"]["tag_patterns"] == ["self/%", "checkout"]
    assert frame["filters"]["search_window_hours"] is None
    used = run("frame", "review", "small changes", "--db", copy)
    assert "We like small pull requests" in used.stdout
    changed = run("frames", "update", "review", "--budget", "90", "--window", "12", "--db", copy)
    assert changed.returncode == 0
    shown = json.loads(run("frames", "show", "review", "--db", copy, "--json").stdout)["frame"]
    assert (shown["token_budget"], shown["filters"]["search_window_hours"]) == (90, 12.0)
    assert shown["weights"] == frame["weights"]
    assert run("frames", "delete", "review", "--db", copy).stdout == "Deleted review.\n"
    gone = json.loads(run("frame", "review", "--db", copy, "--json").stdout)["error"]
    assert gone["code"] == "unknown_frame"
    assert "self, attention, task, evidence" in gone["hint"]


def test_cache_and_categories_of_a_frame_are_set_changed_and_taken_away(
    run: Run, copy: Path
) -> None:
    made = run(
        *("frames", "register", "daily", *WEIGHTS, "--category", "knowledge"),
        *("--category", "observation", "--cache-ttl", "600", "--cache-event", "curate_complete"),
        *("--db", copy, "--json"),
    )
    frame = json.loads(made.stdout)["frame"]
    assert frame["filters"]["categories"] == ["knowledge", "observation"]
    assert frame["cache"] == {"ttl_seconds": 600, "invalidate_on": ["curate_complete"]}
    changed = run("frames", "update", "daily", "--cache-ttl", "60", "--db", copy, "--json")
    cache = json.loads(changed.stdout)["frame"]["cache"]
    assert cache == {"ttl_seconds": 60, "invalidate_on": ["curate_complete"]}
    shown = run("frames", "show", "daily", "--db", copy).stdout
    for text in ("60 s", "curate_complete", "knowledge, observation"):
        assert text in shown
    ended = run("frames", "update", "daily", "--cache-ttl", "none", "--db", copy, "--json")
    assert json.loads(ended.stdout)["frame"]["cache"] is None
    kept = run("frames", "update", "daily", "--budget", "90", "--db", copy, "--json")
    assert json.loads(kept.stdout)["frame"]["cache"] is None


def test_what_a_frame_may_not_be_is_said(run: Run, copy: Path) -> None:
    cases = {
        ("register", "task", *WEIGHTS): "frame_immutable",
        ("delete", "self"): "frame_immutable",
        ("register", "mine", "--weights", "1", "1", "0", "0", "0"): "invalid_input",
        ("register", "mine"): "invalid_input",
        ("register", "mine", *WEIGHTS, "--template", "poem"): "unknown_template",
        ("update", "nobody", "--budget", "5"): "unknown_frame",
        ("register", "mine", *WEIGHTS, "--cache-event", "full_moon"): "invalid_input",
        ("register", "mine", *WEIGHTS, "--cache-ttl", "0"): "invalid_input",
    }
    for words, code in cases.items():
        result = run("frames", *words, "--db", copy, "--json")
        assert result.returncode == 1, words
        assert json.loads(result.stdout)["error"]["code"] == code, words
    for words in (
        ("--weights", "1", "0"),
        (*WEIGHTS, "--window", "soon"),
        (*WEIGHTS, "--cache-ttl", "1.5"),
        (*WEIGHTS, "--cache-ttl", "none", "--cache-event", "curate_complete"),
    ):
        assert run("frames", "register", "mine", *words, "--db", copy).returncode == 2
