"""The fault matrix: what was done to a store, how often, and what came of it.

`python -m tests.faults.matrix` runs the tests that stand in `ROWS` and prints the table of
docs/reliability.md with the counts of that run; `--long` runs their long forms too, `--write` puts
the table into the page. A test that tries many things in one says how many by
`record_property("tried", count)`; any other counts as one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["CLAIMS", "PAGE", "ROWS", "Row", "cells", "main", "table"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reliability.md"
BEGIN, END = "<!-- the fault matrix begins -->", "<!-- the fault matrix ends -->"

# What must never be; a row says which of them its test would see.
CLAIMS = ("acknowledged lost", "silently wrong", "bare driver error", "hang")
LOST, WRONG, BARE, HANG = CLAIMS


@dataclass(frozen=True)
class Row:
    """One fault, what was going on meanwhile, the test that does it, and what it would see."""

    fault: str
    verbs: str
    test: str
    sees: tuple[str, ...]


_ENGINE, _DISKS = "tests/e2e/engine/", "tests/e2e/paks/test_disks.py::"
_FAULTS, _POLICY = "tests/faults/", "tests/contract/policy/"
ROWS = (
    Row(
        "an interrupt at each line",
        "every verb that writes, and closing",
        f"{_FAULTS}test_raising_verbs.py::test_an_interrupt_at_any_line_leaves_a_handle_that_works",
        (LOST, WRONG, BARE, HANG),
    ),
    Row(
        "an interrupt at each line",
        "every verb that writes to memory://",
        f"{_FAULTS}test_raising_verbs.py::"
        "test_an_interrupt_at_any_line_leaves_a_store_in_memory_that_works",
        (LOST, WRONG, BARE, HANG),
    ),
    Row(
        "an exception at each opcode of a transaction",
        "a commit",
        f"{_FAULTS}test_raising.py::"
        "test_an_exception_at_any_opcode_of_a_transaction_leaves_nothing_open",
        (LOST, WRONG, BARE, HANG),
    ),
    Row(
        "an exception at each opcode as the index is published",
        "remember, frame, forget, a recall after a write",
        f"{_FAULTS}test_raising_verbs.py::"
        "test_an_exception_at_any_opcode_as_the_index_is_published_leaves_a_handle_that_works",
        (LOST, WRONG, BARE, HANG),
    ),
    Row(
        "an exception at each opcode of a transaction, and as the index is published",
        "remember, frame, forget, a recall after a write, in memory://",
        f"{_FAULTS}test_raising_verbs.py::"
        "test_an_exception_at_any_opcode_of_a_store_in_memory_leaves_one_that_works",
        (LOST, WRONG, BARE, HANG),
    ),
    Row(
        "a time-out raised while a write waits",
        "remember",
        f"{_FAULTS}test_raising.py::"
        "test_a_signal_handler_that_raises_while_a_write_waits_loses_no_later_write",
        (LOST, HANG),
    ),
    Row(
        "a signal while another process holds the write lock",
        "remember",
        f"{_FAULTS}test_raising.py::"
        "test_a_signal_is_handled_while_a_write_waits_for_another_process",
        (LOST, HANG),
    ),
    Row(
        "a thread that dies in the middle of a write",
        "a commit",
        f"{_FAULTS}test_raising.py::"
        "test_a_thread_that_died_in_the_middle_of_a_write_is_taken_over_from",
        (LOST, HANG),
    ),
    Row(
        "fork, in nine set-ups",
        "remember on both sides, closing",
        f"{_FAULTS}test_forks.py::test_no_acknowledged_write_is_lost",
        (LOST, BARE, HANG),
    ),
    Row(
        "fork inside a transaction",
        "remember",
        f"{_FAULTS}test_forks.py::"
        "test_a_child_of_a_fork_inside_a_transaction_refuses_and_the_parent_goes_on",
        (LOST, BARE, HANG),
    ),
    Row(
        "the file deleted, replaced, or moved with its folder",
        "reads and writes",
        f"{_FAULTS}test_files.py::test_reads_and_writes_say_that_the_file_is_another",
        (LOST, WRONG, BARE),
    ),
    Row(
        "the file replaced in the middle of a write",
        "remember",
        f"{_FAULTS}test_files.py::test_a_file_replaced_in_the_middle_of_a_write_takes_no_write",
        (LOST, BARE),
    ),
    Row(
        "the log deleted",
        "remember",
        f"{_FAULTS}test_files.py::test_a_log_that_was_deleted_takes_no_write",
        (LOST, BARE),
    ),
    Row(
        "an older copy put over the file in place, its log empty",
        "reads, check, writes past the known revision",
        f"{_FAULTS}test_restores.py::test_all_of_a_copy_over_a_file_with_an_empty_log_is_found",
        (LOST, WRONG, BARE),
    ),
    Row(
        "an older copy put over the file in place, its log deleted",
        "reads, check, writes, closing",
        f"{_FAULTS}test_restores.py::test_a_copy_over_a_file_whose_log_was_deleted_is_refused",
        (LOST, WRONG, BARE),
    ),
    Row(
        "an older copy put over the file in place, its log left",
        "reads, check, writes, closing",
        f"{_FAULTS}test_restores.py::"
        "test_a_copy_over_a_file_whose_log_was_left_is_refused_and_not_written_to",
        (LOST, WRONG, BARE),
    ),
    Row(
        "an interrupt at each line",
        "restore over a store",
        f"{_FAULTS}test_backups.py::test_an_interrupt_at_any_line_of_a_restore_leaves_one_of_both",
        (LOST, WRONG),
    ),
    Row(
        "an interrupt at each line",
        "backup",
        f"{_FAULTS}test_backups.py::"
        "test_an_interrupt_at_any_line_of_a_backup_leaves_a_whole_one_or_none",
        (LOST, WRONG),
    ),
    Row(
        "an interrupt at each line",
        "repair --salvage",
        f"{_FAULTS}test_salvage.py::"
        "test_an_interrupt_at_any_line_leaves_the_old_file_or_the_new_one",
        (LOST, WRONG, HANG),
    ),
    Row(
        "kill -9 in the middle",
        "restore over a store",
        f"{_FAULTS}test_backups.py::"
        "test_a_restore_that_is_killed_in_the_middle_leaves_what_was_there",
        (LOST, WRONG),
    ),
    Row(
        "no room on the disk",
        "backup, restore over a store",
        f"{_FAULTS}test_backups.py::"
        "test_a_disk_without_room_leaves_what_was_there_and_no_half_backup",
        (LOST, WRONG, BARE),
    ),
    Row(
        "checkpoints by other processes",
        "reads, check, writes",
        f"{_FAULTS}test_restores.py::test_what_another_process_copies_from_the_log_refuses_nobody",
        (LOST, WRONG, BARE),
    ),
    Row(
        "a log that another process cuts short while it is looked at",
        "reads",
        f"{_FAULTS}test_checkpoints_of_others.py::"
        "test_a_log_that_is_cut_short_is_no_overwritten_file",
        (WRONG, BARE),
    ),
    Row(
        "a file system without locks",
        "opening",
        f"{_FAULTS}test_files.py::test_file_systems_without_locks_are_known_by_the_table_of_mounts",
        (LOST,),
    ),
    Row(
        "a flipped byte of the database",
        "every verb that reads, check",
        f"{_FAULTS}test_flips.py::"
        "test_a_flipped_byte_of_the_database_is_told_refused_or_without_effect",
        (WRONG, BARE),
    ),
    Row(
        "a flipped byte of the database, then repair",
        "every verb that reads, check, repair",
        f"{_FAULTS}test_repair.py::test_what_a_repair_does_not_name_is_whole_again",
        (WRONG, BARE),
    ),
    Row(
        "a page that SQLite cannot read, then salvage",
        "check, repair --salvage",
        f"{_FAULTS}test_salvage.py::"
        "test_whichever_page_is_wrecked_nothing_is_invented_and_little_is_lost",
        (WRONG, BARE),
    ),
    Row(
        "a page that SQLite cannot read, then salvage",
        "a handle that was open",
        f"{_FAULTS}test_salvage.py::test_a_handle_that_was_open_refuses_and_does_not_go_on",
        (LOST, BARE),
    ),
    Row(
        "a flipped byte, or two swapped pages, of the cache file",
        "recall, list",
        f"{_FAULTS}test_cache_flips.py::test_a_cache_file_with_other_bytes_changes_no_answer",
        (WRONG, BARE),
    ),
    Row(
        "every way in which the driver fails",
        "every verb that writes",
        f"{_FAULTS}test_driver_errors.py::test_a_write_refuses_in_our_words",
        (LOST, BARE),
    ),
    Row(
        "every way in which the driver fails",
        "every verb that reads",
        f"{_FAULTS}test_driver_errors.py::test_a_read_answers_or_refuses_in_our_words",
        (BARE,),
    ),
    Row(
        "a row that cannot be a memory any more",
        "every verb",
        f"{_FAULTS}test_unreadable.py::test_every_verb_goes_on_without_it",
        (WRONG, BARE),
    ),
    Row(
        "other processes that write without a pause",
        "recall, frame, select",
        f"{_FAULTS}test_one_moment.py::test_an_answer_given_while_others_write_is_of_one_revision",
        (WRONG, BARE, HANG),
    ),
    Row(
        "another thread that commits",
        "reads",
        f"{_FAULTS}test_readers.py::test_a_read_does_not_wait_for_a_commit_under_way",
        (HANG,),
    ),
    Row(
        "another thread that waits to write",
        "reads",
        f"{_FAULTS}test_readers.py::test_a_read_does_not_wait_for_a_thread_that_waits_to_write",
        (HANG,),
    ),
    Row(
        "kill -9",
        "remember_many",
        f"{_ENGINE}test_bad_days.py::"
        "test_killed_while_remembering_many_keeps_what_was_acknowledged",
        (LOST, BARE),
    ),
    Row(
        "kill -9",
        "reembed",
        f"{_ENGINE}test_bad_days.py::"
        "test_killed_while_reembedding_serves_the_old_model_and_goes_on",
        (LOST, WRONG, BARE),
    ),
    Row(
        "kill -9",
        "closing, while the cache file is written",
        f"{_ENGINE}test_bad_days.py::test_killed_while_writing_the_cache_changes_no_answer",
        (WRONG, BARE),
    ),
    Row(
        "kill -9",
        "opening, while the file is migrated",
        f"{_ENGINE}test_migration.py::test_killed_while_migrating_leaves_an_old_store_or_a_new_one",
        (LOST, BARE),
    ),
    Row(
        "kill -9",
        "forget, between commit and wiping",
        f"{_POLICY}test_wiping.py::"
        "test_who_is_killed_between_the_commit_and_the_wiping_leaves_word",
        (WRONG, BARE),
    ),
    Row(
        "a reader that keeps the log from being emptied",
        "forget",
        f"{_POLICY}test_wiping.py::test_a_second_forget_does_not_say_wiped_while_the_bytes_stay",
        (WRONG,),
    ),
    Row(
        "a disk that fails while wiping",
        "forget",
        f"{_POLICY}test_wiping.py::test_a_disk_that_fails_while_wiping_costs_nothing_but_time",
        (WRONG, BARE),
    ),
    Row(
        "a memory opened for reading",
        "every verb that writes",
        f"{_FAULTS}test_read_only.py::test_every_verb_that_writes_refuses_and_changes_nothing",
        (LOST, BARE),
    ),
    Row(
        "a memory opened for reading",
        "every verb that reads",
        f"{_FAULTS}test_read_only.py::test_every_verb_that_reads_answers_the_same",
        (WRONG, BARE),
    ),
    Row(
        "another process that holds the write lock",
        "remember",
        f"{_FAULTS}test_waiting.py::test_a_write_gives_up_after_the_time_that_was_given",
        (LOST, BARE, HANG),
    ),
    Row(
        "another process that holds the write lock",
        "closing",
        f"{_FAULTS}test_waiting.py::test_closing_does_not_fail_while_another_process_writes",
        (LOST, BARE, HANG),
    ),
    Row(
        "another thread that holds the write lock",
        "remember",
        f"{_FAULTS}test_waiting.py::test_a_thread_gives_up_on_another_thread_too",
        (BARE, HANG),
    ),
    Row(
        "a full disk",
        "verbs that write",
        f"{_FAULTS}test_driver_errors.py::"
        "test_a_full_disk_is_said_in_our_words_and_nothing_is_half_written",
        (LOST, BARE),
    ),
    Row(
        "a full disk",
        "writes of the catalogue",
        f"{_DISKS}test_a_write_that_does_not_fit_leaves_no_part_of_itself",
        (LOST, BARE),
    ),
    Row(
        "a file that may not be written",
        "reads and writes of the catalogue",
        f"{_DISKS}test_a_read_only_file_in_a_writable_folder_is_read_but_not_written",
        (BARE,),
    ),
    Row(
        "a clock far ahead",
        "remember",
        "tests/contract/engine/test_hours.py::"
        "test_one_write_by_a_clock_far_ahead_does_not_stop_the_hours",
        (WRONG,),
    ),
    Row(
        "a clock that says no time",
        "every group of verbs",
        "tests/contract/engine/test_hours.py::"
        "test_a_clock_that_says_no_time_is_refused_and_nothing_is_written",
        (BARE,),
    ),
    Row(
        "a broken line of an export",
        "import_",
        f"{_POLICY}test_whole_store.py::test_a_broken_line_is_named_and_nothing_is_written",
        (WRONG, BARE),
    ),
    Row(
        "an export that was cut off",
        "import_",
        f"{_POLICY}test_whole_store.py::test_an_export_that_was_cut_off_is_refused",
        (LOST, WRONG),
    ),
)


class Counts:
    """A plugin of pytest that counts what was tried, and what failed, by test."""

    def __init__(self, failed: Mapping[str, int] | None = None) -> None:
        self.tried: Counter[str] = Counter()
        self.failed = Counter(failed or {})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one case of a test, once it was called or could not be."""
        name = report.nodeid.partition("[")[0]
        if report.failed:
            self.failed[name] += 1
        elif report.when == "call" and report.passed:
            told = dict(report.user_properties)
            self.tried[name] += int(str(told.get("tried", 1)))


