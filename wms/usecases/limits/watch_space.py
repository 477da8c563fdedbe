"""Check whether storages have space for the outputs of waiting jobs."""

from collections.abc import Collection, Mapping
from uuid import UUID

import structlog

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import NotFound, ServiceError
from sluice.contracts.data.storage_space import StorageSpace
from wms.db.limits.storage_waits import (
    StorageFullReport,
    TaskStorageWait,
    drop_ended,
    list_task_storage_waits,
    list_tasks_with_ready_jobs,
    put_storage_waits,
    record_free_space,
)
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def watch_space(context: WmsContext, dms: DmsClient) -> None:
    """Let tasks wait whose storage is full, and open a trial where there is space again.

    The DMS checks the storages. If it does not answer, nothing changes. A storage with unknown free
    space gets a trial after a while.
    """
    async with context.database.connection() as connection:
        await drop_ended(connection)
        waits = await list_task_storage_waits(connection)
        ready = await list_tasks_with_ready_jobs(connection)
        cached_tasks = await context.tasks.get(connection, ready)
    context.waiting_for_space.clear()
    context.waiting_for_space.update(wait.task_uid for wait in waits)
    names: dict[str, str] = {}
    if waits or cached_tasks or context.space_needed:
        try:
            listed = await dms.list_storages(all=True)
        except ServiceError as error:
            log.warning("space.not_known", reason=error.detail)
            return
        names = {storage.url: storage.name for storage in listed}
        needed: dict[str, int | None] = dict.fromkeys(
            storage.url for storage in listed if storage.full
        )
        needed |= _find_largest_needs(waits)
        spaces = {
            url: await _request_space(dms, names.get(url), size) for url, size in needed.items()
        }
        await _record_spaces(context, spaces, names, cached_tasks)
    await _report_freed(context, dms, {wait.url: names.get(wait.url) for wait in waits})


def _find_largest_needs(waits: Collection[TaskStorageWait]) -> dict[str, int]:
    """Return the largest need for each storage, by URL."""
    needed: dict[str, int] = {}
    for wait in waits:
        needed[wait.url] = max(wait.needed, needed.get(wait.url, 0))
    return needed


async def _record_spaces(
    context: WmsContext,
    spaces: Mapping[str, StorageSpace | None],
    names: Mapping[str, str],
    cached_tasks: Mapping[UUID, CachedTask],
) -> None:
    """Store what was found on the storages, and wake pilots if there is something to try."""
    full = {url for url, space in spaces.items() if space is not None and space.full}
    full_reports = {
        uid: StorageFullReport(output.dat_stor_url)
        for uid, cached_task in cached_tasks.items()
        for output in cached_task.task.outputs
        if output.dat_stor_url in full
    }
    opened = False
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await put_storage_waits(connection, full_reports)
        context.waiting_for_space.update(full_reports)
        for url, space in sorted(spaces.items()):
            if space is not None:
                opened |= await record_free_space(
                    connection, url, name=names.get(url, ""), free=space.free, full=space.full
                )
        if opened:
            await notify_ready(connection)
    for url in full - context.full_storages:
        log.info("storage.full", storage=names.get(url), url=url)
    context.full_storages.clear()
    context.full_storages.update(full)
    if opened:
        context.signal.ready()


async def _report_freed(
    context: WmsContext, dms: DmsClient, waiting_storages: Mapping[str, str | None]
) -> None:
    """Tell the DMS about storages that no more tasks wait for."""
    for url in context.space_needed.keys() - waiting_storages.keys():
        await _request_space(dms, context.space_needed.pop(url), None)
    context.space_needed.update(
        {url: name for url, name in waiting_storages.items() if name is not None}
    )


async def _request_space(
    dms: DmsClient, name: str | None, needed_bytes: int | None
) -> StorageSpace | None:
    """Return the free space of the storage, or None if the DMS does not answer."""
    if name is None:
        return StorageSpace(free=None)
    try:
        return await dms.report_needed_space(name, needed=needed_bytes)
    except NotFound:  # the storage is gone
        return StorageSpace(free=None)
    except ServiceError as error:
        log.warning("space.not_known", storage=name, reason=error.detail)
        return None
