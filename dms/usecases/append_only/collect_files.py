"""Append the output of a chain to an append-only data set."""

from uuid import UUID, uuid4

from dms.db.append_only import (
    CollectedSource,
    append_files,
    find_collected,
    lock_append_only,
    mark_append_only,
    note_collected,
)
from dms.db.datasets import DatasetRow, add_to_counters, insert_dataset, lock_dataset
from dms.domain.errors import DatasetNotCollectable, DatasetTypeDiffers, UnknownDataset
from sluice.contracts.data.append_only import Collect, Collected, CollectFiles
from sluice.contracts.data.datasets import NewDataset
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection, Database
from sluice.servicekit.running.logging import log_ids


async def collect_files(
    database: Database, uid: UUID, request: CollectFiles, *, chain_input: UUID | None = None
) -> Collected:
    """Append the files of a closed data set to an append-only data set of a group, by reference.

    The append-only data set is created if it does not exist. A repeated request has no effect. The
    files stay with the append-only data set when the source is deleted. They get the generation of
    ``chain_input``, the input of the chain that wrote them, if that is a slice.

    Raises:
        UnknownDataset: The source does not exist.
        DatasetNotCollectable: The source is not closed, or is deleted.
        DatasetTypeDiffers: The append-only data set has another type.
    """
    into, group = request.into, request.group
    with log_ids(dataset=uid):
        async with database.transaction() as transaction:
            connection = transaction.connection
            # The source is always locked first, so that no deadlock occurs.
            source = await lock_dataset(connection, uid)
            if source is None:
                raise UnknownDataset(uid)
            append_only = await lock_append_only(connection, into.name, group)
            if (before := await find_collected(connection, uid, into.name, group)) is not None:
                return Collected(append_only=before[0], files=before[1])
            _require_files(source)
            if append_only is None:
                append_only = await _create(connection, into, group)
            elif append_only.dataset.meta.get("type") != into.type:
                raise DatasetTypeDiffers(into, append_only.dataset)
            where = append_only.dataset.uid
            first = append_only.dataset.count_files
            appended = await append_files(connection, where, uid, first=first)
            await add_to_counters(
                connection,
                where,
                files=appended.files,
                size=appended.size,
                close_at=None,
                counts=None,
            )
            source_record = CollectedSource(where, appended.files, until=first + appended.files)
            await note_collected(
                connection,
                uid,
                into.name,
                group,
                source_record=source_record,
                chain_input=chain_input,
            )
        return Collected(append_only=where, files=appended.files)


def _require_files(source: DatasetRow) -> None:
    """Check that the source can be appended; its lock keeps its files."""
    if not source.dataset.usable:
        raise DatasetNotCollectable(source.dataset)


async def _create(connection: Connection, into: Collect, group: str) -> DatasetRow:
    """Create an append-only data set with its name, or with the first free numbered name.

    A name is never free again, and all groups share one namespace.
    """
    number = 1
    while True:
        candidate = into.name if number == 1 else f"{into.name}-{number}"
        new = NewDataset(name=candidate, meta={"type": into.type}, group=group)
        whose = Ownership(None, group)
        created = await insert_dataset(connection, uuid4(), new, period=None, ownership=whose)
        if created is not None:
            return await mark_append_only(connection, created.uid, into.name)
        number += 1
