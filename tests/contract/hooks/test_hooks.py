"""`Hooks`: registration, reload, questions, what is told afterwards, counters, the end."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.hooks.conftest import CHILDREN, World, eventually

from recollect.hooks import Allow, HookConfigError, HookEvent, Modified
from recollect.hooks.decisions import AskUser
from recollect.hooks.doctor import payload_of
from recollect.hooks.handle import Hooks
from recollect.hooks.sdk import ask_user, deny, modify

pytestmark = pytest.mark.usefixtures("patient_hooks")

TEXT = payload_of(HookEvent.PRE_REMEMBER)
LINK = payload_of(HookEvent.PRE_LINK)
LINKED = payload_of(HookEvent.POST_LINK, {"pak_id": "a", "other": "b"})
GOOD = f'[[hook]]\nevent = "pre_recall_expand"\ncommand = ["sh", "{CHILDREN}/daemon.sh", "good"]\n'


@pytest.fixture
def hooks_of(tmp_path: Path, world: World) -> Iterator[Callable[[str], Hooks]]:
    made: list[Hooks] = []

    def make(text: str) -> Hooks:
        marked = text.replace(
            "[[hook]]", f'[[hook]]\nenv = {{ RECOLLECT_TEST_MARK = "{world.mark}" }}'
        )
        (tmp_path / "hooks.toml").write_text(marked)
        made.append(Hooks(tmp_path / "hooks.toml"))
        return made[-1]

    yield make
    for hooks in made:
        hooks.close()


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    made = Hooks()
    yield made
    made.close()


def test_without_a_file_nothing_runs_and_nothing_is_counted(hooks: Hooks) -> None:
    threads = threading.active_count()
    assert hooks.expand("q", "", 5) == Allow()
    assert hooks.before(TEXT).payload == TEXT
    hooks.after(LINKED)
    assert threading.active_count() == threads
    assert hooks.stats() == {
        "file": None,
        "problem": None,
        "reloads": 0,
        "post": {"queued": 0, "delivered": 0, "dropped": 0},
        "hooks": [],
    }


def test_daemons_run_before_the_first_query(hooks_of: Callable[[str], Hooks], world: World) -> None:
    hooks = hooks_of(GOOD)
    assert hooks.stats()["hooks"][0]["state"] == "ready"
    assert len(world.processes()) == 1
    assert hooks.expand("q", "n", 5) == Modified("mine 1", "n", 5)


def test_functions_are_registered_by_priority_and_can_be_removed(hooks: Hooks) -> None:
    hooks.register("pre_recall_expand", lambda p: modify(query=p["query"] + " low"), name="low")
    hooks.register(
        "pre_recall_expand", lambda p: modify(query=p["query"] + " high"), priority=9, name="high"
    )
    assert hooks.expand("q", "", 5) == Modified("q high low", "", 5)
    assert hooks.unregister("high")
    assert not hooks.unregister("high")
    assert hooks.expand("q", "", 5) == Modified("q low", "", 5)


def test_two_functions_of_one_name_get_names_of_their_own(hooks: Hooks) -> None:
    def mine(_: object) -> None: ...

    first, second = hooks.register("pre_link", mine), hooks.register("post_link", mine)
    assert second.name == f"{first.name}#2"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"event": "pre_nap"}, "event"),
        ({"function": "not callable"}, "function"),
        ({"priority": "1"}, "priority"),
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"timeout_ms": True}, "timeout_ms"),
        ({"namespace": ""}, "namespace"),
        ({"namespace": "team/*"}, "namespace"),
        ({"fail_mode": "ajar"}, "fail_mode"),
    ],
)
def test_a_registration_that_is_wrong_is_refused(
    hooks: Hooks, given: dict[str, Any], field: str
) -> None:
    arguments = {"event": "pre_link", "function": lambda _: None, **given}
    with pytest.raises(HookConfigError) as caught:
        hooks.register(**arguments)
    assert caught.value.field == field
    assert hooks.list() == ()


def test_a_reload_starts_what_is_new_keeps_what_stayed_and_stops_what_went(
    hooks_of: Callable[[str], Hooks], world: World, tmp_path: Path
) -> None:
    hooks = hooks_of(GOOD)
    (stays,) = world.processes()
    path = tmp_path / "hooks.toml"
    one = path.read_text()
    path.write_text(one + one.replace("pre_recall_expand", "pre_recall"))
    hooks.reload()
    assert stays in world.processes()
    assert len(world.processes()) == 2
    path.write_text(one)
    hooks.reload()
    assert world.processes() == [stays]
    assert hooks.stats()["reloads"] == 2
    path.write_text("")
    hooks.reload()
    assert world.processes() == []
    assert hooks.expand("q", "", 5) == Allow()


def test_a_reload_takes_over_another_priority_without_a_restart(
    hooks_of: Callable[[str], Hooks], world: World, tmp_path: Path
) -> None:
    hooks = hooks_of(GOOD)
    running = world.processes()
    path = tmp_path / "hooks.toml"
    path.write_text(path.read_text() + "priority = 7\nenabled = true\n")
    assert hooks.reload()[0].priority == 7
    assert world.processes() == running


def test_a_bad_file_keeps_the_last_good_one_and_says_so(
    hooks_of: Callable[[str], Hooks], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = hooks_of(GOOD)
    (tmp_path / "hooks.toml").write_text("[[hook]]\nevent = 'pre_nap'\n")
    with pytest.raises(HookConfigError, match="pre_nap"):
        hooks.reload()
    assert "stay as they were" in caplog.text
    assert "line 2, field event" in hooks.stats()["problem"]
    assert hooks.expand("q", "n", 5) == Modified("mine 1", "n", 5)
    (tmp_path / "hooks.toml").write_text("")
    hooks.reload()
    assert hooks.stats()["problem"] is None


def test_a_bad_file_at_the_start_raises_and_leaves_nothing_running(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "hooks.toml").write_text(GOOD + "[[hook]]\n")
    with pytest.raises(HookConfigError, match="event"):
        Hooks(tmp_path / "hooks.toml")
    assert world.processes() == []


def test_sighup_reloads_only_where_a_program_asked_for_it(
    hooks_of: Callable[[str], Hooks], tmp_path: Path
) -> None:
    before, called = signal.getsignal(signal.SIGHUP), threading.Event()
    hooks = hooks_of(GOOD)
    assert signal.getsignal(signal.SIGHUP) is before
    try:
        signal.signal(signal.SIGHUP, lambda *_: called.set())
        hooks.reload_on_sighup()
        (tmp_path / "hooks.toml").write_text("")
        os.kill(os.getpid(), signal.SIGHUP)
        eventually(lambda: hooks.list() == ())
        assert called.wait(10), "the handler that was there before is still called"
        (tmp_path / "hooks.toml").write_text("nonsense")
        os.kill(os.getpid(), signal.SIGHUP)
        eventually(lambda: hooks.stats()["problem"] is not None)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_is_refused_the_signal(hooks: Hooks) -> None:
    caught: list[BaseException] = []

    def work() -> None:
        try:
            hooks.reload_on_sighup()
        except HookConfigError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "main thread" in str(caught[0])


@pytest.mark.parametrize(("default", "goes_on"), [("y", True), ("n", False), (None, False)])
def test_with_nobody_to_ask_the_default_of_a_question_decides(
    hooks: Hooks, default: str | None, goes_on: bool
) -> None:
    hooks.register("pre_link", lambda _: modify(weight=0.5), priority=1)
    hooks.register("pre_link", lambda _: ask_user("Link them?", default=default))
    if goes_on:
        assert hooks.before(LINK).payload.values["weight"] == 0.5
    else:
        denied = hooks.before(LINK).denied
        assert denied is not None
        assert "Link them" in denied.reason


def test_a_question_is_put_to_whoever_is_there(hooks: Hooks) -> None:
    asked: list[AskUser] = []

    def answer(ask: AskUser) -> str:
        asked.append(ask)
        return "yes"

    hooks.register("pre_link", lambda _: ask_user("Link them?", ["yes", "no"], "no"))
    hooks.on_ask(answer)
    assert hooks.before(LINK).denied is None
    assert asked == [AskUser("Link them?", ("yes", "no"), "no")]


def test_a_read_is_never_held_up_by_a_question(
    hooks: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    hooks.register("pre_recall", lambda _: ask_user("May I?"))
    hooks.on_ask(lambda _: "n")
    with caplog.at_level(logging.WARNING, "recollect.hooks"):
        assert hooks.before(payload_of(HookEvent.PRE_RECALL)).denied is None
    assert "May I?" in caplog.text


def test_what_was_done_is_told_off_the_callers_path(hooks: Hooks) -> None:
    told, gate = threading.Event(), threading.Event()

    def listen(payload: dict[str, Any]) -> None:
        gate.wait(30)
        who = {"tenant": "local", "id": "local"}
        assert payload == {"pak_id": "a", "other": "b", "weight": 1.0, "principal": who}
        told.set()

    hooks.register("post_link", listen)
    hooks.after(LINKED)
    assert not told.is_set()
    gate.set()
    assert told.wait(30)


def test_what_a_listener_decides_changes_nothing(hooks: Hooks) -> None:
    hooks.register("post_link", lambda _: deny("too late"), name="late")
    hooks.after(LINKED)
    hooks.close()
    (only,) = hooks.stats()["hooks"]
    assert only["counts"] == {"deny": 1}


def test_counters_and_latencies_of_each_hook(hooks: Hooks) -> None:
    hooks.register("pre_recall_expand", lambda p: modify(k=3) if p["k"] == 1 else None, name="one")
    for k in (1, 2, 2):
        hooks.expand("q", "", k)
    (only,) = hooks.stats()["hooks"]
    assert only["hook"] == "one"
    assert only["event"] == HookEvent.PRE_RECALL_EXPAND
    assert only["counts"] == {"allow": 2, "modify": 1}
    assert sum(bucket["calls"] for bucket in only["latency_ms"]["histogram"]) == 3


def test_after_closing_a_hook_fails_as_its_mode_says(hooks: Hooks) -> None:
    hooks.register("pre_remember", lambda _: None, name="open")
    hooks.close()
    hooks.close()
    assert hooks.before(TEXT).degraded == ("open",)
