"""`RemoteRecollect`: the verbs and types of `Recollect`, over a real server on loopback."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.house.snippets import ROOT
from tests.served import TOKEN, served

from recollect import AsyncRecollect, Recollect
from recollect.client import AsyncRemoteRecollect, RemoteRecollect
from recollect.errors import (
    FrameImmutable,
    InvalidInput,
    KeyNeeded,
    NotAllowed,
    PakIdTaken,
    ServerUnreachable,
    UnknownGarden,
    UnknownPak,
)
from recollect.model import FrameResult, RecallRequest
from recollect.policy import PERMISSIONS, Principal
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock

ANN = Principal("acme", "ann", ("tools",), PERMISSIONS)
# What needs the file, or another principal than the key's.
OF_THE_FILE = {
    "figures",
    "holdings",
    "as_principal",
    "backup",
    "check",
    "examine",
    "head",
    "open",
    "prune_versions",
    "reembed",
    "reindex",
    "repair",
}
# Whose a key or a session is, a server finds out for itself; its pages show what has which flag,
# and which versions would go.
OF_THE_SERVER = {"flagged", "older", "principal_by", "principal_for"}
ROOMS = ("catalogue", "frames", "gardens", "keys", "quarantine", "trust")


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def verbs_of(kind: type) -> set[str]:
    return {name for name in public(kind) if callable(getattr(kind, name))}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with Recollect.open(
        tmp_path / "a.db", embedder="none", clock=FakeClock(), receipts=True
    ) as opened:
        yield opened


@pytest.fixture
def ann(memory: Recollect) -> Iterator[RemoteRecollect]:
    secret = memory.keys.create(ANN).secret
    with served(memory) as url, RemoteRecollect(url, secret) as remote:
        yield remote


def test_it_has_the_verbs_of_the_engine_with_the_same_parameters() -> None:
    engine = verbs_of(Recollect) - OF_THE_FILE
    for remote in (RemoteRecollect, AsyncRemoteRecollect):
        assert verbs_of(remote) == engine | {"me"}
        for verb in engine:
            ours = inspect.signature(getattr(Recollect, verb)).parameters
            theirs = inspect.signature(getattr(remote, verb)).parameters
            assert list(theirs.values()) == list(ours.values()), verb
    assert public(RemoteRecollect) == verbs_of(RemoteRecollect) | {*ROOMS, "principal"}
    assert public(AsyncRemoteRecollect) == verbs_of(AsyncRemoteRecollect) | {*ROOMS}


@pytest.mark.parametrize("room", ROOMS)
def test_its_rooms_have_the_verbs_of_the_engine_s(
    room: str, memory: Recollect, tmp_path: Path
) -> None:
    engine = type(getattr(memory, room))
    with closing(RemoteRecollect("http://127.0.0.1:9")) as remote:
        blocking = type(getattr(remote, room))
    awaited = type(getattr(AsyncRemoteRecollect("http://127.0.0.1:9"), room))
    verbs = verbs_of(engine) - OF_THE_SERVER
    assert verbs_of(blocking) == verbs_of(awaited) == verbs
    for verb in verbs:
        ours = inspect.signature(getattr(engine, verb))
        assert inspect.signature(getattr(blocking, verb)).parameters == ours.parameters
        assert inspect.signature(getattr(awaited, verb)).parameters == ours.parameters
        assert inspect.iscoroutinefunction(getattr(awaited, verb))


def test_the_values_are_those_of_the_engine(memory: Recollect, ann: RemoteRecollect) -> None:
    here = memory.as_principal(ANN)
    made = ann.remember(
        "The kiln is booked until Friday.",
        pak_id="kiln/booking",
        tags=["studio"],
        metadata={"ticket": 42, "by": ["Ann"]},
        ttl=timedelta(days=2),
        scope="company",
    )
    assert (made.pak_id, made.created, made.state) == ("kiln/booking", True, "ready")
    ann.remember("The kiln is free.", pak_id="..", scope="team", team="tools", entity="kiln")
    ann.remember_many(["One more.", {"content": "And another.", "thread": "t"}])
    ann.update("..", title="Free", summary=None)
    ann.link("kiln/booking", "..", weight=0.5)
    ann.dispute("kiln/booking", "..", note="which?")
    ann.gardens.create("lab")
    ann.gardens.add("lab", "bob", "writer")
    ann.frames.register("mine", extends="task", token_budget=300)
    ann.trust.set("mail", 0.25)
    ann.ingest([{"content": "It rains.", "source": "mail"}], source="mail")
    assert ann.get("kiln/booking") == here.get("kiln/booking")
    assert hash(ann.get("kiln/booking")) == hash(here.get("kiln/booking"))
    assert ann.get("nobody") is None
    assert ann.inspect("..") == here.inspect("..")
    assert ann.history("..") == here.history("..")
    assert ann.history("nobody") == here.history("nobody")
    assert ann.list(counts=True, tags=["studio"]) == here.list(counts=True, tags=["studio"])
    assert ann.ids("ki") == here.ids("ki") == ("kiln/booking",)
    assert list(ann.disputes()) == list(here.disputes())
    asked = RecallRequest(query="kiln", top_k=2, now="2030-01-01T00:00:00Z")
    assert ann.respond(asked) == here.respond(asked)
    assert ann.recall("kiln").match == here.recall("kiln").match
    # Rendering counts a use, and the next one is told of it.
    framed = ann.frame("mine", "kiln")
    assert type(framed) is FrameResult
    assert framed.text == here.frame("mine", "kiln").text
    chosen = SelectQuery("kiln", now="2030-01-01T00:00:00Z")
    assert ann.select(chosen) == here.select(chosen)
    for query in ("kiln", asked, chosen, None):
        assert ann.explain("..", query) == here.explain("..", query)
    assert ann.explain("..", "kiln", frame="mine") == here.explain("..", "kiln", frame="mine")
    page = ann.receipts(limit=1)
    assert page == here.receipts(limit=1)
    newest = page.items[0].recall_id
    assert ann.why(newest) == here.why(newest)
    assert ann.why("recall_0") is None
    assert ann.frames.list() == here.frames.list()
    assert ann.frames.get("mine") == here.frames.get("mine")
    assert ann.frames.extends("mine") == "task"
    assert ann.gardens.list() == here.gardens.list()
    assert ann.gardens.members("lab") == here.gardens.members("lab")
    assert ann.quarantine.list() == here.quarantine.list()
    assert ann.trust.list() == here.trust.list()
    assert (ann.trust.of("mail"), ann.trust.of("nobody")) == (0.25, 0.5)
    assert list(ann.audit()) == list(here.audit())
    assert ann.stats() == here.stats()
    assert ann.principal == ANN
    assert list(ann.export()) == [line.rstrip("\n") for line in here.export()]
    assert ann.tidy(dry_run=True) == here.tidy(dry_run=True)
    assert (ann.touch("kiln/booking"), ann.touch("nobody")) == (True, False)
    assert (ann.archive(".."), ann.archive("nobody"), ann.unarchive("..")) == (True, False, True)
    assert (ann.resolve("kiln/booking", ".."), ann.resolve("kiln/booking", "..")) == (True, False)
    held = ann.quarantine.list()[0].pak_id
    ann.quarantine.promote(held)
    assert ann.quarantine.list() == ()
    assert ann.forget("..").pak_ids == ("..",)
    assert not ann.forget("nobody")


def test_keys_are_made_for_the_own_tenant_alone_and_end(
    memory: Recollect, ann: RemoteRecollect
) -> None:
    made = ann.keys.create(Principal("acme", "bob"), name="robot")
    assert made.row in [key for key in ann.keys.list() if key.name]
    assert memory.keys.principal_for(made.secret) == Principal("acme", "bob")
    with pytest.raises(NotAllowed, match="another tenant"):
        ann.keys.create(Principal("other", "bob"))
    assert (ann.keys.revoke(made.row.prefix), ann.keys.revoke(made.row.prefix)) == (True, False)


def test_errors_are_of_the_same_class_with_the_same_words(
    memory: Recollect, ann: RemoteRecollect
) -> None:
    here = memory.as_principal(ANN)
    here.remember("Tea.", pak_id="tea")
    memory.remember("Another's.", pak_id="taken")
    wrong: list[tuple[type[Exception], str, tuple[Any, ...], dict[str, Any]]] = [
        (InvalidInput, "remember", ("  ",), {}),
        (InvalidInput, "recall", ("tea",), {"top_k": 0}),
        (PakIdTaken, "remember", ("Coffee.",), {"pak_id": "taken"}),
        (UnknownPak, "link", ("tea", "nobody"), {}),
        (UnknownGarden, "recall", ("tea",), {"garden": "nowhere"}),
    ]
    for kind, verb, args, kwargs in wrong:
        with pytest.raises(kind) as expected:
            getattr(here, verb)(*args, **kwargs)
        with pytest.raises(kind) as raised:
            getattr(ann, verb)(*args, **kwargs)
        assert type(raised.value) is type(expected.value)
        assert str(raised.value) == str(expected.value)
    with pytest.raises(FrameImmutable):
        ann.frames.delete("self")
    with pytest.raises(NotAllowed, match="may read"):
        list(ann.export(everything=True))
    with pytest.raises(InvalidInput, match="request_id"):
        ann.remember("Tea.", request_id=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ann.remember("Tea.", colour="green")  # type: ignore[call-arg]


def test_who_shows_no_good_key_is_told_so(memory: Recollect) -> None:
    memory.keys.create(ANN)
    with served(memory) as url:
        for key in (None, "rk_nothing", TOKEN):
            with RemoteRecollect(url, key) as remote, pytest.raises(KeyNeeded):
                remote.stats()


def test_a_socket_of_the_user_s_own_needs_no_key(memory: Recollect, tmp_path: Path) -> None:
    with served(memory, at=tmp_path / "s") as url, RemoteRecollect(url) as remote:
        remote.remember("Tea.", pak_id="tea")
        assert remote.principal.permissions == ("read", "write")
        assert list(remote.list().items) == [memory.get("tea")]


def test_an_export_is_taken_back_line_by_line(memory: Recollect, ann: RemoteRecollect) -> None:
    ann.remember_many([f"Line {number} of many.\u2028" for number in range(300)])
    seen: list[tuple[int, int]] = []
    with Recollect.open("memory://", embedder="none") as other:
        secret = other.keys.create(Principal("else", "eve")).secret
        with served(other) as url, RemoteRecollect(url, secret) as eve:
            taken = eve.import_(ann.export(), progress=lambda *so_far: seen.append(so_far))
            assert len(taken) == 300
            assert sorted(one.content for one in eve.list(limit=300).items) == sorted(
                one.content for one in ann.list(limit=300).items
            )
    assert seen == [(300, 300)]


class Breaking:
    """Between a client and a server: lets a request through, and cuts the answer off."""

    def __init__(self, url: str, *, cuts: int) -> None:
        host, port = url.removeprefix("http://").split(":")
        self._to = (host, int(port))
        self._cuts = cuts
        self.seen = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.seen += 1
            with client, socket.create_connection(self._to) as server:
                client.settimeout(5)
                server.settimeout(5)
                server.sendall(_whole_message(client))
                answer = _whole_message(server)
                if self._cuts:
                    self._cuts -= 1
                else:
                    client.sendall(answer.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n", 1))

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def _whole_message(source: socket.socket) -> bytes:
    """Return a request or an answer with its body, as long as its head says that is."""
    said = b""
    while b"\r\n\r\n" not in said:
        said += source.recv(2**16)
    head, _, body = said.partition(b"\r\n\r\n")
    lengths = [one for one in head.lower().split(b"\r\n") if one.startswith(b"content-length:")]
    length = int(lengths[0].partition(b":")[2]) if lengths else 0
    while len(body) < length:
        body += source.recv(2**16)
    return head + b"\r\n\r\n" + body


@contextmanager
def breaking(url: str, *, cuts: int) -> Iterator[Breaking]:
    with closing(Breaking(url, cuts=cuts)) as between:
        yield between


def test_a_write_whose_answer_was_lost_is_sent_again_and_done_once(memory: Recollect) -> None:
    secret = memory.keys.create(ANN).secret
    with (
        served(memory) as url,
        breaking(url, cuts=2) as between,
        RemoteRecollect(between.url, secret) as ann,
    ):
        made = ann.remember("Done once.", scope="company")
        assert made.created
        assert between.seen == 3
        assert [one.content for one in memory.as_principal(ANN).list().items] == ["Done once."]


def test_what_has_no_name_is_not_sent_again(memory: Recollect) -> None:
    secret = memory.keys.create(ANN).secret
    with (
        served(memory) as url,
        breaking(url, cuts=1) as between,
        RemoteRecollect(between.url, secret, retries=0) as ann,
    ):
        with pytest.raises(ServerUnreachable):
            ann.remember("Perhaps.")
        assert between.seen == 1
        assert ann.stats()["memories"] == 1


# httpcore lets go of a socket that could not be connected without closing it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_where_nothing_answers_it_says_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    for url in (f"http://127.0.0.1:{free}", f"unix:{tmp_path / 'none'}"):
        with (
            RemoteRecollect(url, retries=1) as remote,
            pytest.raises(ServerUnreachable, match="cannot be reached"),
        ):
            remote.stats()
    for wrong in ("127.0.0.1:80", "ftp://a", "", 5):
        with pytest.raises(InvalidInput, match="no address"):
            RemoteRecollect(wrong)  # type: ignore[arg-type]


def test_awaited_it_is_the_same(memory: Recollect) -> None:
    secret = memory.keys.create(ANN).secret
    here = memory.as_principal(ANN)

    async def story(url: str) -> None:
        async with AsyncRemoteRecollect(url, secret) as ann:
            await asyncio.gather(*(ann.remember(f"Note {n}.", pak_id=f"n{n}") for n in range(12)))
            answers = await asyncio.gather(*(ann.recall("note", top_k=3) for _ in range(6)))
            assert all(one.results == answers[0].results for one in answers)
            assert await ann.get("n1") == here.get("n1")
            assert await ann.me() == ANN
            await ann.gardens.create("lab")
            assert await ann.gardens.list() == here.gardens.list()
            lines = [line async for line in ann.export()]
            assert len(lines) == 12
            assert len(await ann.import_(lines)) == 12
            with pytest.raises(InvalidInput):
                await ann.remember(" ")

    with served(memory) as url:
        asyncio.run(story(url))


def chat() -> Any:
    spec = importlib.util.spec_from_file_location("chat_example", ROOT / "examples/chat.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class WithKeys:
    """Gives users their own memories on a server, as the example expects of a file."""

    def __init__(self, memory: Recollect, url: str) -> None:
        self._memory, self._url = memory, url
        self.opened: list[RemoteRecollect] = []

    def as_principal(self, who: Principal) -> RemoteRecollect:
        self.opened.append(RemoteRecollect(self._url, self._memory.keys.create(who).secret))
        return self.opened[-1]


def test_the_chat_example_tells_the_same_from_a_file_and_from_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    example = chat()
    example.main(str(tmp_path / "file.db"))
    from_a_file = capsys.readouterr().out
    with Recollect.open(tmp_path / "server.db") as memory, served(memory) as url:
        remote = WithKeys(memory, url)

        @contextmanager
        def opened(_: str) -> Iterator[WithKeys]:
            yield remote

        monkeypatch.setattr(example, "Recollect", type("There", (), {"open": opened}))
        example.main()
        for one in remote.opened:
            one.close()
    assert capsys.readouterr().out == from_a_file


def test_the_async_engine_has_the_same_verbs() -> None:
    assert verbs_of(AsyncRecollect) - OF_THE_FILE == verbs_of(AsyncRemoteRecollect) - {"me"}
