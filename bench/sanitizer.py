"""How well the sanitizer tells orders from ordinary texts: what it names, misses and takes wrongly.

In: the labelled texts under `tests/data/sanitizer`, and lines of documentation and licences of the
packages that are installed here, which nobody wrote for it. Out: a table a family, for people.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recollect.policy.sanitizer import risks

__all__ = ["Labelled", "attacks", "main", "ordinary", "strangers"]

_TEXTS = Path(__file__).parents[1] / "tests" / "data" / "sanitizer"
_PROSE = ("*.md", "*.rst", "*.txt", "LICENSE*", "METADATA")
_SHORTEST_LINE = 16


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text of one family. `held_out`: nothing was changed after it was first counted."""

    family: str
    text: str
    held_out: bool = False


def attacks() -> list[Labelled]:
    """Return the orders that should be named."""
    return list(_labelled(_TEXTS / "attacks.txt"))


def ordinary() -> list[Labelled]:
    """Return texts that should not."""
    return list(_labelled(_TEXTS / "ordinary.txt"))


def strangers() -> list[str]:
    """Return lines of the documentation of installed packages, each once."""
    site = Path(sysconfig.get_paths()["purelib"])
    lines: dict[str, None] = {}
    for path in sorted({path for kind in _PROSE for path in site.rglob(kind) if path.is_file()}):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if len(line.strip()) >= _SHORTEST_LINE:
                lines[line.strip()] = None
    return list(lines)


def _labelled(path: Path) -> Iterator[Labelled]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            family, text = line.split("\t", 1)
            yield Labelled(family.rstrip("!"), text.replace("\\n", "\n"), family.endswith("!"))


def main() -> None:
    """Print what was named of each family, and the shares."""
    families: dict[tuple[str, bool], list[bool]] = {}
    for one in attacks():
        families.setdefault((one.family, one.held_out), []).append(bool(risks(one.text)))
    for (family, held_out), named in families.items():
        print(f"{family:16} {sum(named):3} of {len(named):3}{'  held out' if held_out else ''}")
    caught = [named for row in families.values() for named in row]
    unseen = [named for (_, held_out), row in families.items() if held_out for named in row]
    wrong = [one.text for one in ordinary() if risks(one.text)]
    lines = strangers()
    wrong_lines = [line for line in lines if risks(line)]
    print(f"recall     {sum(caught) / len(caught):.3f}  of {len(caught)} attacks")
    print(f"held out   {sum(unseen) / len(unseen):.3f}  of {len(unseen)}")
    print(
        f"precision  {sum(caught) / (sum(caught) + len(wrong)):.3f}  beside {len(ordinary())} texts"
    )
    print(f"strangers  {len(wrong_lines)} of {len(lines)} lines named")
    for text in (*wrong, *wrong_lines):
        print(f"  wrongly: {', '.join(risks(text))}: {text[:90]}")


if __name__ == "__main__":
    main()
