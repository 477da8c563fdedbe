"""Frequent statements use their indexes on large tables, with and without statistics."""

import re
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from dms.db.claims import CLAIM_SWEEP, CLAIM_WORK
from dms.db.dataset_lists import LIST_CLOSED, LIST_NEWEST, SELECT_DATASETS
from dms.db.datasets import SELECT_COMPLETE, SELECT_UIDS_BY_NAME
from dms.db.files import (
    CHECK_NAMES_AND_PLACES,
    INSERT_FILES,
    LIST_FILES,
    SELECT_AT_NUMBER,
    SELECT_FILES_BY_NAME,
)
from dms.db.owners import FOREIGN_FILE, FOREIGN_FOLDER, OWNED
from dms.db.releases import NOTE_READS, RELEASE, SELECT_DONE, TAKE_REMOVALS
from dms.db.replicas import MARK_DELETING, PAGE, SELECT_MISSING
from dms.domain.transitions import REPLICA_MOVES
from dms.usecases.datasets.list_datasets import READABLE
from dms.usecases.removal.sweep_dataset import SWEPT
from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import DatasetState, ReplicaState
from tests.integration.dms.conftest import Dms

CLOSED_DATASETS = """
INSERT INTO datasets (uid, name, type, state, meta, on_demand, request, closed_at, closed_position)
SELECT gen_random_uuid(), 'old' || n, 'input', 'closed', '{}', false, '{}', now(), n
FROM generate_series(1, 20000) AS n
"""
FILES = (
    "INSERT INTO files (id, size, checksum, meta) SELECT n, 1, sha256('x'), '{}' FROM"
    " generate_series(1, 20000) AS n"
)
REPLICAS = (
    "INSERT INTO replicas (file_id, storage_id, path) SELECT n, $1, 'd/' || n FROM"
    " generate_series(1, 20000) AS n"
)
IN_DATASET = (
    "INSERT INTO dataset_files (dataset_uid, name, seq, file_id) SELECT $1, 'f' || n, n, n FROM"
    " generate_series(1, 20000) AS n"
)

UID, STORAGE = uuid4(), uuid4()
MARKABLE = states_before(REPLICA_MOVES, ReplicaState.DELETING)
NAMES = [f"f{number}" for number in range(50)]

STATEMENTS: list[tuple[str, tuple[Any, ...]]] = [
    (LIST_FILES, (UID, 10_000, "", 1_000, False)),
    (LIST_FILES, (UID, 10_000, "", 1_000, True)),
    (SELECT_FILES_BY_NAME, (UID, NAMES)),
    (
        CHECK_NAMES_AND_PLACES,
        (UID, NAMES, [STORAGE] * 50, [f"d/{name}" for name in NAMES]),
    ),
    (SELECT_AT_NUMBER, (UID, list(range(50)))),
    (
        INSERT_FILES,
        (
            UID,
            NAMES,
            *([[1] * 50] * 2),
            [b"x" * 32] * 50,
            [STORAGE] * 50,
            NAMES,
            [{}] * 50,
            [None] * 50,
            "available",
            True,
        ),
    ),
    (NOTE_READS, (UID, list(range(50)), 2, UID)),
    (SELECT_DONE, (UID, list(range(50)))),
    (RELEASE, (UID, list(range(50)))),
    (TAKE_REMOVALS, (1_000, None)),
    (PAGE, (UID, 10_000, "", 1_000)),
    (SELECT_MISSING, (UID, 10_000, "", STORAGE, "o/", 200)),
    (LIST_CLOSED, (19_990, READABLE, "input", None, 1_000, None)),
    (LIST_CLOSED, (0, READABLE, None, datetime(2100, 1, 1, tzinfo=UTC), 1_000, ["a", "b"])),
    (LIST_NEWEST, (0, list(DatasetState), None, None, 50, None, None)),
    (LIST_NEWEST, (0, list(DatasetState), None, None, 50, [UID], ["a", "b"])),
    (OWNED, (UID,)),
    (FOREIGN_FOLDER, (["file:///a", "file:///a/b"], ["a", "b"])),
    (FOREIGN_FILE, ([STORAGE] * 50, NAMES, ["a", "b"])),
    (SELECT_UIDS_BY_NAME, ("week.1.report",)),
    (SELECT_DATASETS, ([uuid4() for _ in range(100)], None)),
    (SELECT_COMPLETE, (100,)),
    (CLAIM_SWEEP, (UID, None, SWEPT)),
    (CLAIM_WORK, (UID, None, DatasetState.DELETING)),
    (
        MARK_DELETING,
        (
            list(range(1, 1000)),
            states_before(REPLICA_MOVES, ReplicaState.DELETING),
            ReplicaState.DELETING,
            UID,
            None,
            "",
        ),
    ),
]


@pytest.fixture
async def large(dms: Dms) -> Dms:
    for sql, *arguments in ((CLOSED_DATASETS,), (FILES,), (REPLICAS, STORAGE), (IN_DATASET, UID)):
        await dms.fetch(sql, *arguments)
    return dms


@pytest.mark.parametrize("analyzed", [False, True])
async def test_no_frequent_statement_scans_a_table_or_sorts_a_data_set(
    large: Dms, analyzed: bool
) -> None:
    if analyzed:
        await large.fetch("ANALYZE")
    for sql, arguments in STATEMENTS:
        plan = "\n".join(
            row["QUERY PLAN"] for row in await large.fetch(f"EXPLAIN {sql}", *arguments)
        )
        assert "Seq Scan" not in plan, f"{sql}\n{plan}"
        assert not re.search(
            r"Sort Key: (dataset_files|d)\.seq.*\n.*(Index )?Scan.* on dataset_files", plan
        ), f"{sql}\n{plan}"
        if sql in {PAGE, LIST_CLOSED, CLAIM_SWEEP}:
            assert "Sort" not in plan, f"{sql}\n{plan}"
