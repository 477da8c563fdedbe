"""Statements for creating a task's jobs (splitting).

The process that splits a task claims it by a token for some time. Each page of files is one
transaction.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.access.quotas import QuotaHolder, quota_holders
from sluice.contracts.common.states import JobState, TaskState
from sluice.contracts.jobs.job_inputs import InputFile, JobInput
from sluice.contracts.jobs.tasks import ReusedTask
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.tasks.tasks import IS_HUMAN_TASK, UpstreamRead
from wms.domain.splitting.grouping import JobDraft

_CLAIM_TASK = statement("""
-- Claim the best task that needs jobs created and is not claimed, for $3. It must not have been
-- checked since $2 (NULL: any time). A task with dataflow scheduling is checked when it may lack
-- jobs, and when its upstream task has ended.
UPDATE tasks SET split_token = $1, split_until = now() + $3, split_checked_at = now()
WHERE uid = (
    SELECT uid FROM tasks
    WHERE state NOT IN ('{task.ACTIVE}', '{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}')
        AND (split_until IS NULL OR split_until < now() OR split_token = uid AND EXISTS (
            SELECT FROM flows AS f JOIN tasks AS w ON w.uid = f.upstream_uid
            WHERE f.downstream_uid = tasks.uid AND (f.due OR w.ended_at IS NOT NULL)))
        AND (split_checked_at IS NULL OR split_checked_at < coalesce($2, now()))
    ORDER BY rank DESC, created_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
RETURNING uid, state, split_checked_at, split_cursor, split_skip, split_group, split_last_seq,
    taken_over, owner, owner_group,
    (SELECT f.upstream_uid FROM flows AS f WHERE f.downstream_uid = tasks.uid) AS upstream_uid,
    (SELECT f.dataset_uid FROM flows AS f WHERE f.downstream_uid = tasks.uid) AS dataset
""")

_RELEASE_TASK = """
-- Release the claim until later. `reason` says why.
UPDATE tasks SET split_token = NULL, split_until = NULL, reason = $3
WHERE uid = $1 AND split_token = $2
"""

_BEGIN_SPLITTING = statement("""
-- Store the shared inputs of all jobs before there are any jobs.
UPDATE tasks SET state = '{task.SPLITTING}', reason = '', shared_inputs = $3
WHERE uid = $1 AND split_token = $2 AND state = '{task.WAITING}'
RETURNING uid
""")

_COUNT_PAGE = statement(f"""
-- Move the read position together with the jobs. The token guards it: an expired claim adds
-- nothing. $8 marks the last page.
UPDATE tasks SET
    total = total + $3, reason = '',
    ready = ready + CASE WHEN {IS_HUMAN_TASK} THEN 0 ELSE $3 END,
    asked = asked + CASE WHEN {IS_HUMAN_TASK} THEN $3 ELSE 0 END,
    split_cursor = $4, split_skip = $5, split_group = $6, split_last_seq = $7,
    state = CASE WHEN $8 THEN '{{task.ACTIVE}}' ELSE state END,
    split_token = CASE WHEN $8 THEN NULL ELSE split_token END,
    split_until = CASE WHEN $8 THEN NULL ELSE now() + $9 END
WHERE uid = $1 AND split_token = $2 AND state = '{{task.SPLITTING}}'
RETURNING uid
""")

_LOCK_CLAIMED = "SELECT uid FROM tasks WHERE uid = $1 AND split_token = $2 FOR NO KEY UPDATE"


@dataclass(frozen=True, slots=True)
class SplitPlace:
    """Where splitting continues, also after a crash.

    Attributes:
        cursor: The page to read next.
        skip: Number of files of the page that have jobs already.
        group: Number of the next merge group.
        last_seq: Highest seq used so far; -1 for none.
    """

    cursor: str | None = None
    skip: int = 0
    group: int = 0
    last_seq: int = -1


@dataclass(frozen=True, slots=True)
class SplitClaim:
    """A claim on a task to split.

    Attributes:
        claimed_at: By the database's clock.
        reused_task: The task whose finished jobs it takes over.
        reading: The upstream task and data set whose files it streams.
        holders: The group and person whose quotas count, in the order in which they are locked.
    """

    uid: UUID
    token: UUID
    claimed_at: datetime
    state: TaskState
    place: SplitPlace
    reused_task: ReusedTask | None = None
    reading: UpstreamRead | None = None
    holders: Sequence[QuotaHolder] = ()


async def claim_task(
    connection: Connection, token: UUID, *, before: datetime | None, claim_duration: timedelta
) -> SplitClaim | None:
    """Claim the highest-ranked task that is to be split, for the time ``claim_duration``.

    ``before`` excludes tasks that were looked at since then, by the database's clock.

    Returns:
        None if no such task is left.
    """
    row = await connection.fetchrow(_CLAIM_TASK, token, before, claim_duration)
    if row is None:
        return None
    return SplitClaim(
        uid=row["uid"],
        token=token,
        claimed_at=row["split_checked_at"],
        state=TaskState(row["state"]),
        place=SplitPlace(
            row["split_cursor"], row["split_skip"], row["split_group"], row["split_last_seq"]
        ),
        reused_task=(
            None if row["taken_over"] is None else ReusedTask.model_validate(row["taken_over"])
        ),
        reading=None
        if row["upstream_uid"] is None
        else UpstreamRead(row["upstream_uid"], row["dataset"]),
        holders=quota_holders(group=row["owner_group"], owner=row["owner"]),
    )


async def release_task(connection: Connection, claim: SplitClaim, *, reason: str) -> None:
    """End the claim and record why nothing can be done now; an expired claim has no effect."""
    await connection.execute(_RELEASE_TASK, claim.uid, claim.token, reason)


async def begin_splitting(
    connection: Connection, claim: SplitClaim, *, shared_inputs: Sequence[InputFile]
) -> bool:
    """Begin to split the claimed task; return False if the claim or the task has ended.

    ``shared_inputs`` are inputs that every job gets.
    """
    stored = dump_files(shared_inputs) or None
    return (await connection.fetchval(_BEGIN_SPLITTING, claim.uid, claim.token, stored)) is not None


async def count_page(
    connection: Connection,
    claim: SplitClaim,
    *,
    jobs: int,
    place: SplitPlace,
    last: bool,
    claim_duration: timedelta,
) -> bool:
    """Lock the task and count the jobs that this transaction adds.

    Splitting continues at ``place``. After the ``last`` page the task is active.

    Returns:
        False if the claim has expired or the task has ended.
    """
    uid = await connection.fetchval(
        _COUNT_PAGE,
        claim.uid,
        claim.token,
        jobs,
        place.cursor,
        place.skip,
        place.group,
        place.last_seq,
        last,
        claim_duration,
    )
    return uid is not None


async def lock_claimed(connection: Connection, claim: SplitClaim) -> bool:
    """Lock the claimed task; return False if the claim has expired or the task has ended."""
    return await connection.fetchval(_LOCK_CLAIMED, claim.uid, claim.token) is not None


async def insert_jobs(
    connection: Connection, task: UUID, drafts: Iterable[JobDraft], *, by_people: bool = False
) -> None:
    """Insert jobs in order, with COPY because a page makes thousands of rows.

    ``by_people``: people do the jobs. They are never ready, so they have no time of becoming ready.
    """
    records: list[tuple[Any, ...]] = [
        (task, draft.seq, dump_files(draft.inputs)) for draft in drafts
    ]
    columns = ["task_uid", "seq", "inputs"]
    if by_people:
        records = [(*record, JobState.ASKED, None) for record in records]
        columns += ["state", "ready_at"]
    await connection.copy_records_to_table("jobs", records=records, columns=columns)


def dump_files(files: Iterable[JobInput]) -> list[dict[str, Any]]:
    """Return the files as they are stored."""
    return [file.model_dump(exclude_defaults=True) for file in files]
