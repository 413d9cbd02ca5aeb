"""Whoever sends a text decides how long it is, never how long a character of it takes.

Each text that enters is read by each of its readers: content, questions, names, tags, times, ids,
lines of an import, facts, replies of hooks. What is longer than its limit is refused, which is
quick. The long form goes up to the limit of a text.

The one place where a test looks at a clock: the processor's, best of three, and only at how a text
compares with one an eighth as long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from recollect import check
from recollect.dates import day_number, read_moment
from recollect.edge.agents.blocks import without_blocks
from recollect.edge.echo import known, repeated
from recollect.embed.static import StaticEmbedder
from recollect.errors import InvalidInput
from recollect.hooks.decisions import decision_of
from recollect.hooks.events import HookEvent
from recollect.hooks.failure import HookFailed
from recollect.hooks.verbs import SHAPES
from recollect.index.analyse import terms
from recollect.limits import CHARACTERS
from recollect.model import LOCAL, Principal, RecallRequest
from recollect.model.memory import name_key
from recollect.paks import PakListFilters
from recollect.paks.cursor import decode
from recollect.paks.expression import parse
from recollect.paks.words import search_words
from recollect.policy.gardens import checked_slug
from recollect.policy.redact import redact
from recollect.policy.sanitizer import plain, risks
from recollect.recall.question import _QUOTED, _spoken, _stressed
from recollect.recall.ranges import time_asked
from recollect.recall.same import outline, read
from recollect.recall.spelling import Spelling
from recollect.recall.times import asks_when, day_of, times_in
from recollect.write import transfer
from recollect.write.draft import draft
from recollect.write.ingest import Outside, fact_from, items_of

MOST_TIMES_LONGER = 3.0
DOUBLINGS = 3
MEASURABLE_SECONDS = 0.003
MOST_CHARACTERS = 24_000
TODAY = day_of(1_780_000_000)
NOW = "2026-05-11T12:00:00Z"
STATIC = StaticEmbedder()


def quoted(text: str) -> object:
    return _QUOTED.findall(text)


def times(text: str) -> object:
    return times_in(text, TODAY)


def asked(text: str) -> object:
    return time_asked(text, TODAY)


def question(text: str) -> object:
    spoken = _spoken(text)
    return list(_stressed(text, spoken)), RecallRequest(query=text).checked()


def spelled(text: str) -> object:
    spoken = _spoken(text)
    return Spelling(spoken, spoken).of(list(spoken)[::2])


def remembered(field: str) -> Callable[[str], object]:
    return lambda text: draft({"content": "a text", field: text}, place=LOCAL, now=NOW)


def tagged(text: str) -> object:
    tags = [text[at : at + 1_000] for at in range(0, min(len(text), 256_000), 1_000)]
    return draft({"content": text, "tags": tags}, place=LOCAL, now=NOW)


def described(text: str) -> object:
    parts = [text[at : at + 1_000] for at in range(0, min(len(text), 60_000), 1_000)]
    return draft({"content": "a text", "metadata": {"a": parts}}, place=LOCAL, now=NOW)


def filtered(text: str) -> object:
    parts = [text[at : at + 10_000] for at in range(0, len(text), 10_000)]
    path = f"metadata.{text[:900]}"
    return RecallRequest(filter={path: {"in": parts}, "title": {"contains": text}}).checked()


def fact(text: str) -> object:
    (item,) = items_of(json.dumps([{"content": text, "entity": text[:1_000]}]))
    return fact_from(item, Outside("peer", 0.9, LOCAL, NOW))


def line(text: str) -> object:
    read_lines = transfer.read([json.dumps({"kind": "memory", "content": text, "thread": text})])
    return transfer.arguments(next(iter(read_lines.memories)).fields)


def reply(text: str) -> object:
    given = json.loads(json.dumps({"action": "modify", "delta": {"content": text, "tags": [text]}}))
    return decision_of(given, SHAPES[HookEvent.PRE_REMEMBER])


def refusal(text: str) -> object:
    return decision_of({"action": text, "reason": text}, SHAPES[HookEvent.PRE_REMEMBER])


def expression(text: str) -> object:
    return parse(text, lambda word: (word,))


def embedded(text: str) -> object:
    return STATIC.embed_documents([text]), STATIC.embed_query(text)


def refused(reader: Callable[[str], object]) -> Callable[[str], object]:
    """Return a reader of which a refusal is an answer too."""

    def read_or_refuse(text: str) -> object:
        try:
            return reader(text)
        except (InvalidInput, HookFailed) as error:
            return error

    return read_or_refuse


READERS: dict[str, Callable[[str], object]] = {
    "metadata": refused(described),
    "filter": refused(filtered),
    "terms": terms,
    "plain": plain,
    "risks": risks,
    "outline": outline,
    "read": read,
    "name_key": name_key,
    "quoted": quoted,
    "times": times,
    "asks_when": asks_when,
    "time asked": asked,
    "spelling": spelled,
    "read_moment": read_moment,
    "day_number": day_number,
    "question": refused(question),
    "expression": refused(expression),
    "words of a search": search_words,
    "cursor": refused(lambda text: decode(text, PakListFilters())),
    "embedder": embedded,
    "tags": refused(tagged),
    **{
        field: refused(remembered(field))
        for field in ("pak_id", "title", "summary", "speaker", "value", "occurred_at")
    },
    "fact": refused(fact),
    "line of an import": line,
    "reply of a hook": refused(reply),
    "refusal of a hook": refused(refusal),
    "principal": refused(lambda text: Principal("acme", text)),
    "slug": refused(checked_slug),
    "time": refused(lambda text: check.time("valid_until", text)),
    "id": check.is_id,
    "shown": check.shown,
    "secrets": redact,
    "echo": lambda text: repeated(known([("a", text[:400]), ("b", "tea")]), without_blocks(text)),
}

PIECES = {
    "marks": "\u0301\u0316",
    "names of secrets": "api_key password=",
    "blocks of ours": "<recollect-memory>",
    "web tokens": "eyJhbGciOiJIUzI1.eyJ",
    "addresses": "https://a:",
    "marks apart": "\u0301\u200b\u0316\u200d",
    "hangul": "\u1100\u1161\u11a8",
    "ligatures": "\ufdfa",
    "opening quotes": "\u201c",
    "guillemets": "\u00ab",
    "quotes": '"',
    "months": "may ",
    "in months": "in may ",
    "ranges": "before may 2023 ",
    "firsts": "did a first ",
    "joined": "between may and ",
    "days of months": "8. de ",
    "zones": "12:00 +02",
    "signs without spaces": "\u6771\u4eac",
    "identifiers": "get_user_",
    "spaces": " ",
    "days of spaces": "1   ",
    "numbers": "1",
    "stops": ". , ; ",
    "ifs": "when , and ",
    "words": "ignore all the previous ",
    "letters": "a",
    "apostrophes": "'",
    "brackets": "[",
    "images": "![](",
    "angles": "<|",
    "signs": "#",
    "stars": "**",
    "entities": "&#x",
    "base64": "aGVsbG8=",
    "dashes": "i-",
    "line ends": "\n\r\u2028",
    "emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467 ",
    "look-alikes": "\u0430\u0435",
    "send": "send it to ",
    "colons": "user: ",
    "unclosed quotes": 'a "b OR ',
    "brackets of a search": "(a NOT (",
    "backslashes": "\\",
    "digits of a time": "2026-05-11T12:00:00.0",
    "percents": "%41",
    "opening tags": "<!-- <a ",
}


def seconds(read: Callable[[str], object], text: str, *, enough: float = 0.0) -> float:
    """Return the best of three; whoever takes no longer than `enough` need not try again."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        read(text)
        best = min(best, time.process_time() - start)
        if best <= enough:
            break
    return best


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reader", READERS)
def test_each_doubling_of_a_text_takes_at_most_three_times_as_long(reader: str, piece: str) -> None:
    read, unit = READERS[reader], PIECES[piece]
    text = unit * (4_000 // len(unit))
    enough = MEASURABLE_SECONDS
    while (short := seconds(read, text, enough=enough)) < enough and len(text) < MOST_CHARACTERS:
        text *= 2
    # Three doublings at once: what else goes on here weighs less on the mean of them.
    most = max(short, MEASURABLE_SECONDS) * MOST_TIMES_LONGER**DOUBLINGS
    assert seconds(read, text * 2**DOUBLINGS, enough=most) <= most


@pytest.mark.soak
@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reader", READERS)
def test_up_to_the_limit_of_a_text_too(reader: str, piece: str) -> None:
    read, unit = READERS[reader], PIECES[piece]
    most = CHARACTERS["content"] // 2**DOUBLINGS
    text = (unit * (most // len(unit) + 1))[:most]
    longest = max(seconds(read, text), MEASURABLE_SECONDS) * MOST_TIMES_LONGER**DOUBLINGS
    assert seconds(read, text * 2**DOUBLINGS, enough=longest) <= longest
