"""Pages of prose that come with Python: its own reference, cut up, with sentences as questions.

In: a size in words. Out: files in BEIR's layout. A question is a sentence that was taken out of its
page, so it is about the page and not in it. The same on every machine of one version of Python.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

__all__ = ["written"]

_SEED = 20260101
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
# A sentence of words: examples and tables are no questions.
_PLAIN = re.compile(r"[\w\s,.'\"()-]+")
_FEWEST_WORDS, _MOST_WORDS = 8, 30
_FEWEST_SENTENCES = 4


def written(folder: Path, words: int) -> Path:
    """Write the pages of about so many words, and their questions; return the folder."""
    chance = random.Random(_SEED)
    corpus, queries, qrels = [], [], ["query-id\tcorpus-id\tscore"]
    for name, sentences in _pages(words):
        asked = [one for one in sentences if _is_question(one)]
        if asked and len(sentences) >= _FEWEST_SENTENCES:
            question = chance.choice(asked)
            sentences = [one for one in sentences if one != question]
            queries.append({"_id": f"q-{name}", "text": question})
            qrels.append(f"q-{name}\t{name}\t1")
        corpus.append({"_id": name, "title": "", "text": " ".join(sentences)})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.tsv").write_text("\n".join(qrels) + "\n")
    return folder


def _pages(words: int) -> Iterator[tuple[str, list[str]]]:
    seen: set[str] = set()
    for topic, text in sorted(topics.items()):
        page: list[str] = []
        for number, sentence in enumerate(_SENTENCE_END.split(" ".join(text.split()))):
            # Some topics repeat whole passages of others.
            page += [sentence] if sentence not in seen else []
            seen.add(sentence)
            if sum(len(one.split()) for one in page) >= words:
                yield f"{topic}-{number}", page
                page = []
        if page:
            yield f"{topic}-end", page


def _is_question(sentence: str) -> bool:
    length = len(sentence.split())
    return _FEWEST_WORDS <= length <= _MOST_WORDS and bool(_PLAIN.fullmatch(sentence))
