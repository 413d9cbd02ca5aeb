"""`docs/api.md` names exactly what the promised modules export."""

from __future__ import annotations

import importlib
import re

import pytest
from tests.house.snippets import ROOT

PAGE = (ROOT / "docs/api.md").read_text(encoding="utf-8")
SECTIONS = dict(
    re.findall(r"^### `([\w.]+)`\n\n(.+?)(?=\n\n##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
)


def test_the_front_doors_are_on_the_page() -> None:
    assert set(SECTIONS) >= {"recollect", "recollect.paks", "recollect.testing"}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_module_exports_what_the_page_names_and_nothing_else(name: str) -> None:
    promised = re.findall(r"`(\w+)`", SECTIONS[name])
    assert promised == sorted(set(promised))
    assert set(promised) == set(importlib.import_module(name).__all__)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for module, names in re.findall(r"^- `(recollect[\w.]*)`: ((?:`\w+`(?:, )?)+)", PAGE, re.M)
        for name in re.findall(r"`(\w+)`", names)
    ],
)
def test_a_single_name_is_where_the_page_says(module: str, name: str) -> None:
    assert name in importlib.import_module(module).__all__
