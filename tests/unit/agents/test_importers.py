"""Transcripts are read as turns: what people and the model said, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.importers import GivenOut, Turn, Unread, claude_code, codex
from recollect.importers.lines import numbered


def lines(*records: Any) -> list[tuple[int, bytes]]:
    told = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in records]
    return list(enumerate(told, 1))


def claude(kind: str, uuid: str, content: Any, **more: Any) -> dict[str, Any]:
    told = {"type": kind, "uuid": uuid, "sessionId": "s1", "timestamp": "2026-11-18T10:00:00Z"}
    return {**told, "cwd": "/shop", "message": {"role": kind, "content": content}, **more}


def said(*texts: str) -> dict[str, Any]:
    return {"content": [{"type": "output_text", "text": one} for one in texts]}


def codex_line(role: str, *texts: str, **more: Any) -> dict[str, Any]:
    payload = {"type": "message", "role": role, **said(*texts), **more}
    return {"timestamp": "2026-11-18T10:00:00Z", "type": "response_item", "payload": payload}


META = {"type": "session_meta", "payload": {"id": "c1", "cwd": "/shop"}}


def test_claude_code_gives_what_was_said_and_what_hooks_added() -> None:
    block = {
        "type": "hook_additional_context",
        "content": ["<recollect-memory>a</recollect-memory>"],
    }
    found = list(
        claude_code.read(
            lines(
                {"type": "summary", "summary": "x"},
                claude("user", "u1", "Where is the tea?"),
                {"type": "attachment", "sessionId": "s1", "attachment": block},
                claude("assistant", "u2", [{"type": "thinking", "thinking": "hm"}]),
                claude("assistant", "u3", [{"type": "text", "text": "In the tin."}]),
                claude("user", "u4", [{"type": "tool_result", "content": "output"}]),
                claude("user", "u5", "meta", isMeta=True),
                claude("user", "u6", "<command-name>/clear</command-name>"),
                claude("assistant", "u7", [{"type": "text", "text": "side"}], isSidechain=True),
                {"type": "api-request-blob", "message": {"content": "everything"}},
            ),
            name="s1.jsonl",
        )
    )
    common = {"thread": "s1", "source": "claude-code", "folder": "/shop"}
    at = "2026-11-18T10:00:00Z"
    assert found == [
        Turn(speaker="user", text="Where is the tea?", name="u1", occurred_at=at, **common),
        GivenOut("s1", "<recollect-memory>a</recollect-memory>"),
        Turn(speaker="assistant", text="In the tin.", name="u3", occurred_at=at, **common),
    ]


def test_codex_gives_what_was_said_and_what_hooks_added() -> None:
    found = list(
        codex.read(
            lines(
                META,
                codex_line("user", "<environment_context>x</environment_context>"),
                codex_line("developer", "injected"),
                codex_line("user", "Where is the tea?"),
                {"type": "event_msg", "payload": {"type": "agent_message", "message": "again"}},
                codex_line("assistant", "In the", "tin.", id="m7"),
                {"type": "response_item", "payload": {"type": "reasoning"}},
            ),
            name="r.jsonl",
        )
    )
    assert [(one.speaker, one.text) for one in found if isinstance(one, Turn)] == [
        ("user", "Where is the tea?"),
        ("assistant", "In the\ntin."),
    ]
    assert [one.name for one in found if isinstance(one, Turn)] == ["c1:4", "m7"]
    assert [one for one in found if isinstance(one, GivenOut)] == [GivenOut("c1", "injected")]


@pytest.mark.parametrize("module", [claude_code, codex])
def test_a_line_that_cannot_be_read_is_told_by_its_number_and_the_rest_is_read(module: Any) -> None:
    good = [META, codex_line("user", "a")] if module is codex else [claude("user", "u1", "a")]
    bad: list[Any] = [b"no JSON", b"[1]", b'{"type": "user"', b"\xff\xfe", b"", b"[" * 50_000]
    found = list(module.read(lines(*good, *bad, *good), name="f"))
    assert [one.line - len(good) for one in found if isinstance(one, Unread)] == [1, 2, 3, 4, 6]
    assert all(one.reason and one.file == "f" for one in found if isinstance(one, Unread))
    assert len([one for one in found if isinstance(one, Turn)]) == 2


KEYS = ["type", "message", "payload", "content", "role", "text", "sessionId", "uuid", "attachment"]
KINDS = ["user", "assistant", "attachment", "response_item", "message", "hook_additional_context"]
anything = st.recursive(
    st.none() | st.text() | st.integers() | st.sampled_from(KINDS),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner),
)


@given(st.lists(anything))
def test_whatever_a_line_holds_it_does_not_raise(records: list[Any]) -> None:
    for module in (claude_code, codex):
        list(module.read(lines(*records), name="f"))


def test_the_end_of_a_file_is_read_with_the_numbers_of_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(1, 1001)))
    whole = list(numbered(path))
    assert whole[0] == (1, b"1\n") and whole[-1] == (1000, b"1000\n")
    last = list(numbered(path, last_bytes=100))
    assert last == whole[-len(last) :] and 15 < len(last) < 30
    assert list(numbered(path, last_bytes=10**9)) == whole
