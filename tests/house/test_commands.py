"""Commands have the fields of their verbs: names, defaults, choices and words are the table's.

A field that is added to a verb has no option, no case and no help here until somebody gives it one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.conformance.commands import FORMS, NO_COMMAND, OWN_DEFAULTS, UNTOLD, why_not
from tests.conformance.stories import every_case
from typer.main import get_command

from recollect.edge.cli.app import app
from recollect.edge.cli.hints import option_of
from recollect.edge.verbs import VERBS, Verb, by_name
from recollect.edge.verbs.fields import REQUIRED, Field

# What a command has beside the fields of its verb, and why.
SHARED = {"--db": "the file", "--embedder": "its model", "--json": "for programs"}
BESIDE: Mapping[str, Mapping[str, str]] = {
    "recall": {"--signals": "how it is drawn", "--receipt": "how the store is opened"},
    "frame": {"--receipt": "how the store is opened"},
    "remember": {"--jsonl": "many: remember_many"},
    "update": {"--clear": "null at a shell"},
    "supersede": {"--undo": "no new one, said aloud"},
    "forget": {"--verify": "searches the files"},
    "export": {"file": "where lines go", "--all": "everybody's, for the holder"},
    "import": {"path": "transcripts of a client, which is no verb"},
    "keys create": {"--tenant": "another's, for the holder"},
    "keys list": {"--tenant": "another's, for the holder"},
}
# Fields of a selection, which a shell takes one by one where a body nests them.
OF_SELECTIONS = {
    "--type",
    "--limit",
    "--days",
    "--weights",
    "--exclude",
    "--superseded",
    "--syntax",
}
# What is asked one way in a command and is several fields in the table, or the reverse.
SPOKEN_FOR: Mapping[tuple[str, str], str] = {
    ("forget", "pak_id"): "none is as good as a few: a shell has no null",
    ("forget_one", "pak_id"): "one of the ids that forget takes",
    ("update", "content"): "words of a shell, joined",
    ("supersede", "new"): "--undo stands for null",
    ("explain", "select"): "an object, whose fields are options",
    ("paks.search", "match"): "--all is all",
    ("ingest", "source"): "asked for by name, so that it is not forgotten",
}
# Options whose help says more, or something else, than the field's.
OTHER_WORDS: Mapping[tuple[str, str], str] = {
    ("remember_many", "items"): "lines of a file, which --jsonl names",
    ("forget", "filter"): "the one --filter of all commands",
    ("export", "filter"): "the one --filter of all commands",
    ("forget_one", "pak_id"): "forget takes one or several",
}


def commands() -> Iterator[tuple[str, Verb, Any]]:
    """Yield each command that a verb has: its words, the verb, the parsed command."""
    for name, form in FORMS.items():
        words = [word for word in form.words.split() if word[0] != "-"]
        command: Any = get_command(app)
        for word in words:
            command = command.commands[word]
        yield " ".join(words), by_name(name), command


def parameter(command: Any, verb: Verb, field: Field) -> tuple[Any, ...]:
    """Return what a command takes a field by; several are parts of it."""
    form = FORMS[verb.name]
    arguments = [one for one in command.params if _is_argument(one)]
    if field.name in form.bare:
        return (arguments[form.bare.index(field.name)],)
    if field.name == form.piped:
        return (next((one for one in arguments if one.name == "file"), arguments[0]),)
    options = form.otherwise.get(field.name, ((option_of(field.name),),))[0]
    return tuple(one for one in command.params for option in options if option in one.opts)


EACH = list(commands())
FIELDS = [(words, verb, command, one) for words, verb, command in EACH for one in verb.fields]
NAMES = [f"{verb.name}.{one.name}" for _, verb, _, one in FIELDS]


def test_each_verb_has_a_command_or_a_reason_to_have_none() -> None:
    assert {one.name for one in VERBS} == FORMS.keys() | NO_COMMAND.keys()
    assert not FORMS.keys() & NO_COMMAND.keys()


@pytest.mark.parametrize(("words", "verb", "command", "field"), FIELDS, ids=NAMES)
def test_each_field_of_a_verb_is_taken_by_its_command(
    words: str, verb: Verb, command: Any, field: Field
) -> None:
    found = parameter(command, verb, field)
    assert found, f"recollect {words} has no {option_of(field.name)}"
    if len(found) > 1 or field.kind in ("lines", "items", "facts"):
        return  # parts of it, or what comes through the pipe
    taken = found[0]
    assert _is_many(taken) == (field.kind in ("texts", "text_or_texts")) or _is_joined(taken)
    if (verb.name, field.name) not in SPOKEN_FOR:
        assert _default(taken) == _wanted_default(verb, field), field.name
    assert "range" not in taken.type.name, "limits are the engine's"
    if taken.type.name == "choice":
        assert tuple(taken.type.choices) == field.choices


@pytest.mark.parametrize(("words", "verb", "command", "field"), FIELDS, ids=NAMES)
def test_each_option_is_explained_in_the_words_of_its_field(
    words: str, verb: Verb, command: Any, field: Field
) -> None:
    found = parameter(command, verb, field)
    if len(found) == 1 and (verb.name, field.name) not in OTHER_WORDS:
        assert str(found[0].help).startswith(field.help), f"recollect {words}"


@pytest.mark.parametrize(("words", "verb", "command"), EACH, ids=[verb.name for _, verb, _ in EACH])
def test_a_command_has_nothing_beside_but_what_is_named_here(
    words: str, verb: Verb, command: Any
) -> None:
    of_fields = {
        option
        for name, form in FORMS.items()
        if form.words.startswith(words)
        for one in by_name(name).fields
        for taken in parameter(command, by_name(name), one)
        for option in taken.opts
    }
    beside = SHARED.keys() | BESIDE.get(words, {}).keys()
    if verb.name == "explain":
        beside |= OF_SELECTIONS
    assert {option for one in command.params for option in one.opts} - {"--help", "-h"} <= (
        of_fields | beside
    )


def test_what_a_selection_is_explained_by_is_what_a_selection_takes() -> None:
    asked = {option_of(one.name) for one in by_name("select").fields} - {"--text"}
    explain = next(command for words, _, command in EACH if words == "explain")
    assert asked <= {option for one in explain.params for option in one.opts}


def test_what_is_said_to_be_otherwise_is() -> None:
    told = {
        (words, option)
        for words, _, command in EACH
        for one in command.params
        for option in one.opts
    }
    assert {(words, option) for words, given in BESIDE.items() for option in given} <= told
    for verb, name in (*SPOKEN_FOR, *OWN_DEFAULTS, *OTHER_WORDS):
        assert name in {one.name for one in by_name(verb).fields}
    for (verb, name), default in OWN_DEFAULTS.items():
        field = next(one for one in by_name(verb).fields if one.name == name)
        assert default != field.default


def test_what_cannot_be_typed_is_counted() -> None:
    cases = every_case()
    for verb, given, _ in UNTOLD:
        assert any((case["verb"], case["given"]) == (verb, given) for case in cases), verb
    untold = [case for case in cases if why_not(case) is not None and case["verb"] in FORMS]
    assert len(untold) == len(UNTOLD)
    assert {case["verb"] for case in cases if why_not(case) is None} == FORMS.keys()


def _is_argument(taken: Any) -> bool:
    return bool(taken.param_type_name == "argument")


def _is_many(taken: Any) -> bool:
    return bool(taken.nargs == -1 if _is_argument(taken) else taken.multiple)


def _is_joined(taken: Any) -> bool:
    """Whether it is the words of a text, or names with commas between."""
    return _is_argument(taken) or "--permissions" in taken.opts


def _default(taken: Any) -> Any:
    given = taken.default
    return None if _is_argument(taken) and given in (None, "") else given


def _wanted_default(verb: Verb, field: Field) -> Any:
    if (verb.name, field.name) in OWN_DEFAULTS:
        return OWN_DEFAULTS[verb.name, field.name]
    if field.default is REQUIRED or field.kind in ("texts", "text_or_texts", "object", "numbers"):
        return ",".join(field.default) if field.name == "permissions" else None
    return None if field.name == "text" else field.default
