"""The examples do what they say, as real processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.house.snippets import ROOT

from recollect.hooks import Allow, Modified
from recollect.hooks.config import load
from recollect.hooks.doctor import payload_of
from recollect.hooks.events import HookEvent
from recollect.hooks.handle import Hooks

pytestmark = pytest.mark.usefixtures("patient_hooks")

EXAMPLES = ROOT / "examples/hooks"


@pytest.fixture(autouse=True)
def python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `python3` be the one that has the package."""
    folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[Hooks]:
    made = Hooks(EXAMPLES / "hooks.toml")
    yield made
    made.close()


def run_alone(tmp_path: Path, command: str) -> Hooks:
    path = tmp_path / "hooks.toml"
    path.write_text(f'[[hook]]\nevent = "pre_recall_expand"\ncommand = {command}\n')
    return Hooks(path)


def test_the_file_of_examples_holds_them_all() -> None:
    hooks = load(EXAMPLES / "hooks.toml")
    scripts = {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh")}
    assert {hook.name for hook in hooks} == scripts


def test_synonyms_are_asked_for_too(hooks: Hooks) -> None:
    outcome = hooks.expand("who broke the login?", "", 5)
    assert outcome == Modified("who broke the login? signin authentication", "", 5)
    assert hooks.expand("what is for lunch?", "", 5) == Allow()


def test_a_question_goes_where_it_belongs_and_a_choice_is_kept(hooks: Hooks) -> None:
    assert hooks.expand("card refund", "", 5) == Modified("card refund", "payments", 5)
    assert hooks.expand("card refund", "shop", 5) == Allow()
    assert hooks.expand("refund button", "", 5) == Allow()


def test_the_hooks_work_together(hooks: Hooks) -> None:
    assert hooks.expand("pay the invoice", "", 5) == Modified("pay the invoice bill", "payments", 5)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE", "a private key"),
        ("use AKIA" + "ABCDEFGHIJKLMNOP for s3", "an access key id"),
        ("token ghp_" + "a1" * 18, "a token"),
        ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxIn0x.abcdefghijkl", "a JSON web token"),
        ("password: hunter22", "a password"),
    ],
)
def test_a_secret_is_not_remembered_and_not_repeated(hooks: Hooks, text: str, kind: str) -> None:
    denied = hooks.before(payload_of(HookEvent.PRE_REMEMBER, {"content": text})).denied
    assert denied is not None
    assert denied.code == 422
    assert kind in denied.reason
    assert text[-8:] not in denied.reason


def test_what_holds_no_secret_is_remembered(hooks: Hooks) -> None:
    for text in ("Passwords are rotated monthly.", "The key to the office is with Ann."):
        payload = payload_of(HookEvent.PRE_REMEMBER, {"content": text})
        result = hooks.before(payload)
        assert (result.action, result.payload) == ("allow", payload)


def test_the_same_in_a_shell_script(tmp_path: Path) -> None:
    hooks = run_alone(tmp_path, f'["{EXAMPLES}/synonyms.sh"]')
    try:
        assert hooks.expand('the "login" page?', "", 5) == Modified(
            'the "login" page? signin', "", 5
        )
        assert hooks.expand("nothing of it", "", 5) == Allow()
    finally:
        hooks.close()


def test_the_router_as_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    path = tmp_path / "hooks.toml"
    path.write_text('[[hook]]\nevent = "pre_recall_expand"\npython = "router:route"\n')
    hooks = Hooks(path)
    try:
        assert hooks.expand("card refund", "", 5) == Modified("card refund", "payments", 5)
    finally:
        hooks.close()
