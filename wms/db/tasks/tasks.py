"""Statements on tasks.

The lock rule: **every state change of a job is made under the lock of its task's row; several tasks
are locked in order of uid; no transaction waits for a job's row without that lock; pilots' rows
come last.** So there are no deadlocks, and the counters always equal the jobs' states. Locks are NO
KEY UPDATE, which does not block the foreign key of new jobs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson

from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import JobState, TaskState
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.tasks import Task
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.limits.storage_waits import CLOSED_FOR_SPACE, WAITS_FOR_SPACE
from wms.db.tasks.steps import PRIORITY, TASKS_WITH_PRIORITY
from wms.domain.scheduling.matching import Demand
from wms.domain.task_completion import JobCounts, TaskEnding
from wms.domain.transitions import TASK_MOVES

_INSERT_TASK = """
-- A known task stays unchanged.
INSERT INTO tasks (uid, chain_uid, step, template, spec, mode, device_type, cores, ram, disk,
    base_rank, rank, needs_container, taken_over, needs, owner, owner_group)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16)
ON CONFLICT (uid) DO NOTHING RETURNING uid
"""

_SELECT_SPECS = "SELECT spec FROM tasks WHERE uid = ANY($1::uuid[])"

_SELECT_SHARED_INPUTS = """
-- JSON text, which goes to pilots unchanged.
SELECT uid, shared_inputs::text AS shared FROM tasks
WHERE uid = ANY($1::uuid[]) AND shared_inputs IS NOT NULL
"""

#: SQL: the demand of task ``t``.
DEMAND = f"""t.uid, t.template, t.step, t.owner_group, t.rank + {PRIORITY} AS rank,
    {PRIORITY}::float AS priority, t.created_at,
    coalesce(t.turn_at, t.created_at) AS turn_at, t.ready,
    t.needs::text AS needs,
    extract(epoch FROM now() - coalesce(t.served_at, t.created_at))::float AS waited,
    CASE WHEN t.reserved_until > now() THEN t.reserved_by END AS reserved_by,
    {WAITS_FOR_SPACE} AS is_trial"""

#: SQL: whether task ``t`` may get pilots. It reads only live tasks and no jobs. A negative priority
#: disables a step. A task whose storage is full gets none.
IN_DEMAND = f"""t.state IN ('{{task.SPLITTING}}', '{{task.ACTIVE}}') AND t.ready > 0
    AND {PRIORITY} >= 0 AND NOT {CLOSED_FOR_SPACE}"""

_SELECT_DEMANDS = statement(f"SELECT {DEMAND} FROM {TASKS_WITH_PRIORITY} WHERE {IN_DEMAND}")

_LOCKED_COLUMNS = """
uid, chain_uid, state, ready, leased, running, finished, failed, canceled, quarantined, asked,
errors, registered, split_last_seq, root_seq
"""

#: SQL: how many tasks read each input of task ``uid``.
_DOWNSTREAM_COUNTS = (
    "(SELECT c.counts FROM downstream_counts AS c WHERE c.task_uid = uid) AS downstream_counts"
)

_LOCK_TASKS = f"""
-- In order of uid: see the lock rule.
SELECT {_LOCKED_COLUMNS} FROM tasks WHERE uid = ANY($1::uuid[]) ORDER BY uid FOR NO KEY UPDATE
"""

_LOCK_TASKS_OF_JOBS = f"""
SELECT {_LOCKED_COLUMNS} FROM tasks
WHERE uid = ANY(ARRAY(SELECT DISTINCT task_uid FROM jobs WHERE id = ANY($1::bigint[])))
ORDER BY uid FOR NO KEY UPDATE
"""

_LOCK_TASKS_AND_DOWNSTREAM = f"""
-- The same, with downstream tasks that take their files one by one.
WITH own AS MATERIALIZED (SELECT DISTINCT task_uid FROM jobs WHERE id = ANY($1::bigint[]))
SELECT {_LOCKED_COLUMNS}, {_DOWNSTREAM_COUNTS}, downstream_tasks, f.upstream_uid,
    f.dataset_uid, uid IN (SELECT task_uid FROM own) AS own
FROM tasks LEFT JOIN flows AS f ON f.downstream_uid = uid
WHERE uid = ANY(ARRAY(
    SELECT task_uid FROM own
    UNION ALL SELECT r.downstream_uid FROM own JOIN flows AS r ON r.upstream_uid = own.task_uid))
ORDER BY uid FOR NO KEY UPDATE OF tasks
"""

_SET_ENDED = statement("""
-- Cancel all open jobs in the counters together with the final state.
UPDATE tasks SET
    state = $2, reason = $3, ended_at = now(),
    canceled = canceled + ready + leased + running + quarantined + asked, killed = leased + running,
    ready = 0, leased = 0, running = 0, quarantined = 0, asked = 0, split_token = NULL,
    split_until = NULL
