from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.embed import static, table
from recollect.embed.pieces import LONGEST_WORD, WordPieces
from recollect.embed.static import StaticEmbedder
from recollect.samples import load_shop

FILE = table._wheel_folder() / table._TOKENISER
ROOT = Path(__file__).parents[3]
WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
LETTERS = st.characters(categories=["L", "N"], include_characters="_'\u2019")


def vocabulary() -> list[str]:
    tokens: dict[str, int] = json.loads(FILE.read_bytes())["model"]["vocab"]
    return list(tokens)


def check(text: str) -> int:
    """Hold every word of a text against the library; return how many there were."""
    pieces, library = table.load_pieces(), table.load_tokeniser()
    assert pieces is not None
    words = set(WORD.findall(text.lower()))
    for word in words:
        if len(word) <= LONGEST_WORD:
            theirs = library.encode(word, add_special_tokens=False).ids
            assert pieces.ids(word) == theirs, word
    return len(words)


def test_the_files_own_merges_are_in_the_order_that_is_replayed() -> None:
    """All splits of a token into tokens, by the token's id, then the left part's.

    Runs of spaces come last in the file; no word holds one.
    """
    model = json.loads(FILE.read_bytes())["model"]
    ids: dict[str, int] = model["vocab"]
    splits = [(token[:at], token[at:]) for token in ids for at in range(1, len(token))]
    merges = sorted(
        (ids[left + right], ids[left], left, right)
        for left, right in splits
        if left in ids and right in ids and (left + right).strip("\u2581")
    )

    assert model["merges"][: len(merges)] == [f"{left} {right}" for *_, left, right in merges]
    assert not "".join(model["merges"][len(merges) :]).strip("\u2581 ")
    assert list(ids.values()) == list(range(len(ids)))


def test_every_token_that_is_a_word_has_the_librarys_ids() -> None:
    assert check(" ".join(vocabulary()).replace("\u2581", " ")) > 15_000


def test_tokens_joined_at_random_have_the_librarys_ids() -> None:
    """Words nobody wrote, but whose parts all may merge: that is where an order would show."""
    chance = random.Random(7)
    parts = [token.strip("\u2581") for token in vocabulary()]
    parts = [part.lower() for part in parts if part.isalnum()]

    assert check(" ".join("".join(chance.choices(parts, k=3)) for _ in range(10_000))) > 9_000


def test_the_words_of_real_texts_have_the_librarys_ids() -> None:
    texts = [path.read_text() for path in sorted(ROOT.glob("**/*.md")) if ".venv" not in path.parts]
    texts += [str(sample) for sample in load_shop()]

    assert check(" ".join(texts)) > 1_500


@given(st.lists(st.text(LETTERS, min_size=1, max_size=30), min_size=1, max_size=20))
@settings(max_examples=150, deadline=None)
def test_words_of_any_script_have_the_librarys_ids(words: list[str]) -> None:
    check(" ".join(words))


@pytest.mark.parametrize(
    "word",
    ["a", "0", "_", "aaaaaaaaaaaaaaa", "\U00020000\u65e5", "\u01c5", "\u0130".lower(), "don't"],
)
def test_odd_words_have_the_librarys_ids(word: str) -> None:
    assert check(word) == 1


def test_a_question_has_the_bytes_that_the_library_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    question = "Did Zo\u00eb's team pick PostgreSQL 16 at \u6771\u4eac? " + "x" * 100
    ours = StaticEmbedder().tokenise_query(question)
    monkeypatch.setattr(static, "load_pieces", lambda: None)

    theirs = StaticEmbedder().tokenise_query(question)

    assert ours.words == theirs.words
    assert ours.vectors.tobytes() == theirs.vectors.tobytes()


def test_a_long_word_is_left_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WordPieces, "ids", lambda *_: pytest.fail("too long for merging here"))

    assert static._word_ids("x" * (LONGEST_WORD + 1), table.load_pieces())


def test_the_tokens_of_another_file_are_left_to_the_library(tmp_path: Path) -> None:
    for name in ("weights", "tokenizers"):
        (tmp_path / name).mkdir()
    (tmp_path / table._TABLE).symlink_to(table._wheel_folder() / table._TABLE)
    (tmp_path / table._TOKENISER).write_bytes(FILE.read_bytes() + b"{}")

    assert table._open_pieces(tmp_path) is None


def test_a_question_does_not_load_the_library() -> None:
    program = (
        "import sys; from recollect.embed.static import StaticEmbedder; "
        "StaticEmbedder().embed_query('how do I run background jobs?'); "
        "assert 'tokenizers' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


def test_each_token_is_known_as_it_is_spelt() -> None:
    ids = {token.encode(): number for number, token in enumerate(vocabulary())}
    assert WordPieces(FILE.read_bytes())._ids == ids
