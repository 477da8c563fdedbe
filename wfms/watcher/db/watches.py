"""Statements on watches and releases."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from sluice.contracts.chains.chains import Watch, Watched
from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import WatchKind, WatchState
from sluice.servicekit.database import Connection
from wfms.watcher.domain.outcome import Outcome
from wfms.watcher.domain.transitions import WATCH_MOVES

_INSERT_WATCH = """
-- A repetition changes nothing.
INSERT INTO watches (uid, kind, chain_uid, step, dat_in_uid, dat_out_uid, log_out_uid, state,
    created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (uid) DO NOTHING
"""

_SELECT_WATCHES = """
SELECT uid, kind, chain_uid, step, dat_in_uid, dat_out_uid, log_out_uid, state, reported
FROM watches
WHERE ($1::uuid IS NULL OR uid = $1) AND ($2::text IS NULL OR state = $2) ORDER BY position DESC
LIMIT $3
"""

_CLAIM_WATCHES = """
-- Claim the next unreported watches by uid. Several instances share them.
UPDATE watches SET claim_token = $1, claimed_until = now() + $2
WHERE uid IN (
    SELECT uid FROM watches
    WHERE NOT reported AND uid > $3 AND (claimed_until IS NULL OR claimed_until <= now())
    ORDER BY uid LIMIT $4 FOR UPDATE SKIP LOCKED
)
RETURNING uid, kind, step, dat_in_uid, state, failed_jobs, reason, created_at
"""

_UNCLAIM = """
-- In order of uid, like every change of several watches.
UPDATE watches SET claim_token = NULL, claimed_until = NULL
WHERE uid = ANY(ARRAY(SELECT uid FROM watches WHERE claim_token = $1 ORDER BY uid FOR UPDATE))
    AND claim_token = $1
"""

_END_WATCH = """
UPDATE watches SET state = $2, failed_jobs = $4, reason = $5, ended_at = $6
WHERE uid = $1 AND state = ANY($3::text[]) RETURNING uid
"""

_MARK_REPORTED = """
-- Return no row if another instance has reported it.
UPDATE watches SET reported = true, claim_token = NULL, claimed_until = NULL
WHERE uid = $1 AND NOT reported AND ended_at IS NOT NULL RETURNING uid
"""

_INSERT_RELEASES = """
-- Insert only new releases, in order of uid, because reports on steps of one chain name the same
-- data sets.
INSERT INTO releases (dataset_uid, sent_at)
SELECT uid, $2::timestamptz FROM unnest($1::uuid[]) AS new (uid) ORDER BY uid
ON CONFLICT (dataset_uid) DO NOTHING RETURNING dataset_uid
"""


@dataclass(frozen=True, slots=True)
class OpenWatch:
    """A claimed watch. ``outcome``: None while its task or upload continues."""

    uid: UUID
    kind: WatchKind
    dat_in_uid: UUID
    created_at: datetime
    outcome: Outcome | None


async def insert_watch(connection: Connection, watch: Watch, *, now: datetime) -> None:
    """Store a watch; a repetition changes nothing."""
    await connection.execute(
        _INSERT_WATCH,
        watch.uid,
        watch.kind,
        watch.chain_uid,
        watch.step,
        watch.dat_in_uid,
        watch.dat_out_uid,
        watch.log_out_uid,
        WatchState.IN_PROGRESS,
        now,
    )


async def list_watches(
    connection: Connection,
    *,
    uid: UUID | None = None,
    state: WatchState | None = None,
    limit: int = 1,
) -> list[Watched]:
    """Return watches, newest first."""
    return [Watched(**row) for row in await connection.fetch(_SELECT_WATCHES, uid, state, limit)]


async def claim_watches(
    connection: Connection, token: UUID, *, claim_duration: timedelta, after: UUID, limit: int
) -> list[OpenWatch]:
    """Claim the next watches after a uid that are not reported, in the order of their uids."""
    rows = await connection.fetch(_CLAIM_WATCHES, token, claim_duration, after, limit)
    return sorted((_open_watch(row) for row in rows), key=lambda watch: watch.uid)


def _open_watch(row: asyncpg.Record) -> OpenWatch:
    state = WatchState(row["state"])
    ended = (
        None
        if state is WatchState.IN_PROGRESS
        else Outcome(state, row["failed_jobs"], row["reason"])
    )
    return OpenWatch(
        row["uid"], WatchKind(row["kind"]), row["dat_in_uid"], row["created_at"], ended
    )


async def unclaim_watches(connection: Connection, token: UUID) -> None:
    """Release all claims with this token."""
    await connection.execute(_UNCLAIM, token)


async def end_watch(connection: Connection, uid: UUID, outcome: Outcome, *, now: datetime) -> None:
    """Store the outcome of a watch that has not ended."""
    await connection.execute(
        _END_WATCH,
        uid,
        outcome.state,
        states_before(WATCH_MOVES, outcome.state),
        outcome.failed_jobs,
        outcome.reason,
        now,
    )


async def mark_reported(connection: Connection, uid: UUID) -> bool:
    """Mark a watch as reported; return False if it was marked before."""
    return await connection.fetchval(_MARK_REPORTED, uid) is not None


async def insert_releases(
    connection: Connection, uids: Sequence[UUID], *, now: datetime
) -> list[UUID]:
    """Store releases, and return the uids that are new."""
    return [row["dataset_uid"] for row in await connection.fetch(_INSERT_RELEASES, list(uids), now)]
