"""Statements on tasks whose jobs wait for room on a storage.

A task with a row here gets no job but one at a time, as a trial, while its row is open. The row
goes when an attempt that was leased after it was written has stored its outputs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.servicekit.database import Connection
from wms.db.statement import statement

#: Seconds before the next trial: doubled with each one that finds no room, up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 600.0

_PAUSE = f"make_interval(secs => least({FIRST_PAUSE} * 2 ^ least(w.trials, 20), {LONGEST_PAUSE}))"

#: Of a task ``t``: does it wait for room, and may it get no job at all?
WAITS_FOR_ROOM = "EXISTS (SELECT FROM room_waits AS w WHERE w.task_uid = t.uid)"
CLOSED_FOR_ROOM = "EXISTS (SELECT FROM room_waits AS w WHERE w.task_uid = t.uid AND NOT w.open)"

_PUT = f"""
-- Tasks ($1) that found no room on storages ($2) for so many bytes ($3).
INSERT INTO room_waits AS w (task_uid, url, needed, try_at)
SELECT uid, url, needed, now() + make_interval(secs => {FIRST_PAUSE})
FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS n(uid, url, needed) ORDER BY uid
ON CONFLICT (task_uid) DO UPDATE SET
    url = excluded.url, open = false, try_at = greatest(w.try_at, now() + {_PAUSE}),
    needed = CASE WHEN w.url = excluded.url THEN greatest(w.needed, excluded.needed)
        ELSE excluded.needed END
"""

_TAKE_TRIAL = f"""
UPDATE room_waits AS w SET open = false, trials = trials + 1, try_at = now() + {_PAUSE}
WHERE task_uid = $1 AND open RETURNING task_uid
"""

_END = """
-- Of tasks ($1) whose attempts, leased at $2 at the latest, have stored their outputs.
DELETE FROM room_waits AS w USING unnest($1::uuid[], $2::timestamptz[]) AS e(uid, leased_at)
WHERE w.task_uid = e.uid AND e.leased_at > w.since RETURNING w.task_uid
"""

_LOOKED = """
-- What was found on the storage at $1: its name $2, bytes free $3 (NULL: not known), and whether
-- it is full anyway ($4). There is no trial before what the largest attempt asked for is free; a
-- storage that was seen to be too full for it and has room now is tried at once.
UPDATE room_waits AS w SET
    name = $2, free = $3, open = l.fits AND (w.open OR w.try_at <= now()),
    trials = CASE WHEN l.fits THEN w.trials ELSE 0 END,
    try_at = CASE WHEN l.fits THEN w.try_at ELSE now() END
FROM (
    SELECT task_uid, NOT $4 AND ($3::bigint IS NULL OR $3 >= needed) AS fits
    FROM room_waits WHERE url = $1 ORDER BY task_uid FOR NO KEY UPDATE
) AS l WHERE l.task_uid = w.task_uid
RETURNING w.open
"""

_DROP_ENDED = statement("""
DELETE FROM room_waits AS w USING tasks AS t
WHERE t.uid = w.task_uid AND t.state IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}')
""")

_SELECT = """
SELECT w.task_uid, w.url, w.name, w.needed, w.free, w.since, w.open, t.ready, t.owner_group
FROM room_waits AS w JOIN tasks AS t ON t.uid = w.task_uid
WHERE $1::uuid[] IS NULL OR w.task_uid = ANY($1) ORDER BY w.since, w.task_uid
"""

_SELECT_WITH_READY = statement("""
-- Live tasks that have ready jobs, and do not wait for room.
SELECT uid FROM tasks AS t
WHERE state IN ('{task.SPLITTING}', '{task.ACTIVE}') AND ready > 0
    AND NOT EXISTS (SELECT FROM room_waits AS w WHERE w.task_uid = t.uid)
""")


@dataclass(frozen=True, slots=True)
class TaskWait:
    """A task that waits for room on the storage at ``url``, as ``RoomWait`` has it.

    ``open``: one of its jobs may be given to a pilot, as a trial.
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


async def put_room_waits(connection: Connection, found: Mapping[UUID, tuple[str, int]]) -> None:
    """Let tasks wait for room.

    Args:
        connection: In whose transaction the tasks are locked.
        found: By task the URL of the storage, and the bytes that it had no room for.
    """
    if not found:
        return
    urls, needed = [url for url, _ in found.values()], [size for _, size in found.values()]
    await connection.execute(_PUT, list(found), urls, needed)


async def take_trial(connection: Connection, task: UUID) -> bool:
    """Take the only job that the task may get now; False: another pilot was faster."""
    return await connection.fetchval(_TAKE_TRIAL, task) is not None


async def end_room_waits(connection: Connection, leased: Mapping[UUID, datetime]) -> set[UUID]:
    """Let tasks wait no more of which an attempt stored its outputs.

    Args:
        connection: In whose transaction the tasks are locked.
        leased: By task when the latest of these attempts was leased.

    Returns:
        The tasks that waited.
    """
    if not leased:
        return set()
    rows = await connection.fetch(_END, list(leased), list(leased.values()))
    return {row["task_uid"] for row in rows}


async def note_free(
    connection: Connection, url: str, *, name: str, free: int | None, full: bool
) -> bool:
    """Note what was found on a storage; True: a task may try it now."""
    rows = await connection.fetch(_LOOKED, url, name, free, full)
    return any(row["open"] for row in rows)


async def drop_ended(connection: Connection) -> None:
    """Forget tasks that have ended."""
    await connection.execute(_DROP_ENDED)


async def room_waits(
    connection: Connection, tasks: Collection[UUID] | None = None
) -> list[TaskWait]:
    """Return the tasks that wait for room, or those of ``tasks`` that do, the longest first."""
    rows = await connection.fetch(_SELECT, None if tasks is None else list(tasks))
    return [TaskWait(**row) for row in rows]


async def tasks_with_ready_jobs(connection: Connection) -> Sequence[UUID]:
    """Return live tasks that have ready jobs and do not wait for room."""
    return [row["uid"] for row in await connection.fetch(_SELECT_WITH_READY)]
