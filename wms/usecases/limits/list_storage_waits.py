"""List the full storages that jobs wait for."""

from collections import defaultdict

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.data.storage_space import StorageWait, StorageWaitList
from wms.db.limits.storage_waits import TaskStorageWait, list_task_storage_waits
from wms.usecases.context import WmsContext


async def list_storage_waits(
    context: WmsContext, *, visibility: Visibility = ALL
) -> StorageWaitList:
    """Return one entry for each storage, the one that jobs wait for longest first."""
    async with context.database.connection() as connection:
        task_waits = await list_task_storage_waits(connection)
    by_url: dict[str, list[TaskStorageWait]] = defaultdict(list)
    for wait in task_waits:
        if visibility.is_member(wait.owner_group):
            by_url[wait.url].append(wait)
    return StorageWaitList(
        waits=[
            StorageWait(
                url=url,
                name=waits[0].name,
                needed=max(wait.needed for wait in waits),
                free=waits[0].free,
                since=waits[0].since,
                jobs=sum(wait.ready for wait in waits),
                tasks=[wait.task_uid for wait in waits],
            )
            for url, waits in by_url.items()
        ]
    )
