"""FTS5's MATCH language, read by us: a text in, an expression out, or an error that says where.

Phrases in quotes, `+`, prefixes with `*`, `^` for the first word, `NEAR(a b, 5)`, `title : word`,
`{title summary} : word`, `- title : word`, AND, OR, NOT, parentheses; words side by side are joined
by AND. What SQLite takes for malformed is so here too. Work is bounded: length, depth of
parentheses and number of words have a limit each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple, NoReturn, TypeAlias

from recollect.errors import InvalidInput
from recollect.paks.words import MAX_CHARACTERS, MAX_WORDS
from recollect.ports.catalogue import FIELDS
from recollect.values import dataclass

__all__ = [
    "MAX_NESTING",
    "And",
    "Expression",
    "NearGroup",
    "Not",
    "Nothing",
    "Or",
    "Phrase",
    "Term",
    "parse",
    "terms_sought",
]

MAX_NESTING = 50

_DISTANCE = 10
# SQLite stops counting here, so that no distance is too large for it.
_FAR = 214_748_363

WordsOf: TypeAlias = Callable[[str], Sequence[str]]


class Term(NamedTuple):
    """A word, or all words that begin with it."""

    word: str
    is_prefix: bool


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words one after the other; `is_first`: at the very beginning of a field."""

    terms: tuple[Term, ...]
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class NearGroup:
    """Phrases with at most so many words between them, in one of these fields; None for any."""

    phrases: tuple[Phrase, ...]
    distance: int = _DISTANCE
    fields: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Nothing:
    """What no document matches: a text without words."""


@dataclass(frozen=True, slots=True)
class And:
    """What all parts match."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """What any part matches."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """What `wanted` matches and none of `unwanted`."""

    wanted: Expression
    unwanted: tuple[Expression, ...]


Expression: TypeAlias = NearGroup | Nothing | And | Or | Not


def parse(text: str, words_of: WordsOf) -> Expression:
    """Return what a text asks for; `words_of` tells the words of what stands in quotes or alone."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(
            f"An expression has at most {MAX_CHARACTERS} characters, not {len(text)}.",
            hint="ask for less at once, or use plain syntax, which reads the beginning of a text.",
        )
    parser = _Parser(text, words_of)
    found = parser.expression(None)
    parser.expect(_Kind.END)
    return found


def terms_sought(expression: Expression) -> list[Term]:
    """Return the distinct terms that speak for a document, ascending; those after NOT do not."""
    return sorted(set(_sought(expression)))


def _sought(expression: Expression) -> Iterator[Term]:
    match expression:
        case NearGroup(phrases=phrases):
            for phrase in phrases:
                yield from phrase.terms
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _sought(part)
        case Not(wanted=wanted):
            yield from _sought(wanted)
        case Nothing():
            pass


class _Kind(Enum):
    """Kinds of tokens, by how they are written."""

    LEFT = "("
    RIGHT = ")"
    LEFT_BRACE = "{"
    RIGHT_BRACE = "}"
    COLON = ":"
    COMMA = ","
    PLUS = "+"
    STAR = "*"
    MINUS = "-"
    CARET = "^"
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    STRING = "a word or a phrase"
    END = "the end"


class _Token(NamedTuple):
    kind: _Kind
    text: str
    at: int


_SIGNS = {kind.value: kind for kind in _Kind if len(kind.value) == 1}
_OPERATORS = {kind.value: kind for kind in (_Kind.AND, _Kind.OR, _Kind.NOT)}
_BEGINS_NEARSET = (_Kind.STRING, _Kind.CARET, _Kind.MINUS, _Kind.LEFT_BRACE)
_SPACE = " \t\n\r"
_BAREWORD = re.compile("[0-9A-Za-z_\x1a\x80-\U0010ffff]+")
_QUOTED = re.compile('"(?:[^"\0]|"")*"')


