"""Statements on tasks that stream the files of an upstream task and put them into groups.

An entry is kept until all entries before it exist or are known to be missing. The caller must hold
the lock of the downstream task.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sluice.contracts.jobs.job_inputs import InputFile
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.dataflow.dataflow_links import add_jobs
from wms.db.jobs.splitting import SplitClaim, dump_files
from wms.domain.splitting.dataflow_rules import GroupedJobs
from wms.domain.splitting.grouping import JobDraft

_SELECT_GROUPING = "SELECT entries, taken_seq, made, below FROM flows WHERE downstream_uid = $1"

_SET_BELOW = "UPDATE flows SET below = $2 WHERE downstream_uid = $1"

_FORGET_BELOW = "UPDATE flows SET below = 0 WHERE downstream_uid = ANY($1::uuid[]) AND below > 0"

_KEEP_ENTRIES = """
-- Store entries that the task has not got yet.
WITH kept AS (
    INSERT INTO flow_entries (downstream_uid, seq, size, inputs)
    SELECT $1, n.* FROM jsonb_to_recordset($2) AS n(seq bigint, size bigint, inputs jsonb)
    WHERE n.seq > (SELECT taken_seq FROM flows WHERE downstream_uid = $1)
    ON CONFLICT DO NOTHING RETURNING seq
)
UPDATE flows SET entries = entries + (SELECT count(*) FROM kept) WHERE downstream_uid = $1
"""

SELECT_COMPLETE_BELOW = statement("""
-- Entries of task $1 with lower numbers are complete: their jobs have all been created and have
-- ended. If the task takes files one by one itself, this includes the jobs of its upstream tasks.
-- $2 is a number up to which nothing will come. The query excludes states, because indexes on
-- states do not keep the order.
WITH RECURSIVE line AS (
    SELECT $1::uuid AS uid
    UNION ALL
    SELECT f.upstream_uid FROM line JOIN flows AS f ON f.downstream_uid = line.uid AND NOT f.gathers
)
SELECT min(CASE WHEN t.state = '{task.FINISHED}' THEN 9223372036854775807 ELSE least(
    (SELECT j.seq FROM jobs AS j
        WHERE j.task_uid = t.uid AND j.seq > $2
            AND j.state NOT IN ('{job.FINISHED}', '{job.FAILED}', '{job.CANCELED}')
        ORDER BY j.seq LIMIT 1),
    CASE
        WHEN t.state = '{task.ACTIVE}' THEN 9223372036854775807
        WHEN t.state <> '{task.SPLITTING}' THEN 0
        WHEN f.downstream_uid IS NULL OR f.gathers THEN t.split_last_seq + 1
        WHEN f.due THEN 0
        ELSE 9223372036854775807
    END) END)
FROM line JOIN tasks AS t USING (uid) LEFT JOIN flows AS f ON f.downstream_uid = t.uid
""")

_MEASURE_ENTRIES = """
SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes FROM flow_entries
WHERE downstream_uid = $1 AND seq < $2
"""

_SELECT_ENTRIES = """
SELECT seq, inputs FROM flow_entries WHERE downstream_uid = $1 AND seq < $2 ORDER BY seq LIMIT $3
"""

_TAKE_ENTRIES = """
-- $2 jobs were created from entries up to $3.
WITH taken AS (
    DELETE FROM flow_entries WHERE downstream_uid = $1 AND seq <= $3
)
UPDATE flows SET taken_seq = greatest(taken_seq, $3), made = made + $2 WHERE downstream_uid = $1
"""

_LOCK_GROUPING = statement("""
-- Either all entries that will come are in jobs ($4), or the holder of the claim continues creating
-- jobs.
UPDATE tasks SET
    state = CASE WHEN $4 THEN '{task.ACTIVE}' ELSE state END,
    split_token = CASE WHEN $4 THEN NULL ELSE split_token END,
    split_until = CASE WHEN $4 THEN NULL ELSE now() + $3 END
