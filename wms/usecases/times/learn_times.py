"""Update the statistics of pilots: how long jobs take and how many fail."""

from collections import defaultdict
from functools import reduce
from operator import itemgetter

from wms.db.pilots.pilot_times import (
    PilotIdentity,
    WorkKind,
    forget_times,
    list_identities,
    lock_times,
    set_times,
)
from wms.domain.scheduling.pilot_times import PilotTimes
from wms.usecases.context import WmsContext
from wms.usecases.reports.attempt_end_buffer import AttemptEnd

#: Days after which unused statistics are deleted, and rows deleted at a time.
_RETENTION_DAYS, _MAX_DELETED = 90, 1000


async def learn_times(context: WmsContext) -> None:
    """Add the ends of attempts that this instance has seen to the statistics of pilots.

    Ends since the last call are lost if the instance dies.
    """
    ends = context.ends.take()
    if not ends:
        return
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await forget_times(connection, days=_RETENTION_DAYS, limit=_MAX_DELETED)
        identities = await list_identities(connection, (end.pilot for end in ends))
        by_key: dict[tuple[WorkKind, PilotIdentity], list[AttemptEnd]] = defaultdict(list)
        for end in ends:
            if end.pilot in identities:
                by_key[end.work, identities[end.pilot]].append(end)
        known_times = await lock_times(connection, list(by_key)) if by_key else {}
        times = {
            key: reduce(
                lambda times, end: end.learnt(times), own_ends, known_times.get(key, PilotTimes())
            )
            for key, own_ends in sorted(by_key.items(), key=itemgetter(0))
        }
        if times:
            await set_times(connection, times)
