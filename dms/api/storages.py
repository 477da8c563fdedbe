"""Routes of storages."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from dms.usecases.context import DmsContext
from dms.usecases.enable_storage import disable_storage, enable_storage
from dms.usecases.list_storages import list_storages, measure_storages
from dms.usecases.note_room_needed import note_room_needed
from dms.usecases.register_storage import register_storage
from dms.usecases.watch_water_marks import find_on_storage, set_marks
from sluice.contracts.access import CallingService, Role
from sluice.contracts.datasets import DatasetUids, NewStorage, Storage, WaterMarks
from sluice.contracts.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.room import RoomNeeded, StorageRoom
from sluice.contracts.states import StorageType
from sluice.servicekit.access.policy import allow
from sluice.servicekit.http import api_router, errors


def storages_router(context: DmsContext) -> APIRouter:
    router = api_router("/api/v1/storages", tags=["storages"])
    _add_registration(router, context)
    _add_reading(router, context)
    _add_use(router, context)
    _add_room(router, context)
    _add_marks(router, context)
    return router


def _add_registration(router: APIRouter, context: DmsContext) -> None:
    @router.post(
        "",
        status_code=201,
        responses={200: {"model": Storage}, **errors(Conflict, Unprocessable, NotAvailable)},
    )
    @allow(Role.ADMIN, CallingService.OPERATOR, CallingService.SETUP)
    async def register(new: NewStorage, response: Response) -> Storage:
        """Registers a storage: 201; the same again: 200 with the first. It has to lie where the
        DMS's settings allow storages (422), apart from all others (409), and is tried out: a small
        file is written, read and deleted there (of a storage that is only read, the list of its
        files is read).
        """
        storage, made = await register_storage(context, new)
        response.status_code = 201 if made else 200
        return storage


def _add_reading(router: APIRouter, context: DmsContext) -> None:
    @router.get("", responses=errors(NotAvailable))
    @allow(Role.VIEWER, CallingService.OPERATOR, CallingService.CHAINS, CallingService.WMS)
    async def storages(
        type: Annotated[StorageType | None, Query()] = None,
        name: Annotated[str | None, Query(description="The storage of this name.")] = None,
        all: Annotated[bool, Query(description="Those too that get no new data sets.")] = False,
        measured: Annotated[
            bool, Query(description="With what is free on each, and how many data sets lie there.")
        ] = False,
    ) -> list[Storage]:
        """Lists storages that get new data sets, those with the most free space first; none is an
        empty list. With `all`: disabled ones too, and those that get no new data sets for another
        reason, which is their `warning`. With `name`: that storage, whether it gets new data sets
        or not.
        """
        everything = all or name is not None
        found = await list_storages(context, type, everything=everything)
        chosen = [storage for storage in found if name in {None, storage.name}]
        return await measure_storages(context, chosen) if measured else chosen

    @router.post("/{name}/datasets", responses=errors(NotFound, NotAvailable))
    @allow(CallingService.CHAINS)
    async def datasets_there(name: str, asked: DatasetUids) -> DatasetUids:
        """Says which of these data sets lie on the storage, by the first file of each. Changes
        nothing.
        """
        return DatasetUids(uids=await find_on_storage(context.database, name, asked.uids))


def _add_use(router: APIRouter, context: DmsContext) -> None:
    @router.post("/{name}/disable", responses=errors(NotFound, NotAvailable))
    @allow(Role.ADMIN, CallingService.OPERATOR)
    async def disable(name: str) -> Storage:
        """Takes a storage out of use: from here on it gets no new data sets; what lies on it can be
        read and deleted. Repeating it is fine.
        """
        return await disable_storage(context, name)

    @router.post(
        "/{name}/enable", responses=errors(NotFound, Conflict, Unprocessable, NotAvailable)
    )
    @allow(Role.ADMIN, CallingService.OPERATOR)
    async def enable(name: str) -> Storage:
        """Takes a storage into use again, if it could be registered today: it gets new data sets.
        Repeating it is fine.
        """
        return await enable_storage(context, name)


def _add_room(router: APIRouter, context: DmsContext) -> None:
    @router.put("/{name}/needed", responses=errors(NotFound, NotAvailable))
    @allow(CallingService.WMS)
    async def needed(name: str, room: RoomNeeded) -> StorageRoom:
        """Notes that jobs wait for room on the storage, or wait no more, and says what is free
        there now. Until a minute after it was said last the storage is shown as full. Repeating it
        is fine.
        """
        return await note_room_needed(context, name, room.needed)


def _add_marks(router: APIRouter, context: DmsContext) -> None:
    @router.put("/{name}/marks", responses=errors(NotFound, Unprocessable, NotAvailable))
    @allow(Role.ADMIN, CallingService.OPERATOR)
    async def mark(name: str, marks: WaterMarks) -> Storage:
        """Sets a storage's water marks: from the high one on it counts as filling, until it is
        below the low one. Repeating it is fine.
        """
        return await set_marks(context, name, marks)

    @router.delete("/{name}/marks", responses=errors(NotFound, NotAvailable))
    @allow(Role.ADMIN, CallingService.OPERATOR)
    async def unmark(name: str) -> Storage:
        """Takes a storage's water marks away. Repeating it is fine."""
        return await set_marks(context, name, None)