WHERE uid = $1 AND split_token = $2 AND state = '{task.SPLITTING}'
RETURNING uid
""")

_SET_DUE = "UPDATE flows SET due = true WHERE downstream_uid = $1 AND NOT due"

_SET_DUE_BEHIND = """
-- Mark downstream tasks that gather the output of these tasks, directly or through tasks that take
-- files one by one. A task that is being processed now may miss the mark. The next file marks it
-- again.
WITH RECURSIVE line AS (
    SELECT unnest($1::uuid[]) AS uid, false AS gathers
    UNION ALL
    SELECT f.downstream_uid, f.gathers FROM line JOIN flows AS f ON f.upstream_uid = line.uid
    WHERE NOT line.gathers
), due AS (
    UPDATE flows SET due = true
    WHERE downstream_uid IN (SELECT uid FROM line WHERE gathers) AND NOT due
    RETURNING downstream_uid
)
SELECT count(*) FROM due
"""

_SELECT_DOWNSTREAM = """
-- The highest number in a job of any downstream task that gathers the output of task $1, directly
-- or through tasks that take files one by one, and the list of these tasks.
WITH RECURSIVE line AS (
    SELECT $1::uuid AS uid, false AS gathers, -1::bigint AS taken_seq
    UNION ALL
    SELECT f.downstream_uid, f.gathers, f.taken_seq
    FROM line JOIN flows AS f ON f.upstream_uid = line.uid
        JOIN tasks AS r ON r.uid = f.downstream_uid
    WHERE NOT line.gathers AND r.ended_at IS NULL
)
SELECT array_agg(uid) AS tasks, max(taken_seq) AS taken FROM line
"""


@dataclass(frozen=True, slots=True)
class GroupingState:
    """State of the grouping of a downstream task.

    Attributes:
        entries: Number of entries so far.
        taken_seq: Number of the last entry that is in a job; -1 if none is.
        made: Number of jobs so far.
        below: The last result of ``find_complete_below``, where the next search starts.
    """

    entries: int
    taken_seq: int
    made: int
    below: int


@dataclass(frozen=True, slots=True)
class Downstream:
    """A task and its downstream tasks at any distance.

    Attributes:
        tasks: The task itself and its downstream tasks.
        last_grouped: The highest number of the task's jobs that is in a group; -1 if none is.
    """

    tasks: list[UUID]
    last_grouped: int


async def get_grouping_state(connection: Connection, downstream: UUID) -> GroupingState | None:
    """Return the state of the grouping, or None if the task streams no files."""
    row = await connection.fetchrow(_SELECT_GROUPING, downstream)
    return None if row is None else GroupingState(**row)


async def keep_entries(
    connection: Connection, downstream: UUID, entries: Sequence[JobDraft]
) -> None:
    """Store those of the entries that are neither stored nor in a job."""
    rows = [
        {
            "seq": entry.seq,
            "size": sum(file.size for file in entry.files),
            "inputs": dump_files(entry.inputs),
        }
        for entry in entries
    ]
    await connection.execute(_KEEP_ENTRIES, downstream, rows)


async def find_complete_below(
    connection: Connection, upstream: UUID, *, downstream: UUID, state: GroupingState
) -> int:
    """Return the number below which the upstream task writes nothing more.

    The search starts at the last result, so each job is read about once, however large the groups
    are.
    """
    after = max(state.taken_seq, state.below - 1)
    below: int = await connection.fetchval(SELECT_COMPLETE_BELOW, upstream, after)
    if below > state.below:
        await connection.execute(_SET_BELOW, downstream, below)
    return below


async def forget_below(connection: Connection, downstream: Sequence[UUID]) -> None:
    """Reset the results of ``find_complete_below``, because jobs that had ended are retried."""
    await connection.execute(_FORGET_BELOW, downstream)


async def measure_entries(
    connection: Connection, downstream: UUID, *, below: int
) -> tuple[int, int]:
    """Return the number and the bytes of the entries below a number that are in no job."""
    [row] = await connection.fetch(_MEASURE_ENTRIES, downstream, below)
    return int(row["files"]), int(row["bytes"])


async def list_entries(
    connection: Connection, downstream: UUID, *, below: int, limit: int
) -> list[JobDraft]:
    """Return the first entries below a number that are in no job, in order."""
    rows = await connection.fetch(_SELECT_ENTRIES, downstream, below, limit)
    return [
        JobDraft(row["seq"], [InputFile.model_construct(**file) for file in row["inputs"]])
        for row in rows
    ]


async def add_grouped_jobs(
    connection: Connection, downstream: UUID, jobs: GroupedJobs, *, taken_seq: int
) -> None:
    """Add jobs of groups and delete their entries.

    ``taken_seq`` is the last entry in a job so far. It stays if the new jobs contain no entry.
    """
    await add_jobs(connection, downstream, jobs.drafts, last_complete_seq=jobs.drafts[-1].last_seq)
    last_entry = taken_seq if jobs.last_entry is None else jobs.last_entry
    await connection.execute(_TAKE_ENTRIES, downstream, len(jobs.drafts), last_entry)


async def lock_grouping(
    connection: Connection, claim: SplitClaim, *, last: bool, claim_duration: timedelta
) -> bool:
    """Renew the claim, or activate the task if these are its ``last`` jobs.

    Returns:
        False if the claim has expired or the task has ended.
    """
    locked_uid = await connection.fetchval(
        _LOCK_GROUPING, claim.uid, claim.token, claim_duration, last
    )
    return locked_uid is not None


async def set_due(connection: Connection, downstream: UUID) -> None:
    """Mark the task as due, so that jobs are made of its entries."""
    await connection.execute(_SET_DUE, downstream)


async def set_due_behind(connection: Connection, tasks: Sequence[UUID]) -> int:
    """Mark the grouping tasks downstream of these tasks as due, and return how many were marked.

    They may have waited for files that these tasks will never write.
    """
    marked: int = await connection.fetchval(_SET_DUE_BEHIND, tasks)
    return marked


async def find_downstream(connection: Connection, task: UUID) -> Downstream:
    """Return the task and its downstream tasks that stream its files."""
    [row] = await connection.fetch(_SELECT_DOWNSTREAM, task)
    return Downstream(row["tasks"], row["taken"])
