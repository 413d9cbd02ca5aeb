"""Files beside a store are not trusted, and those that we make are for their owner alone."""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.contract.policy.test_erasure import item

from recollect import Recollect
from recollect.errors import HookConfigError, StoreUnavailable
from recollect.index import MemoryIndex, cache_file, follow
from recollect.model import canonical_json
from recollect.paks import RecallStore
from recollect.testing import FakeClock, FakeEmbedder

Open = Callable[..., Recollect]
DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def every_index_is_worth_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_WORTH_SAVING", 1)


def filled(open_memory: Open, name: str = "agent.db") -> None:
    with open_memory(name) as memory:
        memory.remember_many([item(number) for number in range(30)])
        memory.recall("lorem")


def forged(header: bytes, rest: bytes = b"") -> bytes:
    """Return a cache file with the right magic, version and checksum around a header."""
    head = struct.pack(
        "<16sIII", b"RECOLLECT INDEX\n", cache_file.VERSION, len(header), zlib.crc32(header)
    )
    return head + header + bytes(-(len(head) + len(header)) % 64) + rest


def said(memory: Recollect) -> str:
    return canonical_json(memory.recall("lorem", top_k=20))


def altered(whole: bytes, change: Callable[[dict[str, object]], object]) -> bytes:
    """Return a cache file with another header over the arrays that it had."""
    length = struct.unpack_from("<I", whole, 20)[0]
    header = json.loads(whole[28 : 28 + length])
    start = 28 + length + -(28 + length) % 64
    change(header)
    return forged(json.dumps(header).encode(), whole[start:])


def shape(entry: int, value: object) -> Callable[[dict[str, object]], object]:
    return lambda header: header["arrays"][entry].update(shape=value)  # type: ignore[index]


def dtype(entry: int, value: object) -> Callable[[dict[str, object]], object]:
    return lambda header: header["arrays"][entry].update(dtype=value)  # type: ignore[index]


CHANGES: dict[str, Callable[[dict[str, object]], object]] = {
    "no arrays": lambda header: header.update(arrays=[]),
    "arrays of numbers": lambda header: header.update(arrays=[1, 2]),
    "no plain": lambda header: header.pop("plain"),
    "plain is a list": lambda header: header.update(plain=[]),
    "no vocabularies": lambda header: header.update(plain={"head": {}}),
    "a head of words": lambda header: header["plain"].update(head="x"),  # type: ignore[attr-defined]
    "a huge shape": shape(0, [2**62]),
    "a negative shape": shape(0, [-1]),
    "two negative lengths": shape(0, [-1, -1]),
    "a shape of texts": shape(0, ["a"]),
    "a deep shape": shape(0, [1] * 100),
    "objects": dtype(0, "|O"),
    "no such type": dtype(0, "nothing"),
}


@pytest.fixture
def whole(tmp_path: Path, open_memory: Open) -> bytes:
    filled(open_memory)
    return (tmp_path / "agent.db.index").read_bytes()


def test_a_cache_file_of_any_shape_is_ignored_and_made_anew(
    tmp_path: Path, open_memory: Open, whole: bytes
) -> None:
    cache = tmp_path / "agent.db.index"
    with open_memory() as memory:
        expected = said(memory)
    headers = (b"", b"{}", b"[]", b"null", b"17", b"not JSON", b"\xff\xfe", b'{"a":', DEEP)
    files = {repr(header[:20]): forged(header) for header in headers}
    files |= {name: altered(whole, change) for name, change in CHANGES.items()}
    files["a length of 4 GB"] = whole[:20] + struct.pack("<I", 2**32 - 1) + whole[24:]
    for name, octets in files.items():
        cache.write_bytes(octets)
        with open_memory() as memory:
            assert said(memory) == expected, name
            assert memory.forget("nothing").wiped


