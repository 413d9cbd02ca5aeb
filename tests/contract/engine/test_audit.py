"""Whatever looks after a store is noted: who, what and when, and never a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import NotAllowed
from recollect.model import FrameDefinition
from recollect.policy import Principal
from recollect.testing import FakeClock, FakeEmbedder


@pytest.fixture
def store(tmp_path: Path) -> Recollect:
    return Recollect.open(tmp_path / "agent.db", embedder=FakeEmbedder(8), clock=FakeClock())


def test_upkeep_frames_and_transfers_are_noted(store: Recollect) -> None:
    with store as memory:
        memory.remember("a secret plan", pak_id="plan", entity="Ann")
        frame: FrameDefinition = memory.frames.register("mine", extends="task")
        memory.frames.update("mine", token_budget=frame.token_budget + 1)
        memory.frames.delete("mine")
        memory.reindex()
        memory.reembed(FakeEmbedder(8, model_id="other"))
        memory.import_(list(memory.export()))
        memory.ingest([{"content": "gossip"}], source="peer")
        memory.forget(entity="Ann")
        acts = memory.audit()
    assert [act.act for act in reversed(acts)] == [
        "frame.save",
        "frame.save",
        "frame.delete",
        "reindex",
        "reembed",
        "import",
        "ingest",
        "forget",
    ]
    assert {(act.tenant, act.principal) for act in acts} == {("local", "local")}
    noted = " ".join(f"{act.target} {act.detail}" for act in acts)
    assert not {"secret", "gossip", "Ann", "plan"} & set(noted.split())


def test_an_act_that_was_refused_is_not_noted(store: Recollect) -> None:
    with store as memory:
        reader = memory.as_principal(Principal(id="ann", permissions=("read",)))
        for refused in (
            reader.reindex,
            lambda: reader.reembed(FakeEmbedder(8)),
            lambda: reader.frames.register("mine", extends="task"),
            lambda: reader.import_([]),
        ):
            with pytest.raises(NotAllowed):
                refused()
        assert memory.audit() == []
