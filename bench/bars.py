"""Every bar that was ever promised, as data: what, how much, who measures it, where it is written.

A bench asks here for the bar of a row; `python -m bench.check` measures all of them. A bar is moved
here or nowhere, and with a reason in the commit. Aims are what is not promised yet.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench import http as over_http
from bench import inspector
from bench import mcp as over_mcp
from bench.quality.cost import ROW as EXTRA_COST
from bench.quality.rows import BESIDE, WITH_MINILM
from bench.quality.sets import KNOWN, OWN
from bench.recall_report import Bar, Unit

__all__ = ["AIMS", "BARS", "Promise", "bar", "limit"]

K, FIVE_K, TEN_K, HUNDRED_K, MILLION = 1_000, 5_000, 10_000, 100_000, 1_000_000
# Hundreds of words each: to fill a store with 100,000 takes hours.
_PAGES = 25_000

_CATALOGUE = "The Pak catalogue beside tokenpak"
_SELECTION = "Selection beside a straight implementation over tokenpak"
_RECALL = "Recall, frames and remember beside a bare pass and elfmem"
_BESIDE = "Recalls beside long work, and in processes"
_ACCESS = "What access costs"
_NODE = "Many stores in one process"
_SHELL = "A command from the shell"
_WRITES = "What a write costs as a store grows"
_HTTP = "A server beside the library"
_PAGES_OF_IT = "Pages of the inspector"
_MCP = "What the MCP door costs"
_HOOKS = "Hooks beside a bare echo"
_QUALITY = "Recall quality beside others"


@dataclass(frozen=True)
class Promise:
    """One bar: `name` is how to ask for it, `row` and `size` are how its bench calls it.

    `section` is the part of `docs/benchmarks.md` that states it. Only a `quick` one is measured by
    a quick check.
    """

    name: str
    bench: str
    row: str
    size: int
    limit: float
    section: str
    at_least: bool = False
    unit: Unit = Unit.TIMES
    quick: bool = False

    @property
    def bar(self) -> Bar:
        """The bar by itself."""
        return Bar(self.limit, self.at_least)


def _catalogue(name: str, row: str, times: float) -> Promise:
    return Promise(f"paks.{name}", "paks", row, HUNDRED_K, times, _CATALOGUE, at_least=True)


def _selection(name: str, row: str, times: float) -> Promise:
    return Promise(f"select.{name}", "select", row, HUNDRED_K, times, _SELECTION, at_least=True)


def _recall(name: str, row: str, size: int, most: float, *, quick: bool = False) -> Promise:
    return Promise(f"recall.{name}", "recall", row, size, most, _RECALL, quick=quick)


def _rate(name: str, row: str, size: int, least: float) -> Promise:
    where = (f"remember.{name}", "remember", row, size, least, _RECALL)
    return Promise(*where, at_least=True, unit=Unit.RATE)


def _writes(kind: str, size: int) -> tuple[Promise, ...]:
    """Hold writes of one kind of text to what they cost at 5,000."""

    def held(
        name: str, what: str, limit: float, *, at: int = size, at_least: bool = False
    ) -> Promise:
        row = (f"writes.{kind}-{name}", "writes", f"{kind}: {what}", at, limit, _WRITES)
        return Promise(*row, at_least=at_least)

    return (
        held("bulk", "remember_many, rate beside the first size's", 0.5, at_least=True),
        held("bulk-links", "remember_many, rate beside links off", 0.35, at_least=True),
        held("single", "remember, more than at the first size, in bare passes", 0.7),
        held("recall", "recall right after a write, beside a recall", 1.5),
        held("forget", "forget one, in remembers", 3),
        held("forget-5k", "forget one, in remembers", 3, at=FIVE_K),
    )


def _beside(name: str, row: str, size: int, times: float, *, at_least: bool = False) -> Promise:
    return Promise(f"beside.{name}", "beside", row, size, times, _BESIDE, at_least=at_least)


def _neighbours(name: str, row: str) -> Promise:
    return Promise(f"neighbours.{name}", "neighbours", row, 200_000, 1.3, _ACCESS)


def _node(name: str, row: str, size: int, most: float, unit: Unit = Unit.TIMES) -> Promise:
    return Promise(f"node.{name}", "node", row, size, most, _NODE, unit=unit)


def _hooks(name: str, row: str, hooks: int, most: float, unit: Unit = Unit.SECONDS) -> Promise:
    ratio = unit is Unit.TIMES
    return Promise(f"hooks.{name}", "hooks", row, hooks, most, _HOOKS, unit=unit, quick=ratio)


def _quality(name: str, row: str, least: float, unit: Unit = Unit.SHARE) -> Promise:
    at_least, quick = unit is Unit.SHARE, not row.startswith("locomo-dev, peers")
    where = (f"quality.{name}", "quality", row, 0, least, _QUALITY)
    return Promise(*where, at_least=at_least, unit=unit, quick=quick)


def _simple(name: str, least: float | None = None) -> Promise:
    """Hold a set to the simple rows or, with a number, its recall@10 to that."""
    row = f"{name}, {BESIDE}" if least is None else f"{name}, recall@10"
    called = f"quality.{name}-simple" if least is None else f"quality.{name}"
    where = (called, "simple", row, 0, 1 if least is None else least, _QUALITY)
    return Promise(*where, at_least=True, unit=Unit.SHARE, quick=name in {one.name for one in OWN})


def _transformer(name: str, least: float) -> Promise:
    where = (f"transformer.{name}", "transformer", f"{name}, {WITH_MINILM}", 0, least, _QUALITY)
    return Promise(*where, at_least=True, unit=Unit.SHARE)


def _left_out(metric: str, least: float, *, with_minilm: bool = False) -> Promise:
    """Hold LoCoMo to a number, each conversation measured with the table of the others."""
    room, model = ("transformer", ", with minilm") if with_minilm else ("quality", "")
    name = "multi-hop" if "multi-hop" in metric else metric.removeprefix("recall@")
    row = f"locomo-dev, left one out, {metric}{model}"
    where = (f"{room}.left-out-{name}", "left-out", row, 0, least, _QUALITY)
    return Promise(*where, at_least=True, unit=Unit.SHARE)


BARS = (
    _catalogue("insert-one", "insert, one transaction each", 0.9),
    # The promise names no size of batch. At 1,000 it does not hold, and the page says so.
    _catalogue("insert-batch", "insert in batches of 10,000", 4),
    _catalogue("walk", "walk all pages, one page", 8),
    _catalogue("walk-project", "walk one project's pages, one page", 20),
    _catalogue("first-page", "first page of one project", 20),
    _catalogue("upsert", "upsert an existing Pak, new text", 50),
    _catalogue("delete", "delete a Pak", 50),
    _selection("rare", "text that hits 1 %", 20),
    _selection("common", "text that hits 10 %", 20),
    _selection("project", "a project of 12 %", 50),
    _selection("growth", "one of 10x the hits beside one hit, both ours", 1),
    _recall("100k", "recall, all readable", HUNDRED_K, 2.0, quick=True),
    # These two were 0.25 and 12 on a machine whose pass took 4.35 ms: ADR-0101.
    _recall("one-percent", "recall, 1 % in reach", HUNDRED_K, 0.45, quick=True),
    _recall("1m", "recall, all readable", MILLION, 0.5),
    Promise(
        "elfmem.recall",
        "elfmem",
        "recall, times faster than elfmem",
        TEN_K,
        150,
        _RECALL,
        at_least=True,
        quick=True,
    ),
    Promise(
        "elfmem.frame",
        "elfmem",
        'frame("attention", question), times faster than elfmem',
        TEN_K,
        150,
        _RECALL,
        at_least=True,
        quick=True,
    ),
    *(
        _beside(name, f"recalls beside {name}, 95th percentile", TEN_K, 5)
        for name in ("remember_many", "reembed", "reindex", "check")
    ),
    _beside("two", "recalls of two processes over those of one", HUNDRED_K, 1.9, at_least=True),
    _beside(
        "two-and-writer",
        "recalls of two processes while a third writes, over those of one",
        HUNDRED_K,
        1.5,
        at_least=True,
    ),
    _rate("1k", "remember, links off", K, 700),
    _rate("100k", "remember, links off", HUNDRED_K, 700),
    _rate("many", "remember_many, links off", HUNDRED_K, 3_000),
    _rate("many-links", "remember_many, links on", HUNDRED_K, 400),
    Promise(
        "links.add",
        "links",
        "remember, what links add to a call",
        HUNDRED_K,
        1.0,
        _RECALL,
        quick=True,
    ),
    Promise(
        "open.warm",
        "open",
        "open and first recall, warm cache file",
        HUNDRED_K,
        18,
        _RECALL,
        quick=True,
    ),
    Promise(
        "open.cold",
        "open",
        "open and first recall, no cache file",
        HUNDRED_K,
        5,
        _RECALL,
        unit=Unit.SECONDS,
    ),
    Promise(
        "opening.first",
        "opening",
        "first answer without a cache file, beside commit 1db5afe",
        HUNDRED_K,
        0.4,
        _RECALL,
    ),
    Promise(
        "open.resident",
        "open",
        "resident after 20 recalls",
        HUNDRED_K,
        400,
        _RECALL,
        unit=Unit.MEGABYTES,
    ),
    Promise("open.peak", "open", "  the most it was", HUNDRED_K, 400, _RECALL, unit=Unit.MEGABYTES),
    Promise(
        "shell.recall", "shell", "a recall from the shell, beside python -c pass", 0, 18, _SHELL
    ),
    Promise("http.added", "http", over_http.ADDED, 0, 0.002, _HTTP, unit=Unit.SECONDS),
    Promise("http.one-worker", "http", over_http.ONE_WORKER, 0, 0.5, _HTTP, at_least=True),
    Promise("http.two-workers", "http", over_http.TWO_WORKERS, 0, 1.2, _HTTP),
    Promise("http.frame", "http", over_http.FRAME, 0, 0.3, _HTTP),
    Promise("http.start", "http", over_http.START, 0, 4, _HTTP),
    Promise("mcp.stdio", "mcp", over_mcp.OVER_STDIO, 0, 1.5, _MCP),
    Promise("mcp.http", "mcp", over_mcp.OVER_HTTP, 0, 1.5, _MCP),
    Promise("mcp.hook", "mcp", over_mcp.HOOK, 0, 0.1, _MCP),
    Promise("mcp.start", "mcp", over_mcp.START, 0, 2, _MCP),
    Promise(
        "inspector.first",
        "inspector",
        inspector.FIRST,
        HUNDRED_K,
        0.03,
        _PAGES_OF_IT,
        unit=Unit.SECONDS,
    ),
    Promise(
        "inspector.weight",
        "inspector",
        inspector.WEIGHT,
        HUNDRED_K,
        120,
        _PAGES_OF_IT,
        unit=Unit.KILOBYTES,
    ),
    Promise(
        "inspector.plain",
        "inspector",
        inspector.PLAIN,
        HUNDRED_K,
        40,
        _PAGES_OF_IT,
        unit=Unit.KILOBYTES,
    ),
    Promise(
        "policy.gardens",
        "policy",
        "recall as a member of gardens",
        HUNDRED_K,
        1.3,
        _ACCESS,
        quick=True,
    ),
    Promise(
        "policy.forget",
        "policy",
        "forget an entity with 1,000 Paks, no byte left",
        HUNDRED_K,
        1.0,
        _ACCESS,
        unit=Unit.SECONDS,
    ),
    _node("rest", "stores of 40 at rest, as counted", 1_000, 80, Unit.MEGABYTES),
    _node("memory", "stores of 40 asked in one process, over the base", 2_000, 200, Unit.MEGABYTES),
    _node("first", "first answer of a store that was let go, beside a bare opening", 40, 6),
    _neighbours("recall", "recall beside other tenants"),
    _neighbours("after", "recall right after another tenant's write"),
    _neighbours("remember", "remember beside other tenants"),
    # Judged where SQLite can erase words from its full text without merging it: from 3.42 on.
    _neighbours("forget", "forget beside other tenants"),
    _hooks("one", "one daemon", 1, 0.00015),
    _hooks("one-echo", "one daemon beside one echo", 1, 3, Unit.TIMES),
    _hooks("three", "three daemons in a chain", 3, 0.0005),
    _hooks("three-echoes", "three daemons beside three echoes", 3, 3, Unit.TIMES),
    _hooks("none", "no hooks configured, a recall", 0, 2e-6),
    _hooks("breaker", "breaker open, over no hook", 1, 0.001),
    _hooks("eight", "eight recalls at once, a hook of 5 ms", 1, 0.015),
    _quality("locomo-5", "locomo-dev, recall@5", 0.70),
    _quality("locomo-10", "locomo-dev, recall@10", 0.785),
    _quality("locomo-20", "locomo-dev, recall@20", 0.845),
    _quality("locomo-mrr", "locomo-dev, mrr", 0.62),
    _quality("locomo-multi-hop", "locomo-dev, recall@10 of multi-hop questions", 0.50),
    _quality("locomo-ms", "locomo-dev, median recall, k = 10", 0.003, Unit.SECONDS),
    _quality("locomo-peers", "locomo-dev, peers behind on recall@10", 1),
    _quality("notes-10", "notes, recall@10 over plain BM25's", 1),
    _quality("notes-mrr", "notes, mrr over plain BM25's", 1),
    _quality("pages-10", "pages, recall@10 over plain BM25's", 1),
    _quality("pages-20", "pages, recall@20 over plain BM25's", 1),
    *map(_simple, KNOWN),
    _simple("beam-dev", 0.57),
    _simple("techfaq-typos", 0.83),
    _simple("notes-typos", 0.92),
    _simple("xquad-th", 0.98),
    _simple("xquad-ru", 0.985),
    _simple("precision", 0.96),
    _simple("notes", 0.96),
    _simple("pages", 0.83),
    _left_out("recall@10", 0.82),
    _left_out("mrr", 0.647),
    _left_out("recall@10 of multi-hop questions", 0.53),
    _left_out("recall@10", 0.835, with_minilm=True),
    _transformer("techfaq", 0.93),
    _transformer("pages", 0.85),
    Promise(
        "writes.crowd",
        "writes",
        "forget 1,000 of a crowd, beside commit 1db5afe",
        TEN_K,
        0.4,
        _WRITES,
    ),
    Promise("transformer.cost", "transformer", EXTRA_COST, 0, 30, _QUALITY),
)

# What is aimed at and was not seen to hold as yet. Once it holds it is promised, and moves up.
AIMS = (
    Promise("words.1k", "words", "recall beside bm25s", K, 8, _RECALL),
    *_writes("machine", HUNDRED_K),
    *_writes("prose", HUNDRED_K),
    *_writes("pages", _PAGES),
)

_BY_ROW = {(one.row, one.size): one.bar for one in (*BARS, *AIMS)}


def bar(row: str, size: int) -> Bar | None:
    """Return the bar of a row at a size, if there is one."""
    return _BY_ROW.get((row, size))


def limit(row: str, size: int) -> float | None:
    """Return the bar of a row at a size as a number."""
    found = bar(row, size)
    return found.limit if found else None
