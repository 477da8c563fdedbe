"""Statements for explanations."""

from uuid import UUID

from sluice.servicekit.database import Connection
from wms.db.pilots import SELECT_NODES, node_of
from wms.db.statement import statement
from wms.db.tasks import demands
from wms.domain.explanations import Surroundings
from wms.domain.matching import Node

SELECT_PAUSED = statement("""
-- Jobs that pause before their next attempt: an end of the index jobs_ready.
SELECT count(*) AS paused, extract(epoch FROM min(not_before) - now())::float AS next_in FROM jobs
WHERE task_uid = $1 AND state = '{job.READY}' AND not_before > now()
""")

SELECT_READY = statement("""
-- Of a ready job: seconds until it may be leased (negative: it may), and its own need of memory if it has one.
SELECT extract(epoch FROM greatest(not_before, now() - interval '1 day') - now())::float AS pause, ram FROM jobs
WHERE id = $1 AND state = '{job.READY}'
""")


SELECT_THERE = statement("""
-- Nodes that are there, or lately were and may be back, whether or not they take jobs at this moment.
SELECT resources, engines, extract(epoch FROM now() - registered_at)::float AS age FROM pilots
WHERE state IN ('{pilot.ACTIVE}', '{pilot.DRAINING}') OR (state = '{pilot.LOST}' AND seen_at > now() - interval '1 hour')
""")


async def nodes_there(connection: Connection) -> tuple[list[Node], float]:
    """And how many seconds ago the last of them registered."""
    rows = await connection.fetch(SELECT_THERE)
    return [node_of(row) for row in rows], min((row["age"] for row in rows), default=0.0)


async def surroundings(connection: Connection, task: UUID) -> Surroundings:
    paused = await connection.fetchrow(SELECT_PAUSED, task)
    nodes = [node_of(row) for row in await connection.fetch(SELECT_NODES)]
    return Surroundings(
        demands=await demands(connection),
        nodes=nodes,
        paused=paused["paused"] if paused else 0,
        next_in=paused["next_in"] if paused else None,
    )
