"""LoCoMo's files: what becomes of turns, times, captions and evidence, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import InvalidInput
from recollect.evaluation import load_locomo


def conversation(**changes: Any) -> dict[str, Any]:
    """A conversation of two sessions and three turns."""
    return {
        "speaker_a": "Ann",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kiln."},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "Show me!", "blip_caption": "a red kiln"},
        ],
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "It broke."}],
        "session_1_summary": "not a session",
        "qa": [{"question": "What did Ann buy?", "evidence": ["D1:1"], "category": 4}],
        **changes,
    }


def asked(*evidence: str, category: int = 4) -> dict[str, Any]:
    return {"question": "What?", "evidence": list(evidence), "category": category}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "talk"


def written(folder: Path, held: Any, name: str = "7.json") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(held))
    return folder


def test_a_turn_is_a_memory_with_its_session_speaker_time_and_caption(folder: Path) -> None:
    task = load_locomo(written(folder, conversation()))
    assert task.name == "talk"
    (collection,) = task.collections
    assert collection.name == "7"
    assert [item.arguments["pak_id"] for item in collection.items] == ["D1:1", "D1:2", "D2:1"]
    assert collection.items[1].arguments == {
        "pak_id": "D1:2",
        "content": "Show me! a red kiln",
        "thread": "session_1",
        "speaker": "Bob",
        "occurred_at": "1:56 pm on 8 May, 2023",
    }
    assert collection.items[2].arguments["occurred_at"] == "12:09 am on 13 September, 2023"
    assert collection.items[2].source == f"{folder / '7.json'}, session_2[0]"


def test_sessions_come_in_the_order_of_their_numbers(folder: Path) -> None:
    turn = {"speaker": "Ann", "text": "Hello."}
    sessions = {f"session_{n}": [{**turn, "dia_id": f"D{n}:1"}] for n in (10, 2)}
    (collection,) = load_locomo(written(folder, conversation(**sessions))).collections
    assert [item.arguments["pak_id"] for item in collection.items][-2:] == ["D2:1", "D10:1"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["D1:1"], {"D1:1"}),
        (["D1:2; D2:1"], {"D1:2", "D2:1"}),
        (["D2:01"], {"D2:1"}),
        (["D:2:1"], {"D2:1"}),
        (["D1:1 D1:1", "D1:1"], {"D1:1"}),
        (["D", "D1:2", "D9:9"], {"D1:2"}),
    ],
)
def test_evidence_is_normalised(folder: Path, given: list[str], found: set[str]) -> None:
    task = load_locomo(written(folder, conversation(qa=[asked(*given)])))
    assert set(task.collections[0].questions[0].gold) == found


def test_what_takes_no_part_is_counted(folder: Path) -> None:
    questions = [asked("D1:1", category=5), asked(), asked("D9:9", "D"), asked("D1:1", "D9:9")]
    task = load_locomo(written(folder, conversation(qa=questions)))
    (question,) = task.collections[0].questions
    assert (question.question_id, question.category) == ("7/3", "4 single-hop")
    assert task.skipped == {
        "questions of category 5": 1,
        "questions without valid evidence": 2,
        "evidence ids that name no turn": 3,
    }


def test_the_published_file_of_all_conversations_is_read_too(tmp_path: Path) -> None:
    held = conversation()
    questions = held.pop("qa")
    path = tmp_path / "locomo10.json"
    path.write_text(
        json.dumps([{"sample_id": "conv-7", "conversation": held, "qa": questions}] * 1)
    )
    (collection,) = load_locomo(path).collections
    assert (collection.name, len(collection.items)) == ("conv-7", 3)
    assert collection.items[0].source == f"{path}, [0], session_1[0]"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"session_1": [{"speaker": "A", "dia_id": "D1:1"}]}, "session_1[0]: field 'text' is m"),
        ({"session_1": [{"dia_id": "D1:1", "text": "x"}]}, "session_1[0]: field 'speaker' is m"),
        (
            {"session_1": [{"speaker": "A", "dia_id": "one", "text": "x"}]},
            "session_1[0]: field 'dia_id' is 'one'",
        ),
        ({"session_1": ["hello"]}, 'session_1[0]: "hello" is no object'),
        ({"session_1": "hello"}, "field 'session_1' must be a list, not \"hello\""),
        ({"qa": None}, "field 'qa' is missing"),
        ({"qa": [{"question": "x", "category": 1}]}, "qa[0]: field 'evidence' is missing"),
        ({"qa": [{"evidence": ["D1:1"], "category": 1}]}, "qa[0]: field 'question' is missing"),
        ({"qa": [asked("D1:1") | {"evidence": [3]}]}, "qa[0]: field 'evidence' must be a list of"),
    ],
)
def test_a_mistake_is_named_by_file_place_and_field(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        load_locomo(written(folder, conversation(**changes)))
    assert message in error.value.message
    assert str(folder / "7.json") in error.value.message
    assert error.value.hint


def test_a_folder_that_is_missing_empty_or_broken_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no folder"):
        load_locomo(tmp_path / "nowhere")
    folder.mkdir()
    with pytest.raises(InvalidInput, match=r"There is no \.json file"):
        load_locomo(folder)
    (folder / "1.json").write_text('{\n  "qa": [,]}')
    with pytest.raises(InvalidInput, match=r"1\.json, line 2, column 10: no JSON"):
        load_locomo(folder)
    (folder / "1.json").write_text("{}")
    with pytest.raises(InvalidInput, match="'session_1' is missing"):
        load_locomo(folder)
