"""Return to the quotas what attempts reserved and did not spend."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from sluice.servicekit.database import Connection
from wms.db.jobs.attempts import EndedAttempt
from wms.db.limits.limits import return_unspent
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.domain.scheduling.limits import compute_unspent


async def release_quota(
    connection: Connection,
    attempts: Iterable[EndedAttempt],
    cached_tasks: Mapping[UUID, CachedTask],
) -> bool:
    """Return the rest of each reservation to its quota; return whether there was any.

    Each attempt ends once, so the returned amount is at most what it reserved, whatever its pilot
    reports. Call it last in the transaction that ends the attempts (``return_unspent``).
    """
    parts: dict[str, list[tuple[float, datetime]]] = defaultdict(list)
    for attempt in attempts:
        needs = cached_tasks[attempt.job.task_uid].task.needs.named
        for name, amount in compute_unspent(needs, attempt.spent_amounts).items():
            parts[name].append((amount, attempt.job.leased_at))
    if not parts:
        return False
    await return_unspent(connection, parts)
    await notify_ready(connection)
    return True
