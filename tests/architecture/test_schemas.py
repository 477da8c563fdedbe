"""The database takes the states that the contracts know, no more and no fewer: who adds one to an
enumeration adds a migration, or no database that is there already would take it."""

import re
from enum import StrEnum
from typing import Any

import asyncpg
import pytest

from scripts.docs.services import SERVICES
from sluice.contracts import states
from sluice.contracts.access import Role
from sluice.contracts.audit import AuditKind
from sluice.contracts.limits import LimitPeriod
from sluice.contracts.quotas import HolderKind, Quantity
from sluice.contracts.states import (
    AskItemState,
    AttemptOutcome,
    ChainDatasetStatus,
    ChainState,
    DatasetState,
    DatasetType,
    DeviceState,
    DeviceType,
    ErrorClass,
    JobState,
    PilotState,
    ReplicaState,
    SandboxKind,
    StepState,
    StorageType,
    TaskMode,
    TaskState,
    WatchKind,
    WatchState,
)
from sluice.servicekit.migrate import Migrator
from tests.conftest import DatabaseFactory
from wfms.operator.db.name_owners import NamedKind

#: Service, table, column → what it holds.
COLUMNS: dict[tuple[str, str, str], type[StrEnum]] = {
    ("wfms.operator", "audit", "kind"): AuditKind,
    ("wfms.operator", "name_owners", "kind"): NamedKind,
    ("wfms.intake", "audit", "kind"): AuditKind,
    ("wfms.chains", "audit", "kind"): AuditKind,
    ("wms", "audit", "kind"): AuditKind,
    ("dms", "audit", "kind"): AuditKind,
    ("dms", "storages", "type"): StorageType,
    ("dms", "datasets", "type"): DatasetType,
    ("dms", "datasets", "state"): DatasetState,
    ("dms", "replicas", "state"): ReplicaState,
    ("wms", "tasks", "state"): TaskState,
    ("wms", "tasks", "mode"): TaskMode,
    ("wms", "tasks", "device_type"): DeviceType,
    ("wms", "jobs", "state"): JobState,
    ("wms", "jobs", "error_class"): ErrorClass,
    ("wms", "attempts", "outcome"): AttemptOutcome,
    ("wms", "attempts", "reported"): AttemptOutcome,
    ("wms", "attempts", "error_class"): ErrorClass,
    ("wms", "pilots", "state"): PilotState,
    ("wms", "pilots", "sandbox"): SandboxKind,
    ("wms", "limits", "period"): LimitPeriod,
    ("wfms.chains", "chains", "state"): ChainState,
    ("wfms.chains", "steps", "state"): StepState,
    ("wfms.chains", "datasets", "status"): ChainDatasetStatus,
    **{(service, "quotas", "kind"): HolderKind for service in ("wfms.chains", "wms", "dms")},
    **{(service, "quotas", "quantity"): Quantity for service in ("wfms.chains", "wms", "dms")},
    ("wfms.operator", "people", "role"): Role,
    ("wfms.operator", "person_tokens", "role"): Role,
    ("wfms.operator", "person_sessions", "role"): Role,
    ("wfms.operator", "device_logins", "role"): Role,
    ("wfms.watcher", "watches", "kind"): WatchKind,
    ("wfms.watcher", "watches", "state"): WatchState,
    ("wfms.ask", "audit", "kind"): AuditKind,
    ("wfms.ask", "items", "state"): AskItemState,
    ("wfms.ask", "devices", "standing"): DeviceState,
}
#: Columns that hold some members of an enumeration alone.
PARTS: dict[tuple[str, str, str], set[StrEnum]] = {
    ("wfms.chains", "chains", "ending"): {ChainState.FAILED, ChainState.CANCELED}
}

