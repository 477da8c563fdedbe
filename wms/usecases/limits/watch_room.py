"""Check whether storages have room for the outputs of waiting jobs."""

from collections.abc import Collection, Mapping
from uuid import UUID

import structlog

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import NotFound, ServiceError
from sluice.contracts.data.room import StorageRoom
from wms.db.limits.room_waits import (
    StorageFullReport,
    TaskRoomWait,
    drop_ended,
    list_task_room_waits,
    list_tasks_with_ready_jobs,
    put_room_waits,
    record_free_space,
)
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def watch_room(context: WmsContext, dms: DmsClient) -> None:
    """Let tasks wait whose storage is full, and open a trial where there is room again.

    The DMS checks the storages. If it does not answer, nothing changes. A storage with unknown free
    space gets a trial after a while.
    """
    async with context.database.connection() as connection:
        await drop_ended(connection)
        waits = await list_task_room_waits(connection)
        ready = await list_tasks_with_ready_jobs(connection)
        cached_tasks = await context.tasks.get(connection, ready)
    context.waiting_for_room.clear()
    context.waiting_for_room.update(wait.task_uid for wait in waits)
    names: dict[str, str] = {}
    if waits or cached_tasks or context.room_needed:
        try:
            listed = await dms.storages(everything=True)
        except ServiceError as error:
            log.warning("room.not_known", reason=error.detail)
            return
        names = {storage.url: storage.name for storage in listed}
        needed: dict[str, int | None] = dict.fromkeys(
            storage.url for storage in listed if storage.full
        )
        needed |= _find_largest_needs(waits)
        rooms = {
            url: await _request_room(dms, names.get(url), size) for url, size in needed.items()
        }
        await _record_rooms(context, rooms, names, cached_tasks)
    await _report_freed(context, dms, {wait.url: names.get(wait.url) for wait in waits})


def _find_largest_needs(waits: Collection[TaskRoomWait]) -> dict[str, int]:
    """Return the largest need for each storage, by URL."""
    needed: dict[str, int] = {}
    for wait in waits:
        needed[wait.url] = max(wait.needed, needed.get(wait.url, 0))
    return needed


async def _record_rooms(
    context: WmsContext,
    rooms: Mapping[str, StorageRoom | None],
    names: Mapping[str, str],
    cached_tasks: Mapping[UUID, CachedTask],
) -> None:
    """Store what was found on the storages, and wake pilots if there is something to try."""
    full = {url for url, room in rooms.items() if room is not None and room.full}
    full_reports = {
        uid: StorageFullReport(output.dat_stor_url)
        for uid, cached_task in cached_tasks.items()
        for output in cached_task.task.outputs
        if output.dat_stor_url in full
    }
    opened = False
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await put_room_waits(connection, full_reports)
        context.waiting_for_room.update(full_reports)
        for url, room in sorted(rooms.items()):
            if room is not None:
                opened |= await record_free_space(
                    connection, url, name=names.get(url, ""), free=room.free, full=room.full
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
    context: WmsContext, dms: DmsClient, waiting: Mapping[str, str | None]
) -> None:
    """Tell the DMS about storages that no task waits for any more."""
    for url in context.room_needed.keys() - waiting.keys():
        await _request_room(dms, context.room_needed.pop(url), None)
    context.room_needed.update({url: name for url, name in waiting.items() if name is not None})


async def _request_room(dms: DmsClient, name: str | None, needed: int | None) -> StorageRoom | None:
    """Return the free space of the storage, or None if the DMS does not answer."""
    if name is None:
        return StorageRoom(free=None)
    try:
        return await dms.need_room(name, needed)
    except NotFound:  # the storage is gone
        return StorageRoom(free=None)
    except ServiceError as error:
        log.warning("room.not_known", storage=name, reason=error.detail)
        return None
