"""Statements on tasks whose jobs wait for space on a storage.

A task with a row here gets one job at a time, as a trial, and only while its row is open. The row
is deleted when an attempt that was leased after the row was written has stored its outputs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

#: Seconds before the next trial. The pause doubles with each trial that finds no space, up to the
#: longest. After the longest there is a trial even if the job seems not to fit, because a pilot may
#: have reported a wrong size.
FIRST_PAUSE, MAX_PAUSE = 5.0, 600.0
#: Seconds for which a trial is reserved for other pilots than the one that found no space.
FOR_OTHERS = 30.0

_PAUSE = f"make_interval(secs => least({FIRST_PAUSE} * 2 ^ least(w.trials, 20), {MAX_PAUSE}))"

#: SQL: whether task ``t`` waits for space, and whether it may get no job at all.
WAITS_FOR_SPACE = "EXISTS (SELECT FROM storage_waits AS w WHERE w.task_uid = t.uid)"
CLOSED_FOR_SPACE = "EXISTS (SELECT FROM storage_waits AS w WHERE w.task_uid = t.uid AND NOT w.open)"

_INSERT_OR_UPDATE = f"""
-- Tasks ($1) that found no space on storages ($2) for $3 bytes, as pilots ($4) reported for
-- attempts leased at $5. The size from a trial replaces earlier ones.
INSERT INTO storage_waits AS w (task_uid, url, needed, pilot_uid, try_at)
SELECT n.uid, n.url,
    CASE WHEN b.url = n.url AND NOT coalesce(n.leased_at > b.since, false)
        THEN greatest(b.needed, n.needed) ELSE n.needed END,
    n.pilot, now() + make_interval(secs => {FIRST_PAUSE})
FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::uuid[], $5::timestamptz[])
    AS n(uid, url, needed, pilot, leased_at)
LEFT JOIN storage_waits AS b ON b.task_uid = n.uid
ORDER BY n.uid
ON CONFLICT (task_uid) DO UPDATE SET
    url = excluded.url, needed = excluded.needed, open = false, opened_at = NULL,
    pilot_uid = coalesce(excluded.pilot_uid, w.pilot_uid),
    try_at = greatest(w.try_at, now() + {_PAUSE})
"""

_TAKE_TRIAL = statement(f"""
-- Claim the trial for pilot $2. The pilot that found no space comes last, because its storage may
-- be full only for itself.
UPDATE storage_waits AS w SET
    open = false, opened_at = NULL, trials = trials + 1, tried_at = now(), try_at = now() + {_PAUSE}
WHERE task_uid = $1 AND open
    AND (w.pilot_uid IS DISTINCT FROM $2
        OR w.opened_at <= now() - make_interval(secs => {FOR_OTHERS})
        OR NOT EXISTS (
            SELECT FROM pilots AS p WHERE p.uid <> $2 AND p.state = '{{pilot.ACTIVE}}'))
RETURNING task_uid
""")

_DELETE_STORED = """
-- Tasks ($1) with attempts, leased at $2 at the latest, that have stored their outputs.
DELETE FROM storage_waits AS w USING unnest($1::uuid[], $2::timestamptz[]) AS e(uid, leased_at)
WHERE w.task_uid = e.uid AND e.leased_at > w.since RETURNING w.task_uid
"""

_RECORD_FREE_SPACE = f"""
-- Record the state of the storage at $1: its name $2, free bytes $3 (NULL if unknown), and whether
-- it is full anyway ($4). When a storage that was too full for the largest attempt has space, a
-- trial starts at once. While it seems too full, a trial starts after the longest pause.
UPDATE storage_waits AS w SET
    name = $2, free = $3, open = l.opens,
    opened_at = CASE WHEN l.opens THEN coalesce(w.opened_at, now()) END,
    trials = CASE WHEN l.fits THEN w.trials ELSE 0 END,
    try_at = CASE WHEN l.fits THEN w.try_at ELSE now() END
