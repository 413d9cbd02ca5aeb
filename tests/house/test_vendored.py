"""Scripts of others that the inspector serves: those that were looked at, byte for byte."""

from __future__ import annotations

from hashlib import sha256

import pytest
from tests.house.snippets import ROOT

VENDOR = ROOT / "src/recollect/edge/inspector/static/vendor"
# As npm ships them: name and release, what the file is, what it hashes to.
SCRIPTS = {
    "htmx.org 4.0.0": ("htmx", "e484d9171a9db30a39c8f16e3d709d4137f3211c659f8e6125816635033d593f"),
    "d3-force 3.0.1": (
        "d3-force",
        "ed05b52ecfe280d753ebab954e4e1f24097952480a9d277be55b6ba297bf4a9b",
    ),
    "d3-dispatch 3.0.2": (
        "d3-dispatch",
        "5afe071dad74c14cd580f540c9ec85b0755eed78b7f9ed3e9f63b989fc41aa4b",
    ),
    "d3-quadtree 3.0.2": (
        "d3-quadtree",
        "6bd9974b3efdf9c22942a6fb9a5a027ee39f81a6c27b09a3444c9e911796f439",
    ),
    "d3-timer 3.0.2": (
        "d3-timer",
        "f6b80ed73b21d01658db60d1c04adb88adc70f885346ae07d59ed69ba0348849",
    ),
}
LICENCES = {
    "htmx": "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
    "d3-force": "2a6d2d5f32ba0b755ddbc1c833f766e30cdbe6ebe9a6d4e3e24427721f0b63d3",
    "d3-dispatch": "2a6d2d5f32ba0b755ddbc1c833f766e30cdbe6ebe9a6d4e3e24427721f0b63d3",
    "d3-quadtree": "2a6d2d5f32ba0b755ddbc1c833f766e30cdbe6ebe9a6d4e3e24427721f0b63d3",
    "d3-timer": "2a6d2d5f32ba0b755ddbc1c833f766e30cdbe6ebe9a6d4e3e24427721f0b63d3",
}


@pytest.mark.parametrize("package", SCRIPTS)
def test_a_script_of_others_is_the_one_that_was_looked_at(package: str) -> None:
    name, digest = SCRIPTS[package]
    assert sha256((VENDOR / f"{name}.min.js").read_bytes()).hexdigest() == digest
    licence = (VENDOR / f"{name}.LICENSE").read_bytes()
    assert sha256(licence).hexdigest() == LICENCES[name]


def test_there_is_no_script_of_others_that_nobody_looked_at() -> None:
    known = {f"{name}.{end}" for name in LICENCES for end in ("min.js", "LICENSE")}
    assert {path.name for path in VENDOR.iterdir()} == known