def _tokens(text: str) -> list[_Token]:
    """Take a text apart; like SQLite, up to the first NUL."""
    text = text.partition("\0")[0]
    found: list[_Token] = []
    at = 0
    while at < len(text):
        if text[at] in _SPACE:
            at += 1
            continue
        token = _token(text, at)
        found.append(token)
        at += len(token.text)
    return [*found, _Token(_Kind.END, "", len(text))]


def _token(text: str, at: int) -> _Token:
    if text[at] in _SIGNS:
        return _Token(_SIGNS[text[at]], text[at], at)
    quoted = _QUOTED.match(text, at)
    if quoted:
        return _Token(_Kind.STRING, quoted[0], at)
    if text[at] == '"':
        _refuse(at, "this quote is never closed", 'write a quote inside of a phrase as "".')
    bare = _BAREWORD.match(text, at)
    if not bare:
        _refuse(at, f"{text[at]!r} is no part of the language", "put it into quotes.")
    return _Token(_OPERATORS.get(bare[0], _Kind.STRING), bare[0], at)


def _refuse(at: int, what: str, hint: str) -> NoReturn:
    raise InvalidInput(
        f"text is no FTS5 expression, from character {at + 1} on: {what}.",
        hint=f"{hint} Plain words need no operators: leave syntax='fts5' out.",
    )


