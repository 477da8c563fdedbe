"""Cut a slice of the new files in an append-only data set for a reader."""

from uuid import UUID, uuid4

from dms.db.append_only import cut_files, find_slice, get_last_slice, mark_slice, note_slice
from dms.db.datasets import DatasetRow, add_to_counters, insert_dataset, lock_dataset
from dms.domain.errors import DatasetNotAppendOnly, UnknownDataset
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.append_only import CutAnswer, CutSlice, SliceOf
from sluice.contracts.data.datasets import NewDataset
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection, Database
from sluice.servicekit.running.logging import log_ids

#: Characters of the reader's name in the name of a slice. The slice also has the full name.
_READER = 80


async def cut_slice(database: Database, uid: UUID, cut: CutSlice) -> CutAnswer:
    """Create a data set of the files that the reader was not given yet, or of all files.

    The slice has the files by reference, and a loop closes it. The lock on the append-only data
    set ensures that each file is given once. The answer names no slice if there is no new file or
    another request was faster. If a slice exists for the occasion, the answer names it.

    Raises:
        UnknownDataset: The data set does not exist.
        DatasetNotAppendOnly: The data set is not append-only, or not open.
    """
    with log_ids(dataset=uid):
        async with database.transaction() as transaction:
            connection = transaction.connection
            row = await lock_dataset(connection, uid)
            if row is None:
                raise UnknownDataset(uid)
            if row.dataset.append_only is None or row.dataset.state is not DatasetState.OPEN:
                raise DatasetNotAppendOnly(row.dataset)
            if cut.occasion is not None:
                existing = await find_slice(connection, uid, cut)
                if existing is not None:
                    return CutAnswer(dataset_uid=existing)
            last = await get_last_slice(connection, uid, cut.reader)
            if last.used != cut.after or last.used >= row.dataset.count_files:
                return CutAnswer()
            slice_of = SliceOf(
                append_only=uid,
                name=row.dataset.append_only,
                reader=cut.reader,
                number=last.number + 1,
            )
            slice_uid = await _create(connection, row, slice_of)
            first, until = (0 if cut.all else last.used), row.dataset.count_files
            slice_files = await cut_files(connection, slice_uid, uid, first=first, until=until)
            await add_to_counters(
                connection,
                slice_uid,
                files=slice_files.files,
                size=slice_files.size,
                close_at=slice_files.files,
                counts=None,
            )
            await note_slice(
                connection,
                slice_of,
                first=first,
                used_entries=until,
                occasion=cut.occasion,
                dataset=slice_uid,
            )
        return CutAnswer(dataset_uid=slice_uid)


async def _create(connection: Connection, append_only: DatasetRow, slice_of: SliceOf) -> UUID:
    """Create a slice with the metadata and group of the append-only data set, and no owner."""
    parent, further = append_only.dataset, 1
    name = f"{parent.name}.{slice_of.reader[:_READER]}.{slice_of.number}"
    while True:
        candidate = name if further == 1 else f"{name}-{further}"
        new = NewDataset(name=candidate, meta=parent.meta, group=parent.group)
        whose = Ownership(None, parent.group)
        created = await insert_dataset(connection, uuid4(), new, period=None, ownership=whose)
        if created is not None:
            await mark_slice(connection, created.uid, slice_of, shared_with=parent.shared_with)
            return created.uid
        further += 1
