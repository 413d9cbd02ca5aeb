"""One runner for each way in: a case goes in, the bytes of its outcome come out.

Each builds the store anew and tells a story from its beginning. The doors differ in nothing but
what is listed in `STORES_DIFFER`.
"""

from __future__ import annotations

import asyncio
import atexit
import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import httpx
from tests.conformance.commands import FORMS, typed, why_not
from tests.conformance.mcp_runners import WAYS, Way
from tests.conformance.stores import ASKED_AT, PEOPLE, build, clock
from tests.conformance.stories import Case, Names, Outcome, answered, refused
from tests.served import served
from tests.warm import WarmCommand

from recollect import AsyncRecollect, Recollect, RecollectError
from recollect.client import AsyncRemoteRecollect, RemoteRecollect
from recollect.edge.verbs import Verb, by_name
from recollect.testing import FakeClock

Ask = Callable[[Case], bytes]
Runner = Callable[[str], AbstractContextManager[Ask]]
# A store in memory has no files to look at.
STORES_DIFFER = ("proof",)


def told(place: str) -> tuple[Recollect, Mapping[str, str]]:
    """Make the store of the cases at a place; return it with everybody's keys."""
    time = clock()
    memory = Recollect.open(place, embedder="none", clock=time, receipts=True)
    return memory, build(memory, time)


def telling(names: Names, perform: Callable[[Case, dict[str, Any]], Outcome]) -> Ask:
    """Return what answers case after case, each with the names that those before it saved."""

    def ask(case: Case) -> bytes:
        outcome = perform(case, names.in_place(case["given"]))
        names.save(case, outcome)
        if "answer" in outcome and isinstance(outcome["answer"], dict):
            for name in STORES_DIFFER:
                outcome["answer"].pop(name, None)
        return names.shown(outcome)

    return ask


def performed(verb: Verb, memory: Any, given: dict[str, Any]) -> Outcome:
    """Carry out a verb on whatever has the verbs of a memory."""
    try:
        answer = verb.perform(memory, given)
        plain = answer if isinstance(answer, dict) else [line.rstrip("\n") for line in answer]
        return json.loads(json.dumps(answered(plain)))
    except RecollectError as error:
        return refused(error)


@contextmanager
def library(place: str) -> Iterator[Ask]:
    """Ask the engine."""
    memory, keys = told(place)
    with memory:
        names = Names(keys)
        handles = {name: memory.as_principal(who) for name, who in PEOPLE.items()}
        yield telling(
            names, lambda case, given: performed(by_name(case["verb"]), handles[case["as"]], given)
        )


class Awaited:
    """Whatever is awaited, as something that is not."""

    def __init__(self, target: Any, runner: asyncio.Runner) -> None:
        self._target, self._runner = target, runner

    def __getattr__(self, name: str) -> Any:
        if name == "principal" and not hasattr(self._target, name):
            return self._runner.run(self._target.me())
        found = getattr(self._target, name)
        if inspect.isasyncgenfunction(found):
            return lambda *args, **given: self._runner.run(_all(found(*args, **given)))
        if inspect.iscoroutinefunction(found):
            return lambda *args, **given: self._runner.run(found(*args, **given))
        return Awaited(found, self._runner) if hasattr(found, "_transport") else found


async def _all(lines: Any) -> list[str]:
    return [line async for line in lines]


@contextmanager
def awaited(place: str) -> Iterator[Ask]:
    """Ask `AsyncRecollect`."""
    memory, keys = told(place)
    with memory, asyncio.Runner() as runner:
        names = Names(keys)
        twin = AsyncRecollect(memory)
        handles = {
            name: Awaited(runner.run(twin.as_principal(who)), runner)
            for name, who in PEOPLE.items()
        }
        yield telling(
            names, lambda case, given: performed(by_name(case["verb"]), handles[case["as"]], given)
        )


@contextmanager
def http(place: str) -> Iterator[Ask]:
    """Ask the server, with requests that are put together here."""
    memory, keys = told(place)
    with served(memory) as url, httpx.Client(base_url=url, trust_env=False) as client:

        def perform(case: Case, given: dict[str, Any]) -> Outcome:
            key = keys[case["as"]]
            return _outcome(client.send(_request(client, by_name(case["verb"]), given, key)))

        yield telling(Names(keys), perform)


def _request(client: httpx.Client, verb: Verb, given: dict[str, Any], key: str) -> httpx.Request:
    route, rest = verb.route, dict(given)
    path = route.path
    for one in verb.fields:
        if route.in_path(one):
            path = path.replace("{" + one.name + "}", quote(str(rest.pop(one.name)), safe=""))
    headers = {"Authorization": f"Bearer {key}"}
    if "request_id" in rest:
        headers["Idempotency-Key"] = rest.pop("request_id")
    if "lines" in rest:
        body = "".join(f"{line}\n" for line in rest.pop("lines"))
        return client.build_request("POST", path, content=body, headers=headers)
    if route.has_body:
        return client.build_request(route.method, path, json=rest, headers=headers)
    query = httpx.QueryParams(
        [(name, text) for name, value in rest.items() for text in _texts(value)]
    )
    return client.build_request(route.method, path, params=query, headers=headers)


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value if isinstance(value, str) else json.dumps(value)]


