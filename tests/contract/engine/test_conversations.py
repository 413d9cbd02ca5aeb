"""Conversations: turns with a thread, a speaker and a time, recalled as such."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.model import Principal, RecallResponse
from recollect.testing import FakeClock

MAY, JUNE = "1:56 pm on 8 May, 2023", "10:00 am on 20 June, 2023"
TURNS = (
    ("may", MAY, "Caroline", "Hey Mel! How have you been?"),
    ("may", MAY, "Melanie", "Busy! What did you paint last weekend?"),
    ("may", MAY, "Caroline", "A sunset over the lake, in oils."),
    ("may", MAY, "Melanie", "Lovely. I would hang it in my kitchen."),
    ("june", JUNE, "Melanie", "We went camping in the mountains."),
    ("june", JUNE, "Caroline", "Did you see the meteors?"),
    ("june", JUNE, "Melanie", "Hundreds of them, the kids were speechless."),
    ("june", JUNE, "Caroline", "I stayed at home and read a novel."),
)


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Recollect]:
    with Recollect.open(tmp_path / "chat.db") as memory:
        memory.remember_many(
            {
                "pak_id": f"{thread}-{number}",
                "content": text,
                "thread": thread,
                "speaker": speaker,
                "occurred_at": time,
            }
            for number, (thread, time, speaker, text) in enumerate(TURNS)
        )
        yield memory


def ids(answer: RecallResponse) -> list[str]:
    return [result.fact.pak_id for result in answer.results]


def reasons(answer: RecallResponse, pak_id: str) -> tuple[str, ...]:
    return next(result.why for result in answer.results if result.fact.pak_id == pak_id)


def test_a_reply_is_found_by_the_words_of_the_question_before_it(chat: Recollect) -> None:
    answer = chat.recall("What did Caroline paint?", top_k=3)

    assert ids(answer)[0] == "may-2"
    assert "said by Caroline" in answer.results[0].why
    signals = answer.results[0].signals
    assert signals.nearby is not None
    assert signals.lexical == 0.0 < signals.nearby
    assert signals.speaker == 1.0


def test_a_turn_says_whose_thread_it_is_in(chat: Recollect) -> None:
    answer = chat.recall("Who saw meteors?", top_k=4)

    assert set(ids(answer)[:3]) <= {"june-4", "june-5", "june-6", "june-7"}
    assert "same thread as june-5" in reasons(answer, "june-6")


def test_a_time_in_the_question_raises_what_is_from_then(chat: Recollect) -> None:
    answer = chat.recall("What was Melanie up to in June 2023?", top_k=2)

    assert set(ids(answer)) == {"june-4", "june-6"}
    assert all("June 2023" in result.why for result in answer.results)
    assert "close to" in " ".join(
        why
        for result in chat.recall("in early May or 12 June 2023?", top_k=8).results
        for why in result.why
    )


def test_a_question_of_names_alone_finds_what_they_said(chat: Recollect) -> None:
    answer = chat.recall("Melanie", top_k=4)
    assert {result.fact.speaker for result in answer.results} == {"Melanie"}


def test_a_question_for_a_time_prefers_who_tells_one(chat: Recollect) -> None:
    chat.remember("The show opens on Friday.", pak_id="with")
    chat.remember("The show opens soon enough.", pak_id="without")

    answer = chat.recall("When does the show open?", top_k=2)

    assert ids(answer) == ["with", "without"]
    assert "tells a time" in answer.results[0].why


def test_a_note_about_a_speaker_is_found_by_the_name(chat: Recollect) -> None:
    chat.remember("Caroline is allergic to nuts.", pak_id="note")
    chat.remember("Somebody is allergic to nuts.", pak_id="other")

    assert ids(chat.recall("Is Caroline allergic?", top_k=2)) == ["note", "other"]


def test_dates_are_read_once_and_kept_in_one_spelling(chat: Recollect) -> None:
    first = chat.get("may-0")
    assert first is not None
    assert first.occurred_at == "2023-05-08T13:56:00"


def test_a_time_that_nobody_can_read_is_kept_and_reported(chat: Recollect) -> None:
    done = chat.remember("We met.", pak_id="met", occurred_at="one fine day")
    kept = chat.get("met")

    assert done.unread == ("occurred_at",)
    assert kept is not None
    assert kept.occurred_at == "one fine day"
    assert chat.remember("We parted.", occurred_at="9 May 2023").unread == ()
    assert (
        "(one fine day) We met." in chat.frame("evidence", "when was it that we met", top_k=1).text
    )


def test_parts_of_similarity_are_between_0_and_1(chat: Recollect) -> None:
    answer = chat.recall("When did Melanie go camping in June?", top_k=8)
    for result in answer.results:
        signals = result.signals
        values = (signals.nearby, signals.thread, signals.speaker, signals.date, signals.time_words)
        assert all(value is not None and 0.0 <= value <= 1.0 for value in values)


@pytest.mark.parametrize(
    "query", ["What did Caroline paint?", "When was the oven hot in May?", "Zoe", "pottery class"]
)
def test_a_hidden_turn_is_as_if_it_had_never_been_said(tmp_path: Path, query: str) -> None:
    said = [
        ("Caroline", "What did you do in class?", False),
        ("Zoe", "I painted my oven and went to a pottery class in May.", True),
        ("Melanie", "We burnt the first pots, the oven was too hot.", False),
        ("Zoe", "Who paints pots?", True),
        ("Caroline", "I painted a sunset.", False),
    ]
    answers = []
    for with_hidden in (True, False):
        with Recollect.open(tmp_path / f"{with_hidden}.db", clock=FakeClock()) as memory:
            ann = memory.as_principal(Principal("acme", "ann", teams=("pots",)))
            zoe = memory.as_principal(Principal("acme", "zoe"))
            for number, (speaker, text, hidden) in enumerate(said):
                turn = {"thread": "chat", "speaker": speaker, "occurred_at": MAY}
                if not hidden:
                    ann.remember(text, pak_id=f"p{number}", **turn)  # type: ignore[arg-type]
                elif with_hidden:
                    zoe.remember(text, pak_id=f"p{number}", **turn)  # type: ignore[arg-type]
            answers.append(ann.recall(query, top_k=9).to_dict())
    for answer in answers:
        for result in answer["results"]:
            # The number of a turn is what its writer was told; only the order of turns counts.
            del result["fact"]["position"]
    assert answers[0] == answers[1]
    assert answers[0]["results"]
