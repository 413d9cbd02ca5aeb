"""`recollect paks …` as people and programs use it."""

from __future__ import annotations

import json
import shlex
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.paks import PakRow, RecallStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]


def answer(result: CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def stale_copy(shop: Path, folder: Path) -> Path:
    """Copy the catalogue and take one Pak out of its full-text table."""
    path = folder / "stale.db"
    path.write_bytes(shop.read_bytes())
    with RecallStore.open(path) as store:
        store.conn.execute("DELETE FROM paks_fts WHERE rowid = (SELECT max(rowid) FROM paks_fts)")
    return path


def test_a_listing_in_json_holds_every_column_and_the_flags(run: Run, shop: Path) -> None:
    page = answer(run("paks", "list", "--db", shop, "--json"))
    assert page.keys() == {"items", "next_cursor", "limit", "truncated"}
    assert len(page["items"]) == page["limit"] == 20
    assert page["truncated"] is True
    for item in page["items"]:
        assert item.keys() == {*PakRow._fields, "risk_flags"}
    times = [item["updated_at"] for item in page["items"]]
    assert times == sorted(times, reverse=True)
    retries = next(item for item in page["items"] if item["pak_id"] == "payments-retry-limit")
    assert retries["risk_flags"] == [{"risk_flag": "cache_sensitive_ordering", "severity": "info"}]


def test_cursors_lead_through_all_pages_and_meet_each_pak_once(run: Run, shop: Path) -> None:
    met: list[str] = []
    cursor: list[str] = []
    while True:
        page = answer(run("paks", "list", "--db", shop, "--limit", "13", "--json", *cursor))
        met += [item["pak_id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = ["--cursor", page["next_cursor"]]
    assert len(met) == len(set(met)) == 30


def test_a_listing_can_be_narrowed_to_a_project_and_a_type(run: Run, shop: Path) -> None:
    page = answer(
        run("paks", "list", "--db", shop, "--project", "warehouse", "--type", "decision", "--json")
    )
    assert [item["pak_id"] for item in page["items"]] == ["warehouse-reserve"]


def test_the_hint_below_a_page_is_a_command_that_shows_the_next_one(run: Run, shop: Path) -> None:
    first = run("paks", "list", "--db", shop, "--project", "payments", "--limit", "5")
    command = first.stdout.strip().splitlines()[-1].removeprefix("More: ")
    second = run(*shlex.split(command)[1:])
    assert second.returncode == 0
    assert "payments-double-charge" in first.stdout
    assert "payments-provider" in second.stdout
    assert "payments-provider" not in first.stdout
    assert "More:" not in second.stdout


def test_a_listing_without_matches_says_so(run: Run, shop: Path) -> None:
    result = run("paks", "list", "--db", shop, "--project", "nowhere")
    assert (result.returncode, result.stdout) == (0, "No Paks match.\n")


def test_show_in_json_holds_everything_about_a_pak(run: Run, shop: Path) -> None:
    pak = answer(run("paks", "show", "payments-double-charge", "--db", shop, "--json"))["pak"]
    attached = {"reason_codes", "risk_flags", "anchors", "relations"}
    assert pak.keys() == {*PakRow._fields, *attached}
    assert {"reason_code": "recent_failure_link", "weight": 0.9} in pak["reason_codes"]
    assert {"risk_flag": "raw_logs_deferred", "severity": "warn"} in pak["risk_flags"]
    assert {
        "anchor_id": "charge",
        "source_path": "shop/payments/charge.py",
        "kind": "function",
    } in pak["anchors"]
    assert {
        "related_pak_id": "payments-idempotency",
        "relation_type": "led_to",
    } in pak["relations"]


def test_show_puts_the_blocking_flag_first_and_names_every_field(run: Run, shop: Path) -> None:
    shown = run("paks", "show", "payments-card-rules", "--db", shop).stdout
    flags = [
        shown.index(name)
        for name in ("mandatory_context_missing", "governance_applies", "network_or_egress_risk")
    ]
    assert flags == sorted(flags)
    assert "BLOCK" in shown
    for field in PakRow._fields:
        if field not in ("pak_id", "title", "summary"):
            assert field in shown
    for text in ("governance_constraint", "1.00", "card.html", "signed compliance sheet"):
        assert text in shown


def test_a_superseded_pak_names_its_successor(run: Run, shop: Path) -> None:
    shown = run("paks", "show", "storefront-spa-trial", "--db", shop).stdout
    assert "storefront-server-pages" in shown


def test_search_ranks_and_scores(run: Run, shop: Path) -> None:
    words = ("card", "payment", "retry")
    hits = answer(run("paks", "search", *words, "--db", shop, "--json"))["hits"]
    assert hits[0]["pak"]["pak_id"] == "payments-double-charge"
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_search_for_all_words_finds_fewer(run: Run, shop: Path) -> None:
    words = ("failed", "payment")
    some = answer(run("paks", "search", *words, "--db", shop, "--json"))["hits"]
    every = answer(run("paks", "search", *words, "--all", "--db", shop, "--json"))["hits"]
    assert [hit["pak"]["pak_id"] for hit in every] == ["payments-retry-limit"]
    assert len(some) > len(every)


def test_search_can_be_narrowed_and_limited(run: Run, shop: Path) -> None:
    narrow = ("--project", "warehouse", "--type", "incident", "--limit", "1", "--json")
    hits = answer(run("paks", "search", "the", "teapot", "--db", shop, *narrow))["hits"]
    assert [hit["pak"]["pak_id"] for hit in hits] == ["warehouse-stock-race"]


def test_search_takes_any_text(run: Run, shop: Path) -> None:
    for text in ('c++ "foo', "NEAR(", "🫖", "", "' OR 1=1 --"):
        assert "hits" in answer(run("paks", "search", "--db", shop, "--json", "--", text))


def test_check_of_a_sound_catalogue_is_quiet(run: Run, shop: Path) -> None:
    assert answer(run("paks", "check", "--db", shop, "--json")) == {
        "ok": True,
        "paks": 30,
        "problems": [],
    }
    assert run("paks", "check", "--db", shop).stdout == f"OK  {shop}: 30 Paks, no problems.\n"


def test_check_of_a_stale_catalogue_exits_with_one(run: Run, shop: Path, tmp_path: Path) -> None:
    stale = stale_copy(shop, tmp_path)
    result = run("paks", "check", "--db", stale, "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout) == {
        "ok": False,
        "paks": 30,
        "problems": ["1 Paks cannot be found by full text"],
    }
    told = run("paks", "check", "--db", stale)
    assert told.returncode == 1
    assert f"recollect paks repair --db {stale}" in told.stdout


def test_repair_mends_and_says_what_it_did(run: Run, shop: Path, tmp_path: Path) -> None:
    stale = stale_copy(shop, tmp_path)
    assert answer(run("paks", "repair", "--db", stale, "--json")) == {
        "ok": True,
        "upgraded": False,
        "removed": 0,
        "added": 1,
        "problems_before": ["1 Paks cannot be found by full text"],
        "problems_after": [],
    }
    assert run("paks", "check", "--db", stale).returncode == 0


def test_repair_of_a_sound_catalogue_changes_nothing(run: Run, shop: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(shop.read_bytes())
    told = run("paks", "repair", "--db", copy)
    assert told.returncode == 0
    assert "Found nothing wrong." in told.stdout
    assert "0 rows removed, 0 added" in told.stdout


def test_an_older_catalogue_is_refused_for_reading_and_brought_up_to_date_by_repair(
    run: Run, tmp_path: Path
) -> None:
    old = tmp_path / "old.db"
    conn = sqlite3.connect(old)
    conn.executescript(
        "CREATE TABLE schema_version (id INTEGER PRIMARY KEY CHECK (id = 1),"
        " version INTEGER NOT NULL, applied_at TEXT NOT NULL);"
        "INSERT INTO schema_version VALUES (1, 0, '2025-01-01T00:00:00Z');"
    )
    conn.close()
    refused = run("paks", "list", "--db", old, "--json")
    assert refused.returncode == 1
    error = json.loads(refused.stdout)["error"]
    assert error["code"] == "store_outdated"
    assert f"recollect paks repair --db {old}" in error["hint"]
    assert answer(run("paks", "repair", "--db", old, "--json"))["upgraded"] is True
    assert run("paks", "list", "--db", old).stdout == "No Paks match.\n"


def test_reading_commands_leave_the_file_as_it_is(run: Run, shop: Path) -> None:
    before = shop.read_bytes()
    for command in (("list",), ("show", "team-backup-drill"), ("search", "tea"), ("check",)):
        assert run("paks", *command, "--db", shop).returncode == 0
    assert shop.read_bytes() == before


def test_the_environment_can_name_the_database(run: Run, shop: Path) -> None:
    for variable in ("RECOLLECT_DB", "TOKENPAK_RECALL_DB"):
        assert len(answer(run("paks", "list", "--json", **{variable: str(shop)}))["items"]) == 20