#: Enumeration → why no column is held to it.
NOT_STORED = {
    states.InputMode: "part of a task's description, which is kept as JSON",
    states.EntryKind: "part of a task's description and of files' origins, which are kept as JSON",
    states.Pick: "part of a task's description, which is kept as JSON",
    states.AttemptPhase: "comes with heartbeats, and is kept nowhere",
    states.ReportAnswer: "an answer, kept nowhere",
    states.ContainerEngine: "a list, of which only its being empty matters to the database",
}

CHECKS = """
SELECT held.conrelid::regclass::text AS table, a.attname AS column,
    pg_get_constraintdef(held.oid) AS rule
FROM pg_constraint AS held
JOIN pg_attribute AS a ON a.attrelid = held.conrelid AND a.attnum = ANY (held.conkey)
WHERE held.contype = 'c'
"""
#: Columns whose names say that they hold a state.
NAMED = """
SELECT table_name AS table, column_name AS column FROM information_schema.columns
WHERE table_schema = 'public' AND data_type = 'text'
    AND column_name IN (
        'state', 'status', 'outcome', 'mode', 'kind', 'type', 'error_class', 'reported')
"""
#: ``CHECK ((state = ANY (ARRAY['open'::text, …])))``
LISTED = re.compile(r"CHECK \(\(\w+ = ANY \(ARRAY\[([^]]*)\]\)\)\)(?: NOT VALID)?")
#: ``CHECK (((state = ANY (ARRAY['finished'::text, …])) = (ended_at IS NOT NULL)))``
ENDED = re.compile(r"CHECK \(\(\((\w+) = ANY \(ARRAY\[([^]]*)\]\)\) = \(ended_at IS NOT NULL\)\)\)")
NAME = re.compile(r"'(\w+)'::text")


def listed(rules: list[str]) -> list[set[str]]:
    """The values that a column may have, by each rule that lists them."""
    return [set(NAME.findall(found[1])) for rule in rules if (found := LISTED.fullmatch(rule))]


Rules = dict[tuple[str, str], list[str]]


async def rules_of(service: str, url: str) -> Rules:
    """(table, column) → the rules that it takes part in, in a new database of the service."""
    await Migrator(url, f"{service}.db.migrations").start()
    connection = await asyncpg.connect(url)
    try:
        found: Rules = {(row["table"], row["column"]): [] for row in await connection.fetch(NAMED)}
        for row in await connection.fetch(CHECKS):
            found.setdefault((row["table"], row["column"]), []).append(row["rule"])
    finally:
        await connection.close()
    return found


@pytest.mark.parametrize("service", SERVICES)
async def test_the_database_takes_every_state_and_no_other(
    service: str, make_database: DatabaseFactory
) -> None:
    rules = await rules_of(service, await make_database())
    values: dict[tuple[str, str, str], set[StrEnum]] = {
        **{place: set(members) for place, members in COLUMNS.items()},
        **PARTS,
    }
    known = {
        (table, column): [{str(member) for member in members}]
        for (owner, table, column), members in values.items()
        if owner == service
    }
    assert {place: names for place in rules if (names := listed(rules[place]))} == known
    unruled = [place for place in rules if not rules[place]]
    assert not unruled, "these columns take any text"


@pytest.mark.parametrize("service", SERVICES)
async def test_what_has_ended_has_its_time(service: str, make_database: DatabaseFactory) -> None:
    """Which states are the last ones stands in rules as well."""
    rules = await rules_of(service, await make_database())
    for (owner, table, column), states_of in COLUMNS.items():
        last = {str(member) for member in states_of if getattr(member, "final", False)}
        if owner == service and last:
            found = [ENDED.fullmatch(rule) for rule in rules[table, column]]
            assert [set(NAME.findall(rule[2])) for rule in found if rule] == [last], (table, column)


def test_every_enumeration_is_stored_or_says_why_not() -> None:
    everything: set[Any] = {
        value
        for value in vars(states).values()
        if isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum
    }
    assert everything <= {*COLUMNS.values(), *NOT_STORED}
