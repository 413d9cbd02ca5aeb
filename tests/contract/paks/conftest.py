"""Both catalogues keep the same contract; what is about SQL, files or the driver says so.

A test marked `sql` runs on `RecallStore` alone, every other one that takes a `store` on both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.paks import RecallStore
from recollect.stores.memory.catalogue import MemoryCatalogue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.paks.catalogue import PakCatalogue


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sql: about SQLite, and no promise of other catalogues")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "store" in metafunc.fixturenames:
        is_sql = metafunc.definition.get_closest_marker("sql") is not None
        kinds = ["sqlite"] if is_sql else ["sqlite", "memory"]
        metafunc.parametrize("store", kinds, indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PakCatalogue]:
    kind = getattr(request, "param", "sqlite")
    opened = MemoryCatalogue() if kind == "memory" else RecallStore.open(tmp_path / "recall.db")
    with opened:
        yield opened
