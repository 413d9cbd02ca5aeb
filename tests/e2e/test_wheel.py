"""The wheel, built and installed as a user gets it, works without the sources beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from tests.house.snippets import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own, with the wheel; what it depends on is borrowed from ours."""
    place = tmp_path_factory.mktemp("home") / "env"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(place)]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    subprocess.run(
        [*pip, "install", "--quiet", "--no-deps", "--no-index", wheel],
        check=True,
        env={**os.environ, "PIP_FIND_LINKS": ""},
    )
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return place


def said_by(home: Path, *command: str) -> str:
    done = subprocess.run(
        [home / "bin" / command[0], *command[1:]],
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"recollect", wheel.name.partition("-py3")[0] + ".dist-info"}
    assert {"recollect/py.typed", "recollect/__init__.py"} <= set(names)
    sources = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src/recollect").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources <= set(names)


def test_the_installed_command_runs_the_demo(home: Path) -> None:
    assert "recollect 0." in said_by(home, "recollect", "--version")
    assert said_by(home, "recollect", "demo")


def test_the_installed_package_remembers_and_recalls(home: Path) -> None:
    program = (
        "import recollect; print(recollect.__file__); "
        "memory = recollect.Recollect.open('agent.db'); "
        "memory.remember('The kiln is booked until May.'); "
        "print(memory.recall('kiln').results[0].fact.content)"
    )
    place, text = said_by(home, "python", "-c", program).splitlines()
    assert Path(place).is_relative_to(home)
    assert text == "The kiln is booked until May."
