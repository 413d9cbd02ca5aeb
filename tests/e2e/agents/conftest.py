"""Hooks in tests wait as long as it takes: what is tested is what they do, not how soon."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def patient(tmp_path: Path) -> None:
    """Give a home directory options with long deadlines."""
    (tmp_path / ".recollect").mkdir()
    (tmp_path / ".recollect/agents.toml").write_text(
        "deadline_ms = 60000\nprocess_deadline_ms = 60000\n"
    )
