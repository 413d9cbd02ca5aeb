"""The environment of a peer: another library, installed where it cannot touch ours.

In: what to install. Out: the Python that has it. An environment that is there is used
again; remove `bench/.envs` to get the peer's newest release.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["ENVIRONMENTS", "PeerUnavailable", "python_with"]

ENVIRONMENTS = Path(__file__).parent / ".envs"


class PeerUnavailable(RuntimeError):
    """The peer could not be installed, so there is nothing to compare with."""


def python_with(requirement: str, *more: str, under: Path = ENVIRONMENTS) -> Path:
    """Return a Python of ours' version that has what is required installed, and little else.

    The environment is called after the first requirement.
    """
    home = under / requirement
    python = home / "bin" / "python"
    done = home / ".installed"
    if not done.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(home)], requirement)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        _run([*pip, requirement, *more], requirement)
        done.touch()
    return python


def _run(command: list[str], requirement: str) -> None:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise PeerUnavailable(
            f"Cannot install {requirement} to compare with. Hint: check that pip can reach a"
            f" package index, then run again.\n{finished.stderr.strip()}"
        )
