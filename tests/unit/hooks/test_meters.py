"""Counters and histograms of hooks."""

from __future__ import annotations

import threading

from recollect.hooks.meters import BUCKETS_MS, Meter


def test_a_new_meter_has_seen_nothing() -> None:
    assert Meter().to_dict() == {
        "calls": 0,
        "counts": {},
        "latency_ms": {"total": 0.0, "mean": None, "p50": None, "p99": None, "histogram": []},
        "last_failure": None,
    }


def test_calls_are_counted_by_what_came_of_them_and_by_how_long_they_took() -> None:
    meter = Meter()
    for _ in range(98):
        meter.ran("allow", 0.07)
    meter.ran("timeout", 50.0)
    meter.ran("timeout", 99_999.0)
    meter.count("late")
    meter.failed("timeout: it did not answer in time")
    shown = meter.to_dict()
    assert shown["calls"] == 100
    assert shown["counts"] == {"allow": 98, "late": 1, "timeout": 2}
    assert shown["last_failure"] == "timeout: it did not answer in time"
    assert shown["latency_ms"]["p50"] == 0.1
    assert shown["latency_ms"]["p99"] == 50.0
    assert shown["latency_ms"]["histogram"] == [
        {"up_to": 0.1, "calls": 98},
        {"up_to": 50.0, "calls": 1},
        {"up_to": None, "calls": 1},
    ]
    assert meter.seen("late") == 1


def test_a_value_on_an_edge_is_below_it() -> None:
    meter = Meter()
    for edge in BUCKETS_MS:
        meter.ran("allow", edge)
    histogram = meter.to_dict()["latency_ms"]["histogram"]
    assert [bucket["up_to"] for bucket in histogram] == list(BUCKETS_MS)


def test_no_count_is_lost_between_threads() -> None:
    meter = Meter()

    def work() -> None:
        for _ in range(2000):
            meter.ran("allow", 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert meter.to_dict()["counts"] == {"allow": 8000}