def restored(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows whenever an index is taken from a file."""
    used: list[object] = []
    restore = MemoryIndex.restore

    def noted(plain: Any, arrays: Any) -> MemoryIndex:
        used.append(plain)
        return restore(plain, arrays)

    monkeypatch.setattr(MemoryIndex, "restore", noted)
    return used


def test_a_cache_file_of_our_own_is_used(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch, whole: bytes
) -> None:
    used = restored(monkeypatch)
    with open_memory() as memory:
        assert memory.recall("lorem").results
    assert len(used) == 1


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "writable by others", "another user's"])
def test_what_is_no_file_of_ours_is_no_cache(
    tmp_path: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch, kind: str, whole: bytes
) -> None:
    cache = tmp_path / "agent.db.index"
    cache.unlink()
    if kind == "pipe":
        os.mkfifo(cache)
    elif kind == "folder":
        cache.mkdir()
    elif kind == "link":
        (tmp_path / "other").write_bytes(whole)
        cache.symlink_to(tmp_path / "other")
    else:
        cache.write_bytes(whole)
        cache.chmod(0o666 if kind == "writable by others" else 0o600)
    if kind == "another user's":
        monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    used = restored(monkeypatch)
    with open_memory() as memory:
        assert memory.recall("lorem").results
    assert used == []
    if kind == "link":
        assert (tmp_path / "other").read_bytes() == whole


def test_the_cache_of_another_store_is_no_cache(
    tmp_path: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch, whole: bytes
) -> None:
    with open_memory("other.db") as memory:
        memory.remember("the kiln is lit", pak_id="own")
        memory.recall("kiln")
    (tmp_path / "other.db.index").write_bytes(whole)
    used = restored(monkeypatch)
    with open_memory("other.db") as memory:
        assert [one.fact.pak_id for one in memory.recall("lorem kiln").results] == ["own"]
    assert used == []


def test_a_draft_is_for_its_owner_alone(tmp_path: Path) -> None:
    with cache_file.drafted(tmp_path / "a.db.index", "name"):
        assert modes(tmp_path) == {"a.db.index.name.tmp": 0o600}


def test_a_draft_is_not_written_through_a_link(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_bytes(b"precious")
    (tmp_path / "a.db.index.name.tmp").symlink_to(target)
    with pytest.raises(FileExistsError), cache_file.drafted(tmp_path / "a.db.index", "name"):
        pass
    assert target.read_bytes() == b"precious"


def test_nobody_can_guess_the_name_of_a_draft(
    tmp_path: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts: list[str] = []
    replace = Path.replace

    def noted(self: Path, target: Path) -> Path:
        drafts.append(self.name)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", noted)
    for name in ("a.db", "b.db"):
        filled(open_memory, name)
    first, second = (name.split(".index.")[1] for name in drafts)
    assert first != second
    assert str(os.getpid()) not in first
    assert len(first) >= 32


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
    }


def test_what_we_make_is_for_its_owner_alone(tmp_path: Path) -> None:
    place = tmp_path / "new" / "deep" / "agent.db"
    with Recollect.open(place, embedder=FakeEmbedder(), clock=FakeClock()) as memory:
        memory.remember_many([f"note number {number}" for number in range(30)])
        memory.recall("note")
        assert set(modes(tmp_path).values()) == {0o600, 0o700}
        assert modes(tmp_path)["new"] == modes(tmp_path)["new/deep"] == 0o700
    assert modes(tmp_path)["new/deep/agent.db.index"] == 0o600
    assert modes(tmp_path)["new/deep/agent.db"] == 0o600


def test_a_catalogue_by_itself_is_for_its_owner_alone_too(tmp_path: Path) -> None:
    with RecallStore.open(tmp_path / "new" / "a.db"):
        assert set(modes(tmp_path).values()) == {0o600, 0o700}


def test_a_file_that_is_there_keeps_the_mode_that_somebody_gave_it(tmp_path: Path) -> None:
    place = tmp_path / "agent.db"
    Recollect.open(place, embedder="none").close()
    place.chmod(0o640)
    with Recollect.open(place, embedder="none") as memory:
        memory.remember("shared with the group")
        assert modes(tmp_path)["agent.db"] == 0o640
        assert modes(tmp_path)["agent.db-wal"] == 0o640


@pytest.mark.parametrize("read_only", [False, True])
def test_a_pipe_is_no_database_and_nobody_waits_for_it(tmp_path: Path, read_only: bool) -> None:
    os.mkfifo(tmp_path / "agent.db")
    with pytest.raises(StoreUnavailable) as refused:
        Recollect.open(tmp_path / "agent.db", embedder="none", read_only=read_only)
    assert refused.value.hint
    with pytest.raises(StoreUnavailable):
        RecallStore.open(tmp_path / "agent.db", read_only=read_only)


def test_a_device_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "agent.db").symlink_to("/dev/null")
    with pytest.raises(StoreUnavailable):
        Recollect.open(tmp_path / "agent.db", embedder="none")


def test_a_socket_is_no_database(tmp_path: Path) -> None:
    # Names of sockets are short.
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/a.db")
        with pytest.raises(StoreUnavailable):
            Recollect.open(f"{folder}/a.db", embedder="none")


HOOKS = '[[hook]]\nevent = "post_remember"\ncommand = ["true"]\n'


def test_hooks_that_anybody_may_write_are_not_run(tmp_path: Path) -> None:
    hooks = tmp_path / "hooks.toml"
    hooks.write_text(HOOKS)
    Recollect.open(tmp_path / "a.db", embedder="none", hooks=hooks).close()
    for mode in (0o666, 0o622):
        hooks.chmod(mode)
        with pytest.raises(HookConfigError) as refused:
            Recollect.open(tmp_path / "a.db", embedder="none", hooks=hooks)
        assert "chmod" in refused.value.hint
    hooks.chmod(0o664)
    Recollect.open(tmp_path / "a.db", embedder="none", hooks=hooks).close()


def test_hooks_in_a_folder_that_anybody_may_write_are_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    hooks = folder / "hooks.toml"
    hooks.write_text(HOOKS)
    folder.chmod(0o777)
    with pytest.raises(HookConfigError):
        Recollect.open(tmp_path / "a.db", embedder="none", hooks=hooks)
    folder.chmod(0o1777)  # as /tmp: nobody replaces what is another's
    Recollect.open(tmp_path / "a.db", embedder="none", hooks=hooks).close()


def test_a_pipe_holds_no_hooks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hooks.toml")
    with pytest.raises(HookConfigError):
        Recollect.open(tmp_path / "a.db", embedder="none", hooks=tmp_path / "hooks.toml")
