"""A recall that goes into a pipe: what is written without Rich is what Rich writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]


@pytest.mark.parametrize("columns", ["", "60", "100", "many"])
def test_a_pipe_gets_the_same_with_rich_and_without(run: Run, shop: Path, columns: str) -> None:
    asked = ("recall", "Card payment timed out: send it again?", "--db", shop)
    plain = run(*asked, COLUMNS=columns)
    # Whoever says so much about terminals is left to Rich.
    drawn = run(*asked, COLUMNS=columns, FORCE_COLOR="")
    assert plain.stdout == drawn.stdout
    assert "payments-retry-limit" in plain.stdout