WHERE uid = $1 AND state = ANY($4)
RETURNING registered
""")


@dataclass(frozen=True, slots=True)
class UpstreamRead:
    """Files of an upstream task that another task streams.

    Attributes:
        upstream: The upstream task.
        dataset: The data set to which it writes the files.
    """

    upstream: UUID
    dataset: UUID


@dataclass(frozen=True, slots=True)
class LockedTask:
    """A task whose row this transaction has locked."""

    uid: UUID
    chain_uid: UUID
    state: TaskState
    counts: JobCounts
    errors: dict[str, int]
    registered: dict[str, int]
    #: The only job of its tree level, if all jobs of that level are made.
    only_seq: int | None = None
    #: The data set that it streams, if the query asked for it.
    reading: UpstreamRead | None = None
    #: If the query asked for it: number of tasks that read its inputs, by data set
    #: (``DownstreamCounts``).
    downstream_counts: Mapping[str, int] = field(default_factory=dict)

    def count_registered(self, dataset: UUID) -> int:
        """Return the number of files registered for the data set so far."""
        return self.registered.get(str(dataset), 0)


#: SQL on a row of ``tasks``: whether people do its jobs. It decides the first state of its jobs.
IS_HUMAN_TASK = "coalesce(needs ? 'ask', false)"


class DownstreamTaskAppeared(Exception):
    """A downstream task appeared while the locks were waited for; lock the tasks again."""


def _build_locked_task(row: Any) -> LockedTask:
    is_single = row["state"] == TaskState.ACTIVE and row["split_last_seq"] == 0
    counts = JobCounts(**{state.value: row[state.value] for state in JobState})
    return LockedTask(
        uid=row["uid"],
        chain_uid=row["chain_uid"],
        state=TaskState(row["state"]),
        counts=counts,
        errors=row["errors"],
        registered=row["registered"],
        only_seq=0 if is_single else row["root_seq"],
        reading=None
        if row.get("upstream_uid") is None
        else UpstreamRead(row["upstream_uid"], row["dataset_uid"]),
        downstream_counts=row.get("downstream_counts") or {},
    )


async def insert_task(connection: Connection, task: Task) -> bool:
    """Store the task; return False if it was stored before."""
    needs = task.needs
    inserted = await connection.fetchval(
        _INSERT_TASK,
        task.uid,
        task.chain_uid,
        task.step,
        task.template,
        task.model_dump(
            mode="json", exclude_defaults=True, exclude={"taken_over", "owner", "group"}
        ),
        task.mode,
        needs.device_type,
        needs.resources.cores,
        needs.resources.counted_ram,
        needs.resources.disk,
        task.rank,
        needs.needs_engine,
        None if task.taken_over is None else task.taken_over.model_dump(mode="json"),
        needs.model_dump(mode="json", exclude_defaults=True),
        task.owner,
        task.group,
    )
    return inserted is not None


async def list_stored_tasks(connection: Connection, uids: Sequence[UUID]) -> list[Task]:
    """Return those of ``uids`` that exist, as they were sent."""
    rows = await connection.fetch(_SELECT_SPECS, uids)
    return [Task.model_validate(row["spec"]) for row in rows]


async def list_demands(connection: Connection) -> list[Demand]:
    """Return the demands of tasks that have ready jobs and may get pilots."""
    return [build_demand(row) for row in await connection.fetch(_SELECT_DEMANDS)]


@lru_cache(maxsize=4096)
def _parse_needs(text: str) -> Needs:
    """Return the needs in JSON that may contain more; tasks of the same step share them."""
    needs_json = orjson.loads(text)
    return Needs.model_validate(
        {name: needs_json[name] for name in Needs.model_fields if name in needs_json}
    )


def build_demand(row: Any) -> Demand:
    """Return the demand of a row."""
    return Demand(
        uid=row["uid"],
        rank=row["rank"],
        created_at=row["created_at"],
        turn_at=row["turn_at"],
        ready=row["ready"],
        needs=_parse_needs(row["needs"]),
        waited=row["waited"],
        reserved_pilot=row["reserved_by"],
        template=row["template"],
        step=row["step"],
        group=row["owner_group"],
        priority=row["priority"],
        is_trial=row["is_trial"],
    )


async def list_shared_inputs_json(connection: Connection, uids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the shared inputs of tasks as JSON; tasks without any are left out."""
    if not uids:
        return {}
    rows = await connection.fetch(_SELECT_SHARED_INPUTS, uids)
    return {row["uid"]: row["shared"] for row in rows}


async def lock_tasks(connection: Connection, uids: Iterable[UUID]) -> dict[UUID, LockedTask]:
    """Lock those of ``uids`` that exist until the transaction ends."""
    return {
        row["uid"]: _build_locked_task(row)
        for row in await connection.fetch(_LOCK_TASKS, list(uids))
    }


async def lock_tasks_of_jobs(connection: Connection, jobs: Sequence[int]) -> dict[UUID, LockedTask]:
    """Lock the tasks of these jobs until the transaction ends."""
    return {
        row["uid"]: _build_locked_task(row)
        for row in await connection.fetch(_LOCK_TASKS_OF_JOBS, jobs)
    }


async def lock_tasks_and_downstream(
    connection: Connection, jobs: Sequence[int]
) -> dict[UUID, LockedTask]:
    """Lock the tasks of these jobs, and the downstream tasks that stream their files.

    Raises:
        DownstreamTaskAppeared: A downstream task appeared meanwhile.
    """
    rows = await connection.fetch(_LOCK_TASKS_AND_DOWNSTREAM, jobs)
    locked = {row["uid"]: _build_locked_task(row) for row in rows}
    flow_counts = Counter(row["upstream_uid"] for row in rows)
    # Flows of ended tasks are deleted in the end, and an ended task writes no more files.
    if any(
        row["own"]
        and not locked[row["uid"]].state.final
        and flow_counts[row["uid"]] < row["downstream_tasks"]
        for row in rows
    ):
        raise DownstreamTaskAppeared
    return locked


async def set_ended(connection: Connection, uid: UUID, ending: TaskEnding) -> dict[str, int] | None:
    """End the task and cancel its open jobs.

    Returns:
        The number of its registered files by data set; None if it had ended before.
    """
    registered: dict[str, int] | None = await connection.fetchval(
        _SET_ENDED, uid, ending.state, ending.reason, states_before(TASK_MOVES, ending.state)
    )
    return registered
