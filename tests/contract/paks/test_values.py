from __future__ import annotations

from typing import NamedTuple

import pytest

import recollect.paks
from recollect.paks import (
    PakListFilters,
    PakListResult,
    PakRow,
    ReasonCodeEntry,
    RiskFlagEntry,
    UpsertResult,
    migrations,
    schema,
    store,
)

CONTRACT_NAMES = {
    "RecallStore",
    "PakRow",
    "PakListFilters",
    "PakListResult",
    "ReasonCodeEntry",
    "RiskFlagEntry",
    "UpsertResult",
    "RISK_FLAG_SEVERITIES",
    "LIST_LIMIT_DEFAULT",
    "LIST_LIMIT_MAX",
    "SCHEMA_VERSION",
    "default_recall_db_path",
    "open_recall_store",
}

FIELDS = {
    PakRow: (
        "pak_id",
        "pak_type",
        "project",
        "topic",
        "source_type",
        "authority",
        "title",
        "summary",
        "content_hash",
        "created_at",
        "updated_at",
        "superseded_by",
    ),
    PakListFilters: ("project", "pak_type", "limit", "cursor"),
    PakListResult: ("items", "next_cursor", "limit", "truncated"),
    ReasonCodeEntry: ("reason_code", "weight"),
    RiskFlagEntry: ("risk_flag", "severity"),
    UpsertResult: ("pak_id", "inserted", "body_changed"),
}

DEFAULTS = {
    PakRow: {},
    PakListFilters: {"project": None, "pak_type": None, "limit": 100, "cursor": None},
    PakListResult: {},
    ReasonCodeEntry: {"weight": 1.0},
    RiskFlagEntry: {},
    UpsertResult: {},
}


@pytest.mark.parametrize("name", sorted(CONTRACT_NAMES))
def test_every_name_of_the_contract_is_public(name: str) -> None:
    assert name in recollect.paks.__all__
    assert hasattr(recollect.paks, name)


def test_the_constants_have_the_contracts_values() -> None:
    assert recollect.paks.LIST_LIMIT_DEFAULT == 100
    assert recollect.paks.LIST_LIMIT_MAX == 100
    assert recollect.paks.SCHEMA_VERSION == 3
    assert frozenset({"info", "warn", "block"}) == recollect.paks.RISK_FLAG_SEVERITIES


def test_the_schema_module_holds_its_names() -> None:
    assert schema.SCHEMA_VERSION == 3
    assert all(isinstance(statement, str) for statement in schema.ALL_DDL_V1)
    assert {
        "schema_version",
        "paks",
        "paks_fts",
        "pak_anchors",
        "pak_relations",
    } == schema.EXPECTED_TABLES_V1
    assert {
        "idx_paks_project",
        "idx_paks_topic",
        "idx_paks_pak_type",
        "idx_paks_updated",
        "idx_paks_content_hash",
        "idx_pak_anchors_source",
        "idx_relations_related",
    } == schema.EXPECTED_INDEXES_V1


def test_the_migrations_module_holds_its_names() -> None:
    assert migrations.Migration._fields == ("version", "name", "statements")
    assert all(isinstance(step, migrations.Migration) for step in migrations.MIGRATIONS)
    assert callable(migrations.apply_migrations)
    assert callable(migrations.current_version)


def test_the_store_module_holds_the_class_and_its_result() -> None:
    assert store.RecallStore is recollect.paks.RecallStore
    assert store.UpsertResult is recollect.paks.UpsertResult


@pytest.mark.parametrize("kind", FIELDS)
def test_a_value_has_its_fields_in_order(kind: type[NamedTuple]) -> None:
    assert kind._fields == FIELDS[kind]
    assert kind._field_defaults == DEFAULTS[kind]


@pytest.mark.parametrize("kind", FIELDS)
def test_a_value_made_by_position_equals_one_made_by_keyword(kind: type[NamedTuple]) -> None:
    values = [f"value {at}" for at in range(len(kind._fields))]

    by_position = kind(*values)  # type: ignore[arg-type]

    assert by_position == kind(**dict(zip(kind._fields, values, strict=True)))  # type: ignore[call-overload]
    assert by_position == tuple(values)
    assert by_position != by_position._replace(**{kind._fields[0]: "another"})


def test_entries_of_codes_and_flags_sort_structurally() -> None:
    assert sorted([ReasonCodeEntry("b", 0.1), ReasonCodeEntry("a", 0.9)]) == [
        ReasonCodeEntry("a", 0.9),
        ReasonCodeEntry("b", 0.1),
    ]
    assert RiskFlagEntry("a", "warn") < RiskFlagEntry("b", "info")


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        ReasonCodeEntry("current_task").weight = 0.5  # type: ignore[misc]