def table(counts: Counts) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| fault | meanwhile | tried | {' | '.join(CLAIMS)} | test |"
    yield "|---|---|--:" + "|--:" * len(CLAIMS) + "|---|"
    for row in ROWS:
        yield "| " + " | ".join(cells(row, counts)) + " |"


def cells(row: Row, counts: Counts) -> list[str]:
    """Return the cells of one row: what its test would see is 0, or it has failed."""
    found = "0" if not counts.failed[row.test] else "**fails**"
    outcomes = [found if claim in row.sees else "" for claim in CLAIMS]
    path, name = row.test.split("::")
    return [
        row.fault,
        row.verbs,
        f"{counts.tried[row.test]:,}",
        *outcomes,
        f"`{Path(path).stem}::{name}`",
    ]


def main(arguments: Iterable[str]) -> int:
    """Run the tests, print the table, and put it into the page if that is wanted."""
    wanted, counts = set(arguments), Counts()
    chosen = () if "--long" in wanted else ("-m", "not soak")
    tests = dict.fromkeys(row.test for row in ROWS)
    code = pytest.main(
        ["-q", "-n", "auto", "-p", "no:cacheprovider", *chosen, *tests], plugins=[counts]
    )
    made = "\n".join(table(counts))
    print(made)
    if "--write" in wanted:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
