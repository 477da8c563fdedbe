"""Collecting what a chain gives in a data set that grows."""

from uuid import UUID, uuid4

from dms.db.datasets import DatasetRow, add_to_counters, insert_dataset, lock_dataset
from dms.db.standing import (
    Noted,
    append_files,
    collected,
    lock_standing,
    mark_standing,
    note_collected,
)
from dms.domain.errors import NothingToCollect, OtherType, UnknownDataset
from sluice.contracts.datasets import NewDataset
from sluice.contracts.standing import Collect, Collected, CollectFiles
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection, Database
from sluice.servicekit.logging import log_ids


async def collect_files(
    database: Database, uid: UUID, asked: CollectFiles, *, made_of: UUID | None = None
) -> Collected:
    """Precondition: the data set is closed, and not deleted, unless it was collected before.
    Effect: its files are appended by reference to the group's standing data set, once whatever is
    repeated, and live on with that one; where there is none it is made. They are of the generation
    of ``made_of``, the input of the chain that wrote them, where that is a slice. Messages: none.

    Raises ``UnknownDataset``, ``NothingToCollect``, ``OtherType``.
    """
    into, group = asked.into, asked.group
    with log_ids(dataset=uid):
        async with database.transaction() as transaction:
            connection = transaction.connection
            # The source before the standing one, always: nobody waits in a circle.
            source = await lock_dataset(connection, uid)
            if source is None:
                raise UnknownDataset(uid)
            standing = await lock_standing(connection, into.name, group)
            if (before := await collected(connection, uid, into.name, group)) is not None:
                return Collected(standing=before[0], files=before[1])
            _require_files(source)
            if standing is None:
                standing = await _make(connection, into, group)
            elif standing.dataset.meta.get("type") != into.type:
                raise OtherType(into, standing.dataset)
            where = standing.dataset.uid
            first = standing.dataset.count_files
            added = await append_files(connection, where, uid, first=first)
            await add_to_counters(
                connection, where, files=added.files, size=added.size, close_at=None, counts=None
            )
            noted = Noted(where, added.files, until=first + added.files)
            await note_collected(connection, uid, into.name, group, noted=noted, made_of=made_of)
        return Collected(standing=where, files=added.files)


def _require_files(source: DatasetRow) -> None:
    """Locked as it is, what holds its files cannot let go of them meanwhile."""
    if not source.dataset.usable:
        raise NothingToCollect(source.dataset)


async def _make(connection: Connection, into: Collect, group: str) -> DatasetRow:
    """Called by its name, or where that is taken by the next one that is free: names are never
    free again, and one namespace for all groups.
    """
    number = 1
    while True:
        called = into.name if number == 1 else f"{into.name}-{number}"
        new = NewDataset(name=called, meta={"type": into.type}, group=group)
        whose = Ownership(None, group)
        made = await insert_dataset(connection, uuid4(), new, period=None, whose=whose)
        if made is not None:
            return await mark_standing(connection, made.uid, into.name)
        number += 1
