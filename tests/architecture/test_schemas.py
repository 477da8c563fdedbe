"""The database accepts exactly the states that the contracts know.

A new member of an enumeration needs a migration, as existing databases would refuse the member.
"""

import re
from enum import StrEnum
from typing import Any

import asyncpg
import pytest

from sluice.contracts.access.access import Role
from sluice.contracts.access.audit import AuditKind
from sluice.contracts.access.quotas import HolderKind, Quantity
from sluice.contracts.access.services import SERVICES
from sluice.contracts.common import states
from sluice.contracts.common.states import (
    AskItemState,
    AttemptOutcome,
    BrowserState,
    ChainDatasetStatus,
    ChainState,
    DatasetState,
    DatasetType,
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
from sluice.contracts.jobs.limits import LimitPeriod
from sluice.servicekit.migrate import Migrator
from tests.conftest import DatabaseFactory
from wfms.operator.identity.db.name_owners import NamedKind

#: Service, table, column → the enumeration that the column holds.
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
    ("wfms.ask", "browsers", "state"): BrowserState,
}
#: Columns that hold some members of an enumeration only.
PARTS: dict[tuple[str, str, str], set[StrEnum]] = {
    ("wfms.chains", "chains", "ending"): {ChainState.FAILED, ChainState.CANCELED}
}

#: Enumeration → why no column is restricted to it.
NOT_STORED = {
    states.InputMode: "part of a task's description, which is stored as JSON",
    states.EntryKind: "part of a task's description and of origins of files, stored as JSON",
    states.Pick: "part of a task's description, which is stored as JSON",
    states.AttemptPhase: "part of a heartbeat, and not stored",
    states.ReportAnswer: "an answer, and not stored",
    states.ContainerEngine: "a list of which the database only stores whether it is empty",
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
LISTED = re.compile(r"CHECK \(\(\w+ = ANY \(ARRAY\[([^]]*)\]\)\)\)(?: NOT VALID)?")
ENDED = re.compile(r"CHECK \(\(\((\w+) = ANY \(ARRAY\[([^]]*)\]\)\) = \(ended_at IS NOT NULL\)\)\)")
NAME = re.compile(r"'(\w+)'::text")


def list_values(rules: list[str]) -> list[set[str]]:
    """Return the values that a column may have, for each rule that lists them."""
    return [set(NAME.findall(match[1])) for rule in rules if (match := LISTED.fullmatch(rule))]


Rules = dict[tuple[str, str], list[str]]


async def read_rules(service: str, url: str) -> Rules:
    """Return (table, column) → its check constraints, in a new database of the service."""
    await Migrator(url, f"{service}.db.migrations").start()
    connection = await asyncpg.connect(url)
    try:
        rules: Rules = {(row["table"], row["column"]): [] for row in await connection.fetch(NAMED)}
        for row in await connection.fetch(CHECKS):
            rules.setdefault((row["table"], row["column"]), []).append(row["rule"])
    finally:
        await connection.close()
    return rules


@pytest.mark.parametrize("service", SERVICES)
async def test_column_accepts_exactly_the_members_of_its_enumeration(
    service: str, make_database: DatabaseFactory
) -> None:
    rules = await read_rules(service, await make_database())
    values: dict[tuple[str, str, str], set[StrEnum]] = {
        **{place: set(members) for place, members in COLUMNS.items()},
        **PARTS,
    }
    enumerations = {
        (table, column): [{str(member) for member in members}]
        for (owner, table, column), members in values.items()
        if owner == service
    }
    assert {place: names for place in rules if (names := list_values(rules[place]))} == enumerations
    unruled = [place for place in rules if not rules[place]]
    assert not unruled, "these columns have no check constraint"


@pytest.mark.parametrize("service", SERVICES)
async def test_final_states_require_an_end_time(
    service: str, make_database: DatabaseFactory
) -> None:
    """The final states are listed in check constraints, too."""
    rules = await read_rules(service, await make_database())
    for (owner, table, column), states_of in COLUMNS.items():
        last = {str(member) for member in states_of if getattr(member, "final", False)}
        if owner == service and last:
            matches = [ENDED.fullmatch(rule) for rule in rules[table, column]]
            assert [set(NAME.findall(rule[2])) for rule in matches if rule] == [last], (
                table,
                column,
            )


def test_every_enumeration_is_stored_or_exempt() -> None:
    everything: set[Any] = {
        value
        for value in vars(states).values()
        if isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum
    }
    assert everything <= {*COLUMNS.values(), *NOT_STORED}
