"""How questions are read: slips of a key, who "I" is, scripts without spaces, titles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.policy import Principal
from recollect.testing import FakeClock, FakeEmbedder


@pytest.fixture
def memory() -> Iterator[Recollect]:
    with Recollect.open("memory://", clock=FakeClock(), embedder="static") as opened:
        yield opened


def test_a_slip_is_mended_and_the_reasons_say_so(memory: Recollect) -> None:
    memory.remember("Invoices are paid by transfer.", pak_id="invoices")
    memory.remember("Deploys run on Friday.", pak_id="deploys")
    best = memory.recall("who pays innvoices?").results[0]
    assert best.fact.pak_id == "invoices"
    assert "'innvoices' read as 'invoices'" in best.why


def test_a_hidden_word_mends_nothing() -> None:
    with Recollect.open("memory://", clock=FakeClock(), embedder="static") as opened:
        ann, bob = (opened.as_principal(Principal("acme", name)) for name in ("ann", "bob"))
        ann.remember("The quetzalcoatl project is late.")
        bob.remember("The garden project is on time.")
        asked = "quetzlcoatl project"
        assert any("read as" in reason for reason in ann.recall(asked).results[0].why)
        assert not any("read as" in reason for reason in bob.recall(asked).results[0].why)


def test_i_is_the_user_and_you_the_assistant(memory: Recollect) -> None:
    memory.remember("Tea or coffee? I like tea.", thread="t", speaker="assistant", pak_id="theirs")
    memory.remember("Tea or coffee? I like coffee.", thread="t", speaker="user", pak_id="mine")
    first = memory.recall("what do I like, tea or coffee?").results[0]
    assert (first.fact.pak_id, first.signals.speaker) == ("mine", 1.0)
    assert "said by user" in first.why
    assert memory.recall("what do you like, tea or coffee?").results[0].fact.pak_id == "theirs"


def test_without_an_assistant_i_is_nobody(memory: Recollect) -> None:
    memory.remember("I like tea.", thread="t", speaker="user")
    memory.remember("So do I.", thread="t", speaker="Ann")
    assert all(one.signals.speaker is None for one in memory.recall("do I like tea?").results)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("น้ำดื่มสะอาดอยู่ในตู้เย็น", "น้ำดื่มอยู่ที่ไหน"),
        ("ກາເຟຢູ່ໃນຫ້ອງຄົວ", "ກາເຟຢູ່ໃສ"),
        ("កាហ្វេនៅក្នុងផ្ទះបាយ", "កាហ្វេនៅឯណា"),
        ("ကော်ဖီက မီးဖိုချောင်မှာရှိတယ်", "ကော်ဖီဘယ်မှာလဲ"),
        ("東京の会議は金曜日です", "東京の会議はいつ"),
        ("Синие чашки стоят на полке", "где стоит синяя чашка"),
    ],
)
def test_words_are_found_in_scripts_of_all_kinds(memory: Recollect, text: str, query: str) -> None:
    for other in ("ฉันชอบแมว", "猫が好き", "Мы любим кошек", "The cat sleeps."):
        memory.remember(other)
    memory.remember(text, pak_id="wanted")
    best = memory.recall(query).results[0]
    assert best.fact.pak_id == "wanted"
    assert (best.signals.lexical or 0) > 0


def test_two_signs_of_a_name_name_nobody(memory: Recollect) -> None:
    memory.remember("สวัสดี", thread="t", speaker="สมชาย", pak_id="said")
    assert memory.recall("สมชายพูดอะไร").results[0].signals.speaker == 1.0
    assert all(one.signals.speaker is None for one in memory.recall("สมุดสวัสดี").results)


class Reading(FakeEmbedder):
    """An embedder that keeps what it was given to read."""

    def __init__(self) -> None:
        super().__init__(8)
        self.read: list[str] = []

    def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        self.read += texts
        return super().embed_documents(texts)


def test_a_title_is_embedded_with_its_text_unless_it_is_cut_from_it() -> None:
    embedder = Reading()
    with Recollect.open("memory://", clock=FakeClock(), embedder=embedder) as memory:
        memory.remember("Use Celery.", title="Queues")
        memory.remember("Ship on Friday.")
        assert memory.stats()["embeds_titles"] is True
    assert embedder.read == ["Queues\nUse Celery.", "Ship on Friday."]


def test_another_title_is_another_vector(tmp_path: Path) -> None:
    embedder = Reading()
    with Recollect.open(tmp_path / "a.db", clock=FakeClock(), embedder=embedder) as memory:
        memory.remember("Use Celery.", title="Queues", pak_id="p")
        memory.update("p", title="Workers")
    assert embedder.read[-1] == "Workers\nUse Celery."


def test_a_store_of_texts_alone_goes_on_so_until_it_is_embedded_again(tmp_path: Path) -> None:
    path, embedder = tmp_path / "a.db", Reading()
    with Recollect.open(path, clock=FakeClock(), embedder=embedder) as memory:
        memory.remember("Use Celery.", title="Queues")
        with memory._open_store.commit():
            memory._open_store.store.state.set_model(embedder.model_id, embedder.dimension)
    with Recollect.open(path, clock=FakeClock(), embedder=embedder) as memory:
        assert memory.stats()["embeds_titles"] is False
        memory.remember("Ship it.", title="Goal")
        assert embedder.read[-1] == "Ship it."
        assert memory.reembed(embedder) == 2
        assert embedder.read[-2:] == ["Queues\nUse Celery.", "Goal\nShip it."]
        assert (memory.stats()["embeds_titles"], memory.stats()["model_id"]) == (True, "fake")
        memory.remember("Rest.", title="Sunday")
        assert embedder.read[-1] == "Sunday\nRest."
