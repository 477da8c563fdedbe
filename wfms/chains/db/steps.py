"""SQL on steps: claims of the start loop, and state transitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import StepState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wfms.chains.domain.transitions import STEP_MOVES

_CLAIM_STEPS = statement("""
-- Claim steps that are due to start. Several instances share them.
UPDATE steps SET claim_token = $1, claimed_until = now() + $2, attempts = attempts + 1
WHERE (chain_uid, name) IN (
    SELECT chain_uid, name FROM steps
    WHERE state = '{step.STARTING}' AND next_try_at <= now()
        AND (claimed_until IS NULL OR claimed_until <= now())
    ORDER BY next_try_at LIMIT $3 FOR UPDATE SKIP LOCKED
)
RETURNING chain_uid, name, task_uid, attempts
""")

_POSTPONE_STEP = statement("""
-- Release the claim until a later time, with a reason for people.
UPDATE steps SET claim_token = NULL, claimed_until = NULL, next_try_at = now() + $4, reason = $5
WHERE chain_uid = $1 AND name = $2 AND claim_token = $3 AND state = '{step.STARTING}'
""")

_UNCLAIM = """
-- Skip locked rows: the change in progress ends their claim.
UPDATE steps AS s SET claim_token = NULL, claimed_until = NULL
FROM (SELECT chain_uid, name FROM steps WHERE claim_token = $1 FOR UPDATE SKIP LOCKED) AS mine
WHERE s.chain_uid = mine.chain_uid AND s.name = mine.name
"""

_CHECK_CLAIM = statement("""
SELECT 1 FROM steps
WHERE chain_uid = $1 AND name = $2 AND claim_token = $3 AND state = '{step.STARTING}'
""")

_MOVE_STEP = """
-- Guarded by the states that the step may leave. This ends any claim. The caller holds the lock of
-- the chain.
UPDATE steps
SET state = $3, reason = $5, claim_token = NULL, claimed_until = NULL, next_try_at = now(),
    started_at = CASE WHEN $6 THEN $8::timestamptz ELSE started_at END,
    ended_at = CASE WHEN $7 THEN $8::timestamptz END
WHERE chain_uid = $1 AND name = ANY($2::text[]) AND state = ANY($4::text[])
RETURNING name
"""

_SET_FAILED_JOBS = "UPDATE steps SET failed_jobs = $3 WHERE chain_uid = $1 AND name = $2"

_CLAIM_CANCELS = statement("""
-- Running tasks of chains that are ending. Cancel them, and repeat that until they have ended.
UPDATE steps SET next_try_at = now() + $1
FROM (
    SELECT steps.chain_uid, steps.name, chains.reason
    FROM steps JOIN chains ON chains.uid = steps.chain_uid
    WHERE steps.state = '{step.IN_PROGRESS}' AND steps.next_try_at <= now()
    AND chains.ending IS NOT NULL AND chains.state = '{chain.IN_PROGRESS}'
    ORDER BY steps.next_try_at LIMIT $2 FOR UPDATE OF steps SKIP LOCKED
) AS due
WHERE steps.chain_uid = due.chain_uid AND steps.name = due.name
RETURNING steps.chain_uid, steps.task_uid, due.reason
""")

_SELECT_STEP_OF_TASK = "SELECT chain_uid, name, task_uid FROM steps WHERE task_uid = $1"

_SELECT_STATE = "SELECT state FROM steps WHERE chain_uid = $1 AND name = $2"


@dataclass(frozen=True, slots=True)
class StepClaim:
    """A claim on the start of a step."""

    chain: UUID
    step: str
    task: UUID
    token: UUID
    attempts: int


@dataclass(frozen=True, slots=True)
class StepTask:
    """The task of a step."""

    chain: UUID
    step: str
    task: UUID


@dataclass(frozen=True, slots=True)
class CancelClaim:
    """A task to cancel; ``reason`` says why its chain ends."""

    chain: UUID
    task: UUID
    reason: str


async def claim_steps(
    connection: Connection, token: UUID, *, claim_duration: timedelta, limit: int
) -> list[StepClaim]:
    """Claim steps that are due to be started."""
    rows = await connection.fetch(_CLAIM_STEPS, token, claim_duration, limit)
    return [
        StepClaim(row["chain_uid"], row["name"], row["task_uid"], token, row["attempts"])
        for row in rows
    ]


async def unclaim_steps(connection: Connection, token: UUID) -> None:
    """Give up all claims of the token."""
    await connection.execute(_UNCLAIM, token)


async def is_still_claimed(connection: Connection, claim: StepClaim) -> bool:
    """Return whether the claim still holds, under the chain's lock."""
    return await connection.fetchval(_CHECK_CLAIM, claim.chain, claim.step, claim.token) is not None


async def postpone_step(
    connection: Connection, claim: StepClaim, *, pause: timedelta, reason: str
) -> None:
    """Give up the claim and try again after the pause; people see the reason."""
    await connection.execute(_POSTPONE_STEP, claim.chain, claim.step, claim.token, pause, reason)


async def move_steps(
    connection: Connection,
    chain: UUID,
    names: Sequence[str],
    *,
    to: StepState,
    now: datetime,
    reason: str = "",
) -> bool:
    """Move steps of a locked chain to a state; return whether any was moved."""
    starts = to is StepState.IN_PROGRESS
    rows = await connection.fetch(
        _MOVE_STEP,
        chain,
        list(names),
        to,
        states_before(STEP_MOVES, to),
        reason,
        starts,
        to.final,
        now,
    )
    return len(rows) > 0


async def claim_cancels(
    connection: Connection, *, again: timedelta, limit: int
) -> list[CancelClaim]:
    """Claim tasks to cancel; no other instance gets them before ``again`` is over."""
    return [CancelClaim(*row) for row in await connection.fetch(_CLAIM_CANCELS, again, limit)]


async def find_step_of_task(connection: Connection, task: UUID) -> StepTask | None:
    """Return the step that has the task, or None."""
    row = await connection.fetchrow(_SELECT_STEP_OF_TASK, task)
    return None if row is None else _step_task(row)


def _step_task(row: asyncpg.Record) -> StepTask:
    return StepTask(row["chain_uid"], row["name"], row["task_uid"])


async def get_step_state(connection: Connection, step: StepTask) -> StepState:
    """Return the step's state."""
    return StepState(await connection.fetchval(_SELECT_STATE, step.chain, step.step))


async def set_failed_jobs(connection: Connection, step: StepTask, number: int) -> None:
    """Store the number of the step's failed jobs."""
    await connection.execute(_SET_FAILED_JOBS, step.chain, step.step, number)