class _Parser:
    """One text, and how far it was read. A method reads one rule of the grammar."""

    def __init__(self, text: str, words_of: WordsOf) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._words_of = words_of
        self._depth = 0
        self._words = 0

    def expression(self, fields: frozenset[int] | None) -> Expression:
        """Read alternatives: OR binds the least, then AND, then NOT."""
        parts = [self._conjunction(fields)]
        while self._skip(_Kind.OR):
            parts.append(self._conjunction(fields))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def expect(self, kind: _Kind) -> _Token:
        """Read a token of this kind, or refuse the text."""
        token = self._peek()
        if token.kind is not kind:
            self._unexpected(token)
        self._at += 1
        return token

    def _conjunction(self, fields: frozenset[int] | None) -> Expression:
        parts = [self._exclusion(fields)]
        while self._skip(_Kind.AND):
            parts.append(self._exclusion(fields))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _exclusion(self, fields: frozenset[int] | None) -> Expression:
        wanted, unwanted = self._operand(fields), []
        while self._skip(_Kind.NOT):
            unwanted.append(self._operand(fields))
        return Not(wanted, tuple(unwanted)) if unwanted else wanted

    def _operand(self, fields: frozenset[int] | None) -> Expression:
        if self._peek().kind is _Kind.LEFT:
            return self._parenthesised(fields)
        own = self._filter(fields)
        if own is not fields and self._peek().kind is _Kind.LEFT:
            return self._parenthesised(own)
        return self._side_by_side(fields, first=self._nearset(own))

    def _parenthesised(self, fields: frozenset[int] | None) -> Expression:
        opening = self.expect(_Kind.LEFT)
        self._depth += 1
        if self._depth > MAX_NESTING:
            _refuse(opening.at, f"more than {MAX_NESTING} parentheses are open", "nest less.")
        found = self.expression(fields)
        self.expect(_Kind.RIGHT)
        self._depth -= 1
        return found

    def _side_by_side(self, fields: frozenset[int] | None, *, first: Expression) -> Expression:
        """Read what is joined by nothing but space: by AND, as if texts without words were not."""
        parts = [first]
        while self._peek().kind in _BEGINS_NEARSET:
            parts.append(self._nearset(self._filter(fields)))
        said = [part for part in parts if not isinstance(part, Nothing)]
        if len(said) > 1:
            return And(tuple(said))
        return said[0] if said else first

    def _filter(self, fields: frozenset[int] | None) -> frozenset[int] | None:
        """Read the fields before a colon, if there are any; they narrow those from outside."""
        token = self._peek()
        is_filter = token.kind in (_Kind.MINUS, _Kind.LEFT_BRACE) or (
            token.kind is _Kind.STRING and self._peek(1).kind is _Kind.COLON
        )
        if not is_filter:
            return fields
        is_inverse = self._skip(_Kind.MINUS)
        named = set()
        if self._skip(_Kind.LEFT_BRACE):
            named.add(self._field())
            while self._peek().kind is _Kind.STRING:
                named.add(self._field())
            self.expect(_Kind.RIGHT_BRACE)
        else:
            named.add(self._field())
        self.expect(_Kind.COLON)
        own = frozenset(range(len(FIELDS))) - named if is_inverse else frozenset(named)
        return own if fields is None else own & fields

    def _field(self) -> int:
        token = self.expect(_Kind.STRING)
        name = _unquoted(token.text)
        for number, field in enumerate(FIELDS):
            if name.isascii() and name.lower() == field:
                return number
        _refuse(token.at, f"there is no field {name!r}", f"fields are {', '.join(FIELDS)}.")

    def _nearset(self, fields: frozenset[int] | None) -> Expression:
        if self._skip(_Kind.CARET):
            phrase = self._phrase()
            return _near((Phrase(phrase.terms, is_first=True),), _DISTANCE, fields)
        if self._peek().kind is _Kind.STRING and self._peek(1).kind is _Kind.LEFT:
            return self._near_group(fields)
        return _near((self._phrase(),), _DISTANCE, fields)

    def _near_group(self, fields: frozenset[int] | None) -> Expression:
        name = self.expect(_Kind.STRING)
        if name.text != "NEAR":
            _refuse(name.at, f"{name.text} stands before a parenthesis", "write AND in between.")
        self.expect(_Kind.LEFT)
        phrases = [self._phrase()]
        while self._peek().kind is _Kind.STRING:
            phrases.append(self._phrase())
        distance = self._distance() if self._skip(_Kind.COMMA) else _DISTANCE
        self.expect(_Kind.RIGHT)
        return _near(tuple(phrases), distance, fields)

    def _distance(self) -> int:
        token = self.expect(_Kind.STRING)
        distance = 0
        for character in token.text:
            if character not in "0123456789":
                _refuse(token.at, f"{token.text} is no number of words", "write NEAR(a b, 5).")
            if distance < _FAR:
                distance = distance * 10 + int(character)
        return distance

    def _phrase(self) -> Phrase:
        terms: list[Term] = []
        while True:
            token = self.expect(_Kind.STRING)
            words = self._words_of(_unquoted(token.text))
            self._count(token, len(words))
            terms += [Term(word, False) for word in words]
            is_prefix = self._skip(_Kind.STAR)
            if terms:
                # A star belongs to the last word so far, whichever string that came from.
                terms[-1] = terms[-1]._replace(is_prefix=is_prefix)
            if not self._skip(_Kind.PLUS):
                return Phrase(tuple(terms))

    def _count(self, token: _Token, words: int) -> None:
        self._words += words
        if self._words > MAX_WORDS:
            _refuse(token.at, f"there are more than {MAX_WORDS} words", "ask for less at once.")

    def _peek(self, ahead: int = 0) -> _Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _skip(self, kind: _Kind) -> bool:
        if self._peek().kind is not kind:
            return False
        self._at += 1
        return True

    def _unexpected(self, token: _Token) -> NoReturn:
        if token.kind is _Kind.END:
            _refuse(token.at, "something is missing at the end", "say what belongs there.")
        shown = token.text if len(token.text) <= 20 else f"{token.text[:17]}..."
        _refuse(token.at, f"{shown} cannot stand here", "put text that is meant as text in quotes.")


def _near(
    phrases: tuple[Phrase, ...], distance: int, fields: frozenset[int] | None
) -> NearGroup | Nothing:
    """Return phrases as a group, without those that have no words; Nothing if none has any."""
    said = tuple(phrase for phrase in phrases if phrase.terms)
    return NearGroup(said, distance, fields) if said else Nothing()


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text
