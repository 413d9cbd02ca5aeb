"""The cases ask every verb with every field, cause each error that a caller can, in every scope."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.stories import every_case

from recollect import errors
from recollect.edge.verbs import VERBS, Verb
from recollect.errors import RecollectError
from recollect.model import SCOPES

CASES = every_case()
# What no request causes: it is the server's, its store's or its hooks' own affair; or the root of
# others, which is raised by none.
NOT_BY_A_VERB = {
    "RecollectError": "a root",
    "StoreError": "a root",
    "EmbedderError": "a root",
    "HookError": "a root",
    "ServerError": "a root",
    "BodyTooSlow": "of the connection",
    "StoreUnavailable": "of the file",
    "StoreOutdated": "of the file",
    "UnsupportedPlatform": "of the machine",
    "StoreReadOnly": "of how it was opened",
    "StoreFull": "of the disk",
    "StoreBusy": "of another process",
    "StoreReplaced": "of the file",
    "StoreClosed": "of the process",
    "StoreDamaged": "of the file",
    "NotACatalogue": "of the file",
    "StoreTooNew": "of the file",
    "EmbedderMissing": "of the install",
    "EmbedderUnavailable": "of the embedder",
    "EmbedderBadAnswer": "of the embedder",
    "EmbedderMismatch": "of how it was opened",
    "HookConfigError": "of the operator's file",
    "HookDenied": "of the operator's hooks",
    "KeyNeeded": "of HTTP alone: tests/contract/client",
    "OverQuota": "of how the server was started",
    "WrongHost": "of HTTP alone",
    "ServerBusy": "of HTTP alone",
    "ServerTooSlow": "of HTTP alone",
    "ServerUnreachable": "of the client: tests/contract/client",
    "TooManyRequests": "of how the server was started",
    "ClientMissing": "of the install",
    "ServerFault": "of a defect",
    "StoreExists": "of a node",
    "UnknownStore": "of a node",
    "BadBody": "of HTTP alone",
    "BodyTooLarge": "of HTTP alone",
    "NoSuchRoute": "of HTTP alone",
    "WrongMethod": "of HTTP alone",
}


def given_to(verb: Verb) -> list[dict[str, Any]]:
    return [case["given"] for case in CASES if case["verb"] == verb.name]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_is_asked_with_every_field_and_answers(verb: Verb) -> None:
    asked = {name for given in given_to(verb) for name in given}
    assert {one.name for one in verb.fields} <= asked
    assert any(case["verb"] == verb.name and "answer" in case for case in CASES)


def test_every_error_that_a_caller_causes_is_caused() -> None:
    caused = {case["error"]["code"] for case in CASES if "error" in case}
    classes: dict[str, type[RecollectError]] = {
        name: getattr(errors, name) for name in errors.__all__
    }
    assert NOT_BY_A_VERB.keys() <= classes.keys()
    assert {name for name, one in classes.items() if one.code not in caused} == set(NOT_BY_A_VERB)


def test_every_scope_is_written_and_asked_for() -> None:
    asked = {case["given"].get("scope") for case in CASES}
    assert set(SCOPES) <= asked


def test_every_case_has_an_outcome() -> None:
    assert [case for case in CASES if ("answer" in case) == ("error" in case)] == []
