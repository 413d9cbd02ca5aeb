from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from bench import paks_data, paks_worker
from bench.paks import SIZES, operations
from bench.workers import by_turns


def test_the_same_number_is_always_the_same_pak() -> None:
    assert paks_data.pak(7) == paks_data.pak(7)
    assert paks_data.pak(7)["pak_id"] == "pak-7902699be42c8a8e46fbbb45"


def test_another_revision_changes_text_and_hash_but_not_identity() -> None:
    first, second = paks_data.pak(7), paks_data.pak(7, revision=1)

    changed = {field for field in first if first[field] != second[field]}
    assert changed == {"title", "summary", "content_hash"}


def test_a_pak_has_thirty_words_and_a_hash_of_64_digits() -> None:
    pak = paks_data.pak(3)

    assert len(f"{pak['title']} {pak['summary']}".split()) == 30
    assert len(pak["content_hash"]) == 64


def test_time_moves_on_fifty_paks_a_second() -> None:
    stamps = [paks_data.pak(number)["now"] for number in range(200)]

    assert stamps == sorted(stamps)
    assert set(Counter(stamps).values()) == {50}


def test_a_project_holds_about_an_eighth() -> None:
    projects = Counter(paks_data.pak(number)["project"] for number in range(4000))

    assert len(projects) == 8
    assert all(400 < count < 600 for count in projects.values())


def test_the_shuffles_meet_every_pak_once() -> None:
    for size in SIZES:
        for step in (paks_worker.UPDATE_STEP, paks_worker.DELETE_STEP):
            assert math.gcd(size, step) == 1


def test_everyone_has_a_turn_each_round_and_nobody_is_always_first() -> None:
    assert list(by_turns("ab", 3)) == [
        (0, "a"),
        (0, "b"),
        (1, "b"),
        (1, "a"),
        (2, "a"),
        (2, "b"),
    ]


def test_the_blocks_of_a_walk_cover_all_pages_and_then_start_over() -> None:
    walk = operations(100_000)[0]

    starts = [walk.start(turn, walk.ours) for turn in range(11)]
    assert starts == [*range(0, 1000, 100), 0]


def test_measured_writes_leave_alone_what_the_warm_up_wrote() -> None:
    for operation in operations(10_000):
        if operation.cycle is None:
            assert operation.start(0, operation.ours) == operation.warm_up
            assert operation.start(1, operation.ours) == operation.warm_up + operation.ours


def test_a_write_that_finds_nothing_to_do_is_not_measured(tmp_path: Path) -> None:
    catalogue = paks_worker.Catalogue("recollect", tmp_path / "recall.db")
    insert, delete = catalogue.insert(0, 2, 100), catalogue.delete(0, 1, 100)
    inserted, deleted = (paks_worker.DID_ITS_WORK[name] for name in ("insert", "delete"))

    assert paks_worker.measured(insert, inserted)["count"] == 2
    assert paks_worker.measured(delete, deleted)["count"] == 1
    with pytest.raises(RuntimeError, match="nothing to do"):
        paks_worker.measured(delete, deleted)
    catalogue.close()
