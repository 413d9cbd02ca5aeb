"""Cases as data: who asks which verb with what, and what is answered, in the order of a story.

A case may `save` parts of its answer under names; `$name` in a later one stands for them, and what
is random or told by the door is shown by such a name. `python -m tests.conformance.stories` asks
the library and writes down what it answers: read the difference before you keep it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from tests.conformance.commands import why_not

from recollect import RecollectError
from recollect.edge import wire
from recollect.edge.cli.hints import in_shell
from recollect.edge.http.problems import status_of

FOLDER = Path(__file__).with_name("cases")
STORIES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
Case = dict[str, Any]
Outcome = dict[str, Any]


def story(name: str) -> list[Case]:
    """Return the cases of a story."""
    cases: list[Case] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return cases


def every_case() -> list[Case]:
    """Return the cases of all stories."""
    return [case for name in STORIES for case in story(name)]


def answered(answer: Any) -> Outcome:
    """Return an answer as cases have it: what tells the moment is left out."""
    return {"answer": wire.after_the_moment(answer) if isinstance(answer, dict) else answer}


def refused(error: RecollectError) -> Outcome:
    """Return an error as cases have it."""
    return {
        "error": {
            "code": error.code,
            "message": error.message,
            "hint": error.hint or None,
            "status": status_of(error),
        }
    }


class Names:
    """What `$name` stands for; in an outcome each stands for what it names."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._values = {f"key_of_{name}": secret.split("_")[1] for name, secret in keys.items()}

    def in_place(self, given: Any) -> Any:
        """Return what is given with the values that names stand for."""
        if isinstance(given, str) and given.startswith("$"):
            return self._values[given[1:]]
        if isinstance(given, dict):
            return {name: self.in_place(one) for name, one in given.items()}
        return [self.in_place(one) for one in given] if isinstance(given, list) else given

    def save(self, case: Case, outcome: Outcome) -> None:
        """Keep the parts of an answer that later cases name."""
        for name, path in case.get("save", {}).items():
            self._values[name] = reduce(_part, path.split("."), outcome["answer"])

    def shown(self, outcome: Outcome) -> bytes:
        """Return an outcome as the bytes that must agree."""
        text = wire.encode(outcome).decode()
        for name, value in sorted(self._values.items(), key=lambda pair: -len(str(pair[1]))):
            text = text.replace(str(value), f"${name}")
        return text.encode()


def _part(whole: Any, name: str) -> Any:
    return whole[int(name)] if isinstance(whole, list) else whole[name]


def expected(case: Case) -> bytes:
    """Return the bytes that a case must be answered with."""
    return wire.encode({name: case[name] for name in ("answer", "error") if name in case})


def expected_at_a_shell(case: Case) -> bytes:
    """Return the same as a shell says it: hints in its words, and no status of HTTP."""
    if "error" not in case or why_not(case) is not None:
        return expected(case)
    error = dict(case["error"])
    del error["status"]
    error["hint"] = in_shell(error["hint"] or "") or None
    return wire.encode({"error": error})


def _record() -> None:
    from tests.conformance.runners import library

    for name in STORIES:
        cases = story(name)
        with library("memory://") as ask:
            for case in cases:
                outcome = json.loads(ask(case))
                case.pop("answer", None)
                case.pop("error", None)
                case |= outcome
        written = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
        (FOLDER / f"{name}.json").write_text(f"[\n{written}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
