"""Marks pilots that stopped answering."""

from datetime import timedelta

import structlog

from wms.db.pilots import LOSE_PILOTS
from wms.usecases.workload import Workload

log = structlog.get_logger(__name__)


async def lose_pilots(workload: Workload) -> None:
    """Precondition: none. Effect: pilots unseen for ``unseen`` seconds are lost (their jobs went when the leases ended); one that
    is heard of again is back. Messages: none. Errors: none."""
    async with workload.database.connection() as connection:
        rows = await connection.fetch(LOSE_PILOTS, timedelta(seconds=workload.terms.unseen))
    for row in rows:
        log.warning("pilot.lost", pilot=str(row["uid"]), name=row["name"], host=row["host"])
