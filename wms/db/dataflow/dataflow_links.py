"""Statements on dataflow scheduling: tasks that stream the files of an upstream task.

The rows of both tasks are locked in order of uid; see the lock rule of ``wms/db/tasks/tasks.py``.
"""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.jobs.job_inputs import InputFile
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.splitting import SplitClaim, dump_files
from wms.db.tasks.tasks import IS_HUMAN_TASK, UpstreamRead
from wms.domain.splitting.grouping import JobDraft

_SELECT_UPSTREAM_TASK = statement("""
-- The live task of the chain that writes the data set. A chain has few tasks.
SELECT uid FROM tasks
WHERE chain_uid = $1 AND state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}')
    AND jsonb_path_exists(spec, '$.outputs[*].dat_out_uid ? (@ == $uid)',
        jsonb_build_object('uid', $2::text))
""")

_INSERT_DATAFLOW_LINK = statement("""
-- Store the shared inputs of all jobs before there are any jobs. A token equal to the task's own
-- uid keeps away instances that do not know dataflow scheduling.
WITH reading AS (
    UPDATE tasks SET
        state = '{task.SPLITTING}', reason = '', shared_inputs = $5, split_token = uid,
        split_until = 'infinity',
        turn_at = (SELECT coalesce(w.turn_at, w.created_at) FROM tasks AS w WHERE w.uid = $3)
    WHERE uid = $1 AND split_token = $2 AND state = '{task.WAITING}'
    RETURNING uid
), written AS (
    UPDATE tasks SET downstream_tasks = downstream_tasks + 1
    WHERE uid = $3 AND EXISTS (SELECT FROM reading)
)
INSERT INTO flows (downstream_uid, upstream_uid, dataset_uid, due, gathers)
SELECT uid, $3, $4, $6, $7 FROM reading
RETURNING downstream_uid
""")

_PARK_TASK = """
-- Park the task until jobs of the upstream task end.
UPDATE tasks SET split_token = uid, split_until = 'infinity', reason = $3
WHERE uid = $1 AND split_token = $2
"""

_SET_CAUGHT_UP = "UPDATE flows SET due = false WHERE downstream_uid = $1"

_ADD_JOBS = statement(f"""
-- Add jobs for the files that arrived, in any order, and skip existing ones. They are leased in the
-- order in which they became ready, whatever their numbers. Jobs of human tasks are asked and never
-- ready. $3 is the highest number up to which all jobs exist afterwards.
WITH added AS (
    INSERT INTO jobs (task_uid, seq, inputs, not_before, state, ready_at)
    SELECT $1, n.*, now(), k.state, CASE WHEN k.state = '{{job.READY}}' THEN now() END
    FROM jsonb_to_recordset($2) AS n(seq bigint, inputs jsonb), (
        SELECT CASE WHEN {IS_HUMAN_TASK} THEN '{{job.ASKED}}' ELSE '{{job.READY}}' END AS state
        FROM tasks WHERE uid = $1
    ) AS k
    ON CONFLICT (task_uid, seq) DO NOTHING RETURNING state
)
UPDATE tasks SET
    total = total + a.ready + a.asked, ready = tasks.ready + a.ready, asked = tasks.asked + a.asked,
    split_last_seq = greatest(split_last_seq, $3)
FROM (
    SELECT count(*) FILTER (WHERE state = '{{job.READY}}') AS ready,
        count(*) FILTER (WHERE state = '{{job.ASKED}}') AS asked
    FROM added
) AS a
WHERE uid = $1 AND a.ready + a.asked > 0
RETURNING a.ready + a.asked
""")

_DELETE_ENTRIES = "DELETE FROM flow_entries WHERE downstream_uid = $1"

_LOCK_DATAFLOW_LINKS = """
-- If both tasks end at the same time, the second transaction sees the end of the first task.
SELECT FROM flows WHERE downstream_uid = $1 OR upstream_uid = $1 ORDER BY downstream_uid FOR UPDATE
"""

_DELETE_DATAFLOW_LINKS = """
-- Both tasks have ended.
DELETE FROM flows AS f USING tasks AS r, tasks AS w
WHERE (f.downstream_uid = $1 OR f.upstream_uid = $1)
    AND r.uid = f.downstream_uid AND w.uid = f.upstream_uid
    AND r.ended_at IS NOT NULL AND w.ended_at IS NOT NULL
"""


async def find_upstream_task(connection: Connection, dataset: UUID, *, chain: UUID) -> UUID | None:
    """Return the live task of the chain that writes the data set, or None."""
    upstream: UUID | None = await connection.fetchval(_SELECT_UPSTREAM_TASK, chain, str(dataset))
    return upstream


async def insert_dataflow_link(
    connection: Connection,
    claim: SplitClaim,
    reading: UpstreamRead,
    *,
    shared_inputs: Sequence[InputFile],
    has_missing_jobs: bool,
    is_grouping: bool = False,
) -> bool:
    """Start the dataflow into the claimed task; return False if the claim or the task has ended.

    The caller must hold the locks of both tasks. ``shared_inputs`` are inputs that every job gets.
    ``has_missing_jobs``: jobs have to be made of files that exist already. ``is_grouping``: the
    task groups the files.
    """
    stored = dump_files(shared_inputs) or None
    started = await connection.fetchval(
        _INSERT_DATAFLOW_LINK,
        claim.uid,
        claim.token,
        reading.upstream,
        reading.dataset,
        stored,
        has_missing_jobs,
        is_grouping,
    )
    return started is not None


async def park_task(connection: Connection, claim: SplitClaim, *, reason: str) -> None:
    """Let the claimed task wait, with a reason, until jobs of its upstream task end.

    Nothing happens if the claim has expired.
    """
    await connection.execute(_PARK_TASK, claim.uid, claim.token, reason)


async def set_caught_up(connection: Connection, downstream: UUID) -> None:
    """Record that all existing files have a job and that each later file will get one.

    The caller must hold the locks of both tasks.
    """
    await connection.execute(_SET_CAUGHT_UP, downstream)


async def add_jobs(
    connection: Connection, task: UUID, drafts: Sequence[JobDraft], *, last_complete_seq: int = -1
) -> int:
    """Add those of the jobs that do not exist yet, and return how many were added.

    The caller must hold the task's lock. All jobs with numbers up to ``last_complete_seq``
    exist from now on.
    """
    rows = [{"seq": draft.seq, "inputs": dump_files(draft.inputs)} for draft in drafts]
    return await connection.fetchval(_ADD_JOBS, task, rows, last_complete_seq) or 0


async def delete_dataflow_links(connection: Connection, ended_task: UUID) -> None:
    """Delete the entries of the ended task, and its links to tasks that have ended, too."""
    await connection.execute(_LOCK_DATAFLOW_LINKS, ended_task)
    await connection.execute(_DELETE_ENTRIES, ended_task)
    await connection.execute(_DELETE_DATAFLOW_LINKS, ended_task)
