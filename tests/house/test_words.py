"""One word for one thing: what is a memory is called one, names say what they name, in British.

Every module of the package is read as text and as a syntax tree. A Pak is a row of the catalogue;
outside of it, who reads docstrings, comments and messages meets memories.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator

import pytest
from tests.house.snippets import ROOT

SOURCE = ROOT / "src/recollect"
MODULES = {
    path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(SOURCE.rglob("*.py"))
}

# Where a memory is a Pak: the catalogue, its port, its adapters, and the commands about it.
_CATALOGUE = re.compile(
    r"paks/|recall/select/|model/pak\.py|ports/catalogue\.py|stores/\w+/catalogue\w*\.py"
    r"|edge/cli/(?:\w+/)?(?:open_)?(?:catalogue|paks?|select)\.py"
    r"|edge/verbs/paks\.py|verbs/catalogue\.py"
)
_PAK = re.compile(r"\bPaks?\b")

# Names that nobody could guess, and what is called so today.
RETIRED = {
    "Company": "Neighbourhood",
    "Kept": "SavedRun",
    "KeptQuestion": "SavedQuestion",
    "Near": "Likeness",
    "Touch": "HookOutcome",
    "Went": "RecallTrace",
    "Stages": "Trace",
    "_Asides": "HeadFacts",
    "_told": "_with_hook_outcome",
    "bereft": "rows_to_relink",
    "companies": "neighbourhoods",
    "hair": "tie_break",
    "makings": "signal_parts",
}
RETIRED_MODULES = {
    "opened.py": "open_store.py",
    "asked.py": "arguments.py",
    "admin/": "verbs/",
    "evaluation/keep.py": "evaluation/outcomes.py",
    "evaluation/chance.py": "evaluation/significance.py",
}

_STEMS = (
    *("authoriz", "normaliz", "summariz", "organiz", "recogniz", "initializ", "serializ"),
    *("quantiz", "tokeniz", "sanitiz", "standardiz", "prioritiz", "minimiz", "maximiz", "optimiz"),
    *("synchroniz", "customiz", "analyz", "behavior", "neighbor", "favor", "honor", "color"),
    *("canceled", "canceling", "labeled", "labeling", "modeled", "modeling", "centered"),
)
_AMERICAN = re.compile(rf"\w*(?:{'|'.join(_STEMS)})\w*|\bcatalogs?\b", re.IGNORECASE)
# Names that others chose: a contract, a standard, a library, a file of a library.
FIXED = {
    *("renormalized_without_similarity", "sanitizer", "SanitizerMode", "sanitize"),
    *(
        "Authorization",
        "NO_COLOR",
        "FORCE_COLOR",
        "normalize",
        "is_normalized",
        "optimize",
        "set_authorizer",
    ),
    *("Tokenizer", "tokenizers", "l2_supercat_tokenizer_config"),
    *("tokenize", "tokenizer", "TOKENIZER"),
    *("color", "currentColor", "create_initialization_options", "initialize"),
    *("authorization", "authorization_servers"),
}
# It looks for what others wrote, in whatever spelling.
_READS_OTHERS = "policy/sanitizer.py"


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments and texts of a module, docstrings and messages among them, by line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Yield every name that a module gives or uses, by line; names inside of texts are prose."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def called_paks(source: str) -> list[str]:
    """Return what says Pak without saying that it speaks of the catalogue."""
    return [
        f"{line}: {text.strip()[:80]}"
        for line, text in prose(source)
        if _PAK.search(text) and "catalogue" not in text
    ]


def retired(source: str) -> list[str]:
    return [
        f"{line}: {name} is {RETIRED[name]} today"
        for line, name in identifiers(source)
        if name in RETIRED
    ]


def american(source: str) -> list[str]:
    return sorted({word for word in _AMERICAN.findall(source) if word not in FIXED})


def found_in(paths: Iterable[str], look: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """Return what is found in modules, by module."""
    looked_at = {path: look(MODULES[path]) for path in paths}
    assert looked_at
    return {path: found for path, found in looked_at.items() if found}


def test_outside_the_catalogue_a_memory_is_a_memory() -> None:
    outside = [path for path in MODULES if not _CATALOGUE.match(path)]
    assert found_in(outside, called_paks) == {}


def test_no_name_is_used_that_was_given_up() -> None:
    assert found_in(MODULES, retired) == {}
    assert [path for path in MODULES if path.startswith(tuple(RETIRED_MODULES))] == []


def test_spelling_is_british_but_for_names_that_others_chose() -> None:
    assert found_in(MODULES.keys() - {_READS_OTHERS}, american) == {}


@pytest.mark.parametrize(
    "line",
    ["# A Pak lies here.", 'error = f"There is no Pak {name}."', '"""Return all Paks."""'],
)
def test_a_planted_pak_is_seen(line: str) -> None:
    assert called_paks(line)


def test_names_of_classes_and_identifiers_may_say_pak() -> None:
    assert called_paks("raise UnknownPak(pak_id)  # PakIdTaken, paks.db") == []


@pytest.mark.parametrize("line", ["x = Company()", "def bereft(): pass", "f(makings=1)"])
def test_a_planted_name_is_seen(line: str) -> None:
    assert retired(line)


@pytest.mark.parametrize("line", ["# Summarizes.", "def normalize_all(): pass", "behavior = 1"])
def test_planted_american_is_seen(line: str) -> None:
    assert american(line)


def test_what_others_chose_may_stay() -> None:
    assert american('unicodedata.normalize("NFC", text); headers["Authorization"]') == []