FROM (
    SELECT task_uid, fits, CASE WHEN fits THEN open OR try_at <= now()
        ELSE NOT $4 AND tried_at <= now() - make_interval(secs => {MAX_PAUSE}) END AS opens
    FROM (
        SELECT *, NOT $4 AND ($3::bigint IS NULL OR $3 >= needed) AS fits
        FROM storage_waits WHERE url = $1 ORDER BY task_uid FOR NO KEY UPDATE
    ) AS s
) AS l WHERE l.task_uid = w.task_uid
RETURNING w.open
"""

_DROP_ENDED = statement("""
DELETE FROM storage_waits AS w USING tasks AS t
WHERE t.uid = w.task_uid AND t.state IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}')
""")

_SELECT = """
SELECT w.task_uid, w.url, w.name, w.needed, w.free, w.since, w.open, t.ready, t.owner_group
FROM storage_waits AS w JOIN tasks AS t ON t.uid = w.task_uid
WHERE $1::uuid[] IS NULL OR w.task_uid = ANY($1) ORDER BY w.since, w.task_uid
"""

_SELECT_WITH_READY = statement("""
-- Live tasks with ready jobs that do not wait for space.
SELECT uid FROM tasks AS t
WHERE state IN ('{task.SPLITTING}', '{task.ACTIVE}') AND ready > 0
    AND NOT EXISTS (SELECT FROM storage_waits AS w WHERE w.task_uid = t.uid)
""")


@dataclass(frozen=True, slots=True)
class StorageFullReport:
    """A report that a storage had no space.

    Attributes:
        url: The URL of the storage.
        needed: Bytes that did not fit.
        pilot: The pilot whose attempt found no space. None means that the DMS reported it.
        leased_at: When this attempt was leased.
    """

    url: str
    needed: int = 0
    pilot: UUID | None = None
    leased_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TaskStorageWait:
    """A task that waits for space on a storage. Fields are as in ``StorageWait``.

    Attributes:
        open: Whether one of its jobs may be leased, as a trial.
    """

    task_uid: UUID
    url: str
    name: str
    needed: int
    free: int | None
    since: datetime
    open: bool
    ready: int
    owner_group: str


async def put_storage_waits(
    connection: Connection, full_reports: Mapping[UUID, StorageFullReport]
) -> None:
    """Let tasks wait for space.

    Args:
        connection: A connection whose transaction has locked the tasks.
        full_reports: The reports of missing space, by task.
    """
    if not full_reports:
        return
    missing = full_reports.values()
    await connection.execute(
        _INSERT_OR_UPDATE,
        list(full_reports),
        [report.url for report in missing],
        [report.needed for report in missing],
        [report.pilot for report in missing],
        [report.leased_at for report in missing],
    )


async def take_trial(connection: Connection, task: UUID, pilot: UUID) -> bool:
    """Take the one job that the task may get now; return False if another pilot comes first."""
    return await connection.fetchval(_TAKE_TRIAL, task, pilot) is not None


async def end_storage_waits(connection: Connection, leased: Mapping[UUID, datetime]) -> set[UUID]:
    """End the waits of tasks of which an attempt has stored its outputs.

    Args:
        connection: A connection whose transaction has locked the tasks.
        leased: By task, when the latest of these attempts was leased.

    Returns:
        The tasks that waited.
    """
    if not leased:
        return set()
    rows = await connection.fetch(_DELETE_STORED, list(leased), list(leased.values()))
    return {row["task_uid"] for row in rows}


async def record_free_space(
    connection: Connection, url: str, *, name: str, free: int | None, full: bool
) -> bool:
    """Record the free space of a storage; return True if a task may try it now."""
    rows = await connection.fetch(_RECORD_FREE_SPACE, url, name, free, full)
    return any(row["open"] for row in rows)


async def drop_ended(connection: Connection) -> None:
    """Delete the waits of tasks that have ended."""
    await connection.execute(_DROP_ENDED)


async def list_task_storage_waits(
    connection: Connection, tasks: Collection[UUID] | None = None
) -> list[TaskStorageWait]:
    """Return the tasks, or those of ``tasks``, that wait for space, longest first."""
    rows = await connection.fetch(_SELECT, None if tasks is None else list(tasks))
    return [TaskStorageWait(**row) for row in rows]


async def list_tasks_with_ready_jobs(connection: Connection) -> Sequence[UUID]:
    """Return live tasks that have ready jobs and do not wait for space."""
    return [row["uid"] for row in await connection.fetch(_SELECT_WITH_READY)]
