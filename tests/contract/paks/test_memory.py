"""What is particular about a catalogue in memory; all else it shares with `RecallStore`."""

from __future__ import annotations

import pytest
from tests.contract.paks.samples import LATER, NOON, pak

from recollect.errors import StoreClosed, UnknownPak
from recollect.model.pak import PakRow
from recollect.paks import PakAnchorEntry, PakRelationEntry, ReasonCodeEntry, RiskFlagEntry
from recollect.stores.memory.catalogue import MemoryCatalogue
from recollect.stores.memory.undo import UndoLog


@pytest.fixture
def catalogue() -> MemoryCatalogue:
    return MemoryCatalogue()


def test_there_is_no_connection_and_the_hint_says_what_to_do(catalogue: MemoryCatalogue) -> None:
    with pytest.raises(OSError, match="no SQLite connection") as caught:
        _ = catalogue.conn
    assert "open a file" in str(caught.value)


def test_a_closed_catalogue_refuses(catalogue: MemoryCatalogue) -> None:
    catalogue.upsert_pak(**pak("p1"))
    catalogue.close()
    catalogue.close()
    with pytest.raises(StoreClosed):
        catalogue.get_pak("p1")
    with pytest.raises(StoreClosed):
        catalogue.upsert_pak(**pak("p2"))


def state(catalogue: MemoryCatalogue) -> object:
    """Return all that a catalogue says, by every one of its calls that reads."""
    return [
        (
            row,
            catalogue.get_pak_reason_codes(row.pak_id),
            catalogue.get_pak_risk_flags(row.pak_id),
            catalogue.get_pak_anchors(row.pak_id),
            catalogue.get_pak_relations(row.pak_id),
            catalogue.search(row.title),
        )
        for row in catalogue.iter_paks()
    ]


def test_a_transaction_that_fails_takes_everything_back(catalogue: MemoryCatalogue) -> None:
    catalogue.upsert_pak(**pak("p1", title="red kiln"), now=NOON)
    catalogue.upsert_pak(**pak("p2", superseded_by="p1"), now=NOON)
    catalogue.set_pak_reason_codes("p1", [ReasonCodeEntry("mandatory")])
    catalogue.set_pak_relations("p2", [PakRelationEntry("p1", "follows")])
    before = state(catalogue)

    with pytest.raises(UnknownPak), catalogue.transaction():
        catalogue.upsert_pak(**pak("p1", title="blue kiln"), now=LATER)
        catalogue.upsert_pak(**pak("p3"), now=LATER)
        catalogue.set_pak_risk_flags("p1", [RiskFlagEntry("governance_applies", "warn")])
        catalogue.set_pak_anchors("p3", [PakAnchorEntry("a", "b", "file")])
        catalogue.delete_pak("p1")
        catalogue.set_pak_reason_codes("nowhere", [ReasonCodeEntry("mandatory")])

    assert state(catalogue) == before
    assert catalogue.find_paks_by_source("b") == []


def test_a_watcher_hears_of_every_row_and_can_be_taken_back_with_it() -> None:
    undo, heard = UndoLog(), []

    def watch(pak_id: str, row: PakRow | None) -> None:
        heard.append((pak_id, row is not None))
        undo.note(heard.pop)

    catalogue = MemoryCatalogue(undo=undo, watcher=watch)
    catalogue.upsert_pak(**pak("p1"))
    catalogue.upsert_pak(**pak("p2", superseded_by="p1"))
    catalogue.delete_pak("p1")
    expected = [("p1", True), ("p2", True), ("p2", True), ("p1", False)]
    assert heard == expected

    with pytest.raises(UnknownPak):
        catalogue.upsert_paks([pak("p3"), pak("p4", superseded_by="nowhere")])
    assert heard == expected