def _outcome(response: httpx.Response) -> Outcome:
    kind = response.headers["content-type"]
    if response.is_error:
        problem = response.json()
        said = {name: problem[name] for name in ("code", "hint", "status")}
        assert problem["status"] == response.status_code
        order = {"code": said["code"], "message": problem["detail"], **said}
        return {"error": order}
    if "ndjson" in kind:
        return answered(response.text.removesuffix("\n").split("\n"))
    return answered(response.json())


@contextmanager
def remote(place: str) -> Iterator[Ask]:
    """Ask the server through `RemoteRecollect`; what it gives is encoded again."""
    memory, keys = told(place)
    with ExitStack() as stack:
        url = stack.enter_context(served(memory))
        handles = {
            name: stack.enter_context(RemoteRecollect(url, key)) for name, key in keys.items()
        }
        yield telling(
            Names(keys),
            lambda case, given: performed(by_name(case["verb"]), handles[case["as"]], given),
        )


@contextmanager
def remote_awaited(place: str) -> Iterator[Ask]:
    """Ask the server through `AsyncRemoteRecollect`."""
    memory, keys = told(place)
    with served(memory) as url, asyncio.Runner() as runner:
        clients = {name: AsyncRemoteRecollect(url, key) for name, key in keys.items()}
        handles = {name: Awaited(one, runner) for name, one in clients.items()}
        yield telling(
            Names(keys),
            lambda case, given: performed(by_name(case["verb"]), handles[case["as"]], given),
        )
        for one in clients.values():
            runner.run(one.close())


@contextmanager
def shell(place: str) -> Iterator[Ask]:
    """Type each case at a shell, beside the file; what cannot be typed is asked of the library."""
    memory, keys = told(place)
    memory.close()
    now = FakeClock(memory_time())

    def unsaid(case: Case, given: dict[str, Any]) -> Outcome:
        with Recollect.open(place, embedder="none", clock=now, receipts=True) as again:
            handle = again.as_principal(PEOPLE[case["as"]])
            return performed(by_name(case["verb"]), handle, given)

    with TemporaryDirectory() as home:
        beside = {"RECOLLECT_DB": place, "RECOLLECT_RECEIPTS": "1", "HOME": home}
        yield telling(Names(keys), partial(_typed, keys, beside, unsaid))


@contextmanager
def shell_of_a_server(place: str) -> Iterator[Ask]:
    """Type each case at a shell that asks a server."""
    memory, keys = told(place)
    with ExitStack() as stack:
        url = stack.enter_context(served(memory))
        home = stack.enter_context(TemporaryDirectory())
        handles = {
            name: stack.enter_context(RemoteRecollect(url, key)) for name, key in keys.items()
        }

        def unsaid(case: Case, given: dict[str, Any]) -> Outcome:
            return performed(by_name(case["verb"]), handles[case["as"]], given)

        there = {"RECOLLECT_URL": url, "HOME": home}
        yield telling(Names(keys), partial(_typed, keys, there, unsaid))


def _typed(
    keys: Mapping[str, str],
    environment: Mapping[str, str],
    unsaid: Callable[[Case, dict[str, Any]], Outcome],
    case: Case,
    given: dict[str, Any],
) -> Outcome:
    if why_not(case) is not None:
        return unsaid(case, given)
    words, pipe = typed(by_name(case["verb"]), given)
    env = {**environment, "PATH": os.environ["PATH"], "RECOLLECT_KEY": keys[case["as"]]}
    done = _warm().run(words, env=env, cwd=Path(env["HOME"]), stdin=pipe, at=memory_time())
    assert done.returncode in (0, 1), f"{words}: {done.stdout}{done.stderr}"
    if case["verb"] == "export" and done.returncode == 0:
        return answered(done.stdout.removesuffix("\n").split("\n"))
    said = json.loads(done.stdout)
    if "error" in said:
        return {"error": said["error"]}
    for name in FORMS[case["verb"]].added:
        said.pop(name)
    return answered(said)


@cache
def _warm() -> WarmCommand:
    command = WarmCommand()
    atexit.register(command.close)
    return command


def memory_time() -> float:
    """Return the time at which the cases are asked."""
    return ASKED_AT + len(PEOPLE) + 1


def _through(way: Way) -> Runner:
    """Return a runner that asks through MCP."""

    @contextmanager
    def run(place: str) -> Iterator[Ask]:
        with way(place) as (names, perform):
            yield telling(names, perform)

    return run


RUNNERS: Mapping[str, Runner] = {
    "library": library,
    "library in memory": library,
    "awaited": awaited,
    "http": http,
    "remote": remote,
    "remote, awaited": remote_awaited,
    "shell": shell,
    "shell, of a server": shell_of_a_server,
    **{name: _through(way) for name, way in WAYS.items()},
}


def place_for(runner: str, folder: Path) -> str:
    """Return where a runner keeps its store."""
    return "memory://" if runner.endswith("in memory") else str(folder / "cases.db")
