"""SQL on the steps and jobs that a rerun takes over from the chain before it."""

from collections.abc import Collection
from uuid import UUID

from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_TAKE_STEPS = statement("""
-- Mark new steps of the chain as finished if chain $3 has finished them, with its times.
UPDATE steps
SET state = '{step.FINISHED}', started_at = done.started_at, ended_at = done.ended_at,
    failed_jobs = done.failed_jobs, taken_from = coalesce(done.taken_from, done.chain_uid)
FROM steps AS done
WHERE steps.chain_uid = $1 AND steps.name = ANY($2::text[]) AND done.chain_uid = $3
    AND done.name = steps.name
AND done.state = '{step.FINISHED}'
""")

_TAKE_JOBS = """
UPDATE steps SET jobs_from = coalesce(before.taken_from, before.chain_uid) FROM steps AS before
WHERE steps.chain_uid = $1 AND steps.name = ANY($2::text[]) AND before.chain_uid = $3
    AND before.name = steps.name
"""


async def take_steps(
    connection: Connection,
    chain: UUID,
    *,
    before: UUID,
    complete_steps: Collection[str],
    jobs: Collection[str],
) -> None:
    """Take over steps from the chain ``before``.

    The steps ``complete_steps`` become finished in the new chain. Of the steps ``jobs``, finished
    jobs are taken over.
    """
    await connection.execute(_TAKE_STEPS, chain, list(complete_steps), before)
    await connection.execute(_TAKE_JOBS, chain, list(jobs), before)
