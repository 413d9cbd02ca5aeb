"""Users' files, read with care: whatever is wrong is said with file, place, field and a hint.

In: paths. Out: records, which are JSON objects that know where they stand. Every error here is
`InvalidInput`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.values import dataclass

__all__ = ["Record", "as_record", "read_json", "read_lines", "read_records", "read_text"]


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object and its place: a file, and a line or a path inside of it."""

    file: Path
    place: str
    fields: Mapping[str, Any]

    @property
    def source(self) -> str:
        """Where it stands, in words."""
        return _where(self.file, self.place)

    def error(self, field: str, problem: str, hint: str) -> InvalidInput:
        """Return the error for one of the fields."""
        return InvalidInput(f"{self.source}: field {field!r} {problem}.", hint=hint)

    def text(self, field: str, hint: str) -> str:
        """Return a field that must be a text and say something."""
        value = self.optional_text(field, hint)
        if value is None or not value.strip():
            problem = "is blank" if field in self.fields else "is missing"
            raise self.error(field, problem, hint)
        return value

    def optional_text(self, field: str, hint: str) -> str | None:
        """Return a field that is a text or not there."""
        value = self.fields.get(field)
        if value is not None and not isinstance(value, str):
            raise self.error(field, f"must be a text, not {_quote(value)}", hint)
        return value

    def list_in(self, field: str, hint: str) -> list[Any]:
        """Return a field that must be a list."""
        value = self.fields.get(field)
        if not isinstance(value, list):
            problem = f"must be a list, not {_quote(value)}" if value is not None else "is missing"
            raise self.error(field, problem, hint)
        return value

    def child(self, field: str, number: int, value: Any, hint: str) -> Record:
        """Return what stands in a list of this record; it must be an object."""
        place = f"{self.place}, {field}[{number}]" if self.place else f"{field}[{number}]"
        return as_record(self.file, place, value, hint)


def as_record(file: Path, place: str, value: Any, hint: str) -> Record:
    """Return a JSON value as a record; it must be an object."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{_where(file, place)}: {_quote(value)} is no object.", hint=hint)
    return Record(file, place, value)


def read_text(path: Path, hint: str) -> str:
    """Return the text of a file."""
    try:
        return path.expanduser().read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", hint=hint) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not UTF-8: byte {error.start} cannot be read.",
            hint="convert it first, for example with `iconv -t UTF-8`.",
        ) from error


def read_json(path: Path, hint: str) -> Any:
    """Return what a JSON file holds."""
    try:
        return json.loads(read_text(path, hint))
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{path}, line {error.lineno}, column {error.colno}: no JSON ({error.msg}).", hint=hint
        ) from error


def read_lines(path: Path, hint: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank with their numbers, counted from 1."""
    for number, line in enumerate(read_text(path, hint).split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def read_records(path: Path, hint: str) -> Iterator[Record]:
    """Yield the objects of a file with one JSON object a line."""
    for number, line in read_lines(path, hint):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidInput(
                f"{path}, line {number}, column {error.colno}: no JSON ({error.msg}).", hint=hint
            ) from error
        yield as_record(path, f"line {number}", value, hint)


def _where(file: Path, place: str) -> str:
    return f"{file}, {place}" if place else str(file)


def _quote(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
