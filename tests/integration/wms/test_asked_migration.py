"""A migration adds human tasks to a database that the previous release still uses."""

from importlib import resources
from uuid import uuid4

import asyncpg
import pytest

from sluice.contracts.common.states import JobState, TaskState
from sluice.servicekit.migrate import Migrator

FORMER = "-- Running upgrade wms0038 -> wms0039"
TASK = """
INSERT INTO tasks (uid, chain_uid, step, template, spec, state, mode, device_type, cores, ram, disk,
    base_rank, rank, total, ready)
VALUES ($1, $1, 's', 't', '{}', 'active', 'map', 'cpu', 1, 0, 1024, 1, 1, 2, 2)
"""
JOBS = "INSERT INTO jobs (task_uid, seq, inputs) SELECT $1, n, '[]' FROM generate_series(0, 1) AS n"
#: The statement by which the previous release ends a task.
END = """
UPDATE tasks SET
    state = $2, ended_at = now(), canceled = canceled + ready + leased + running, ready = 0,
    leased = 0, running = 0
WHERE uid = $1
"""
RULES = """
SELECT count(*) FROM pg_constraint WHERE convalidated
    AND conname IN ('tasks_counts_add_up', 'tasks_final_is_settled', 'jobs_state_check')
"""


async def test_migration_keeps_tasks_and_jobs_and_the_previous_release_ends_tasks(
    database_url: str,
) -> None:
    schema, found, _ = (resources.files("wms.db") / "schema.sql").read_text().partition(FORMER)
    assert found
    plain, asked = uuid4(), uuid4()
    connection = await asyncpg.connect(database_url)
    try:
        async with connection.transaction():
            await connection.execute(schema)
        for uid in (plain, asked):
            await connection.execute(TASK, uid)
            await connection.execute(JOBS, uid)
        await Migrator(database_url, "wms.db.migrations").start()
        counts = await connection.fetch("SELECT total, ready, asked FROM tasks")
        assert [tuple(row) for row in counts] == [(2, 2, 0)] * 2
        assert await connection.fetchval(RULES) == 3
        await connection.execute(END, plain, TaskState.CANCELED)
        await connection.execute(
            "UPDATE jobs SET state = $2 WHERE task_uid = $1", asked, JobState.ASKED
        )
        await connection.execute("UPDATE tasks SET ready = 0, asked = 2 WHERE uid = $1", asked)
        with pytest.raises(asyncpg.CheckViolationError, match="tasks_final_is_settled"):
            await connection.execute(END, asked, TaskState.CANCELED)
    finally:
        await connection.close()
