from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.paks import RecallStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecallStore]:
    with RecallStore.open(tmp_path / "recall.db") as opened:
        yield opened
