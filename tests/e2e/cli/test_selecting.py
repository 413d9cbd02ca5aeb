"""`select`, `explain` and `pak inspect` as a person and a program meet them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.paks import RecallStore, RiskFlagEntry

if TYPE_CHECKING:
    from tests.e2e.cli.conftest import Run

NOW = "2026-04-01T00:00:00Z"
ASK = ("select", "card", "payment", "--project", "payments", "--now", NOW)


def test_a_program_gets_what_the_library_gives(run: Run, shop: Path) -> None:
    told = run(
        *ASK, "--limit", "3", "--type", "decision", "--budget", "100", "--json", "--db", shop
    )
    assert told.returncode == 0, told.stderr
    answer = json.loads(told.stdout)
    assert len(answer["scores"]) <= 3
    assert answer["tokens_used"] <= 100
    assert answer["query"]["pak_type"] == "decision"
    assert answer["generated_at"] == NOW
    for score in answer["scores"]:
        assert abs(sum(score["parts"].values()) - score["score"]) < 1e-9
    assert told.stdout == run(*told.args[1:]).stdout


def test_a_block_is_the_first_thing_that_people_see(run: Run, copy: Path) -> None:
    with RecallStore.open(copy) as store:
        flags = [RiskFlagEntry("mandatory_context_missing", "block")]
        store.set_pak_risk_flags("payments-retry-limit", flags)
    told = run(*ASK, "--db", copy)
    first = next(line for line in told.stdout.splitlines() if line.strip())
    assert "BLOCK" in first
    assert "payments-retry-limit" in first
    assert "It was selected all the same; you decide." in first


def test_an_expression_is_read_when_asked_for_and_refused_with_its_place(
    run: Run, shop: Path
) -> None:
    ask = ("select", "--syntax", "fts5", "--json", "--db", shop)
    both = json.loads(run(*ask, "card AND paym*").stdout)
    without = json.loads(run(*ask, "card NOT paym*").stdout)
    names = [{score["pak_id"] for score in one["scores"]} for one in (both, without)]
    assert names[0] and not names[0] & names[1]
    assert both["query"]["syntax"] == "fts5"
    told = run("select", "--syntax", "fts5", "card AND", "--db", shop)
    assert told.returncode == 1
    assert "from character 9 on" in told.stderr


def test_nothing_selected_is_said(run: Run, shop: Path) -> None:
    told = run("select", "xylophone", "--db", shop)
    assert told.returncode == 0
    assert "No Pak was selected." in told.stdout
    assert "possible_context_miss" in told.stdout


def test_superseded_and_skipped_paks_are_told(run: Run, shop: Path) -> None:
    ask = ("select", "single", "page", "app", "--db", shop, "--json")
    without = json.loads(run(*ask).stdout)
    assert ("storefront-spa-trial", "superseded") in {
        (one["pak_id"], one["stage"]) for one in without["dropped"]
    }
    with_it = json.loads(run(*ask, "--superseded").stdout)
    assert "storefront-spa-trial" in {score["pak_id"] for score in with_it["scores"]}
    skipped = json.loads(run(*ask, "--superseded", "--exclude", "skip").stdout)
    assert ("storefront-spa-trial", "exclude") in {
        (one["pak_id"], one["stage"]) for one in skipped["dropped"]
    }


def test_why_and_why_not(run: Run, shop: Path) -> None:
    ask = ("--for", "card payment timed out", "--db", shop, "--json")
    told = json.loads(run("explain", "payments-double-charge", *ask).stdout)
    assert told["returned"]
    assert told["verb"] == "recall"
    total = sum(one["contribution"] for one in told["contributions"])
    assert abs(total - told["score"]) < 1e-6
    framed = json.loads(run("explain", "payments-double-charge", *ask, "--frame", "self").stdout)
    assert (framed["verb"], framed["stage"]) == ("frame", "filter")
    picked = json.loads(run("explain", "payments-double-charge", *ask, "--select").stdout)
    assert (picked["verb"], picked["stage"]) == ("select", "returned")
    nobody = json.loads(run("explain", "nobody", *ask).stdout)
    assert nobody["stage"] == "unknown"


def test_bad_words_are_refused_with_a_hint(run: Run, shop: Path) -> None:
    told = run("select", "x", "--now", "yesterday", "--db", shop, "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["error"]["code"] == "invalid_input"
    assert run("select", "x", "--exclude", "drop", "--db", shop).returncode == 2
    told = run("explain", "a", "--frame", "nonsense", "--db", shop, "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["error"]["hint"]


def test_inspect_shows_all_sides_of_a_pak(run: Run, shop: Path) -> None:
    told = json.loads(
        run("pak", "inspect", "payments-double-charge", "--db", shop, "--json").stdout
    )
    assert told["memory"]["content"].startswith("On 12 March")
    assert [link["pak_id"] for link in told["links"]] == [
        "payments-idempotency",
        "payments-retry-limit",
    ]
    missing = run("pak", "inspect", "nobody", "--db", shop, "--json")
    assert missing.returncode == 1
    assert json.loads(missing.stdout)["error"]["code"] == "unknown_pak"
