"""Whether two texts say the same: they differ in form alone.

In: texts. Out: a yes or no that is a function of them and of nothing else, no vector and no
threshold. Case, punctuation, order, inflection and words without a meaning of their own are form.
A number, a name, a date, a negation, and whatever relates one thing to another are not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from recollect.dates import MONTHS, WEEKDAYS
from recollect.normalise import normalise
from recollect.patterns import regex
from recollect.recall.inflection import MOST_WORDS, base_form, is_inflected
from recollect.values import dataclass

__all__ = ["Reading", "outline", "read", "say_the_same"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Said or not, the text says the same.
_FORM = _set("a an the is are was were be been being do does did and of")
# These say how the next word stands to the rest, so they count together with it.
_RELATING = _set(
    "not no never nor without from to before after until till since by with for against over under "
    "above below in on at between into onto through than via per within except instead if unless "
    "only because while when where or versus about towards < > = + * / ^ ~ | → <= >= == !="
)
# So many that "and" joins are looked at together: a chain of them costs no more than its length.
_MOST_JOINED = 8
_AT_A_TIME = frozenset(("on", "at", "in"))
_HALVES = frozenset(("am", "pm"))
_DATES = frozenset((*WEEKDAYS, *MONTHS)) - {"may"}
_YEAR = regex(r"(?:19|20)\d\d")
_HAVE = frozenset(("has", "have", "had"))
_SHORTENED = (
    (regex(r"\bcannot\b"), "can not"),
    (regex(r"\bcan't\b"), "can not"),
    (regex(r"\bwon't\b"), "will not"),
    (regex(r"\bshan't\b"), "shall not"),
    (regex(r"n't\b"), " not"),
    (regex(r"'(?:s|m|re)\b"), ""),
    (regex(r"'ve\b"), " have"),
    (regex(r"'ll\b"), " will"),
)

# Scripts written without spaces: what is in them is compared as it stands.
_UNSPACED = regex(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]+"
)
_ONE_SIGN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2013": "-", "\u2014": " - ", "\u2212": "-"}
    | {"\u00ad": None, "`": None}
)
_OPENS = "\"'([{«“„*_¿¡"
_CLOSES = "\"')]}»”“*_.,;:!?…"
_PARTS_CLAUSES = frozenset(".,;:!?…()")
_ENDS_SENTENCE = frozenset(".!?…:")
_AMOUNT = regex(r"([$€£¥]?)([+-]?)([$€£¥]?)(\d+(?:[.,:]\d+)*)([^\W\d_]*|%|°\w?|[$€£¥])")
_THOUSANDS = regex(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ORDINAL = frozenset(("st", "nd", "rd", "th"))
_INITIALS = regex(r"(?:[^\W\d_]\.)+[^\W\d_]")
_HYPHENED = regex(r"[^\W\d_]+(?:['-][^\W\d_]+)+")

_SPELT = regex(r"(?<![^\W\d_])[a-z]{3,}(?![^\W\d_])")
_DIGIT = regex(r"\d")
# The same of ASCII, as bytes: letters and spaces of it, and all that is no digit.
_LETTERS = b"".join(b"%c" % sign if bytes([sign]).isalpha() else b" " for sign in range(256))
_NO_DIGITS = bytes(sign for sign in range(256) if not bytes([sign]).isdigit())
# Left out of an outline: form, and what a shortened spelling hides.
_HIDDEN = frozenset(("were", "been", "being", "does", "have", "will", "shall", "cannot"))


class _Token(NamedTuple):
    """A word, number or sign. `gap` is what stood before it: nothing, a comma or so, an "and"."""

    word: str
    base: str
    is_number: bool = False
    is_capital: bool = False
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as far as it says something. Only readings of one `content` can say the same."""

    content: tuple[str, ...]
    tokens: tuple[_Token, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    """A number, a name or a date, and the words on its two sides."""

    kind: str
    value: Hashable
    before: str
    after: str


def say_the_same(one: Reading, other: Reading) -> bool:
    """Return whether two texts differ in form only."""
    if one.content != other.content:
        return False
    # One of them may be written without capitals: a name in either is a name in both.
    names = {token.word for token in (*one.tokens, *other.tokens) if token.is_capital}
    if _named(one, names) != _named(other, names):
        return False
    marks, others = list(_marks(one.tokens, names)), list(_marks(other.tokens, names))
    return all(
        _same_roles(_free(marks, kind), _free(others, kind)) for kind in ("number", "name", "date")
    )


def _free(marks: Iterable[_Mark], kind: str) -> list[_Mark]:
    """Return the marks of a kind whose place matters: "in Paris" is that wherever it stands."""
    return [mark for mark in marks if mark.kind == kind and mark.before not in _RELATING]


def outline(text: str) -> tuple[frozenset[str], str]:
    """Return what is quickly seen of a text: texts of other outlines don't say the same."""
    plain = _normal(text).casefold().replace("n't", " ")
    if plain.isascii():
        # What the patterns find, sooner: this is done for every result.
        octets = plain.encode()
        spelt = octets.translate(_LETTERS).decode().split()
        digits = octets.translate(None, _NO_DIGITS).decode()
    else:
        spelt, digits = _SPELT.findall(plain), "".join(_DIGIT.findall(plain))
    return frozenset(map(_telling.__getitem__, spelt)) - _SILENT, "".join(sorted(digits))


class _Telling(dict[str, str]):
    """Word to the base that it has in an outline, "" for none; a bounded number of words."""

    def __missing__(self, word: str) -> str:
        base = base_form(word) if len(word) > 2 else ""
        told = base if len(base) > 3 and base not in _HIDDEN else ""
        if len(self) >= MOST_WORDS:
            self.clear()
        self[word] = told
        return told


_telling, _SILENT = _Telling(), frozenset(("",))


def read(text: str) -> Reading:
    """Take a text apart."""
    normal = _normal(text)
    unspaced = "".join(_UNSPACED.findall(normal))
    tokens = list(_without_form(list(_tokens(_UNSPACED.sub(" ", normal)))))
    content = [unspaced] if unspaced else []
    for place, token in enumerate(tokens):
        related = _related(tokens, place + 1) if token.word in _RELATING else ""
        content.append(f"{token.base} {related}" if token.word in _RELATING else token.base)
    return Reading(tuple(sorted(content)), tuple(tokens))


def _related(tokens: Sequence[_Token], first: int) -> str:
    """Return what a relating word relates to: the next word, and those that "and" joins to it."""
    end = first + 1
    last = min(len(tokens), first + _MOST_JOINED)
    while end < last and tokens[end].gap == "and":
        end += 1
    return " ".join(sorted(token.base for token in tokens[first:end]))


def _normal(text: str) -> str:
    if text.isascii():
        return text.replace("`", "")
    known = normalise("NFKC", text).translate(_ONE_SIGN)
    return "".join(sign for sign in known if unicodedata.category(sign) != "Cf")


def _tokens(text: str) -> Iterator[_Token]:
    """Yield every token, form words included."""
    has_case = text != text.upper()
    starts, gap = True, ""
    for chunk in text.split():
        core = chunk.lstrip(_OPENS).rstrip(_CLOSES) if chunk.strip(_CLOSES) else ""
        if chunk[:1] in "([{":
            gap = ","
        for number, piece in enumerate(_pieces(core)):
            capital = has_case and not starts and number == 0 and core[:1].isupper()
            yield _token(piece, capital=capital and core != "I", gap=gap)
            starts, gap = False, ""
        ending = chunk[len(chunk.rstrip(_CLOSES)) :]
        if "?" in ending:
            yield _Token("?", "?")
        if core == "" or _PARTS_CLAUSES.intersection(ending):
            gap = ","
        starts = starts or bool(_ENDS_SENTENCE.intersection(ending))


def _pieces(core: str) -> Iterable[str]:
    """Return the folded words, amounts and signs of what stands between two spaces."""
    folded = core.casefold()
    if folded.isalpha():
        return ["can", "not"] if folded == "cannot" else [folded]
    if folded in ("&", "-", "--", ""):
        return ["and"] if folded == "&" else []
    if _INITIALS.fullmatch(folded):
        return [folded.replace(".", "")]
    if amount := _AMOUNT.fullmatch(folded.removeprefix("#")):
        return _amount(amount)
    if "'" in folded or _HYPHENED.fullmatch(folded):
        for shortened, whole in _SHORTENED:
            folded = shortened.sub(whole, folded)
        return folded.replace("-", " ").split()
    if folded not in _RELATING and all(unicodedata.category(sign)[0] == "P" for sign in folded):
        return []
    # An address, a path, a version, a piece of code: signs hold it together.
    return [folded]


def _amount(amount: re.Match[str]) -> list[str]:
    before, sign, within, number, unit = amount.groups()
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    parts = (f"{sign.replace('+', '')}{number}", before or within, unit)
    return [part for part in parts if part]


def _token(piece: str, *, capital: bool, gap: str) -> _Token:
    base = base_form(piece) if piece.isalpha() else piece
    return _Token(piece, base, piece.lstrip("-")[:1].isdigit(), capital, gap)


def _without_form(tokens: Sequence[_Token]) -> Iterator[_Token]:
    """Yield the tokens that say something; the next one keeps the gap that one of form leaves."""
    gap = ""
    for place, token in enumerate(tokens):
        gap = token.gap or gap
        if _is_form(token, tokens[max(0, place - 2) : place], tokens[place + 1 : place + 3]):
            gap = "and" if token.word == "and" else gap
            continue
        yield _Token(token.word, token.base, token.is_number, token.is_capital, gap)
        gap = ""


def _is_form(token: _Token, before: Sequence[_Token], following: Sequence[_Token]) -> bool:
    word = token.word
    after_number = bool(before) and before[-1].is_number
    if word in _HALVES:
        return word == "am" and not after_number
    if word in _ORDINAL:
        return after_number and any(_is_date(one) for one in (*before, *following))
    if word in _HAVE:
        verbs = [one.word for one in following if one.word not in _RELATING]
        return bool(verbs) and (verbs[0] == "been" or is_inflected(verbs[0]))
    if word in _AT_A_TIME:
        return _is_time(following)
    # Behind a number it is a unit: 5 A.
    return word in _FORM and not (word == "a" and after_number)


def _is_time(tokens: Sequence[_Token]) -> bool:
    if not tokens:
        return False
    first, *rest = tokens
    if not first.is_number:
        return _is_date(first)
    then = bool(rest) and (rest[0].word in _HALVES or _is_date(rest[0]))
    return then or ":" in first.word or _YEAR.fullmatch(first.word) is not None


def _is_date(token: _Token) -> bool:
    return token.word in _DATES or token.word == "may"


def _named(reading: Reading, names: set[str]) -> Counter[str]:
    """Return the names as they are spelt: "Adam" is no inflection of "Adams"."""
    return Counter(token.word for token in reading.tokens if token.word in names)


def _marks(tokens: Sequence[_Token], names: set[str]) -> Iterator[_Mark]:
    """Yield numbers, names and dates; what "and" joins is one mark, in whatever order."""
    kinds = [_kind(token, names) for token in tokens]
    first = 0
    for place, kind in enumerate(kinds):
        if place and kind == kinds[place - 1] and tokens[place].gap != ",":
            continue
        yield from _mark(tokens, kinds, first, place)
        first = place
    yield from _mark(tokens, kinds, first, len(tokens))


def _kind(token: _Token, names: set[str]) -> str:
    if token.is_number:
        return "number"
    if token.word in _DATES or (token.word == "may" and token.word in names):
        return "date"
    return "name" if token.word in names else ""


def _mark(tokens: Sequence[_Token], kinds: Sequence[str], first: int, end: int) -> Iterator[_Mark]:
    """Yield the run of tokens from `first` to `end` as a mark, if it is one."""
    if first == end or not kinds[first]:
        return
    run = [token.word for token in tokens[first:end]]
    joined = any(token.gap == "and" for token in tokens[first + 1 : end])
    lone_start = first == 0 or tokens[first].gap or kinds[first - 1]
    lone_end = end == len(tokens) or tokens[end].gap or kinds[end]
    yield _Mark(
        kinds[first],
        tuple(sorted(run) if joined else run),
        "" if lone_start else tokens[first - 1].base,
        "" if lone_end else tokens[end].base,
    )


def _same_roles(one: Sequence[_Mark], other: Sequence[_Mark]) -> bool:
    """Return whether each mark stands where it stood, or beside the word that it stood beside."""
    if [mark.value for mark in one] == [mark.value for mark in other]:
        return True
    return _beside(one, "before") == _beside(other, "before") is not None or (
        _beside(one, "after") == _beside(other, "after") is not None
    )


def _beside(marks: Sequence[_Mark], side: str) -> frozenset[tuple[str, Hashable]] | None:
    """Return the marks by the word on one side of them; None if that word tells no two apart."""
    places = [getattr(mark, side) for mark in marks]
    if len(set(places)) < len(places):
        return None
    return frozenset((place, mark.value) for place, mark in zip(places, marks, strict=True))
