"""Closing of data sets: closed data sets can be processed."""

from collections.abc import Callable
from uuid import UUID

from dms.db.datasets import (
    begin_uploads,
    list_complete_datasets,
    lock_dataset,
    mark_closed,
    set_close_at,
    take_closing_lock,
)
from dms.domain.errors import (
    CompletenessDiffers,
    DatasetIsAppendOnly,
    EmptyDataset,
    TooManyFilesForDataset,
    UnknownDataset,
)
from dms.domain.transitions import DATASET_MOVES
from dms.usecases.datasets.require_present import require_no_asset
from sluice.contracts.common.life_cycles import may_move
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.messaging.messages import DATASET_CLOSED, DatasetClosed
from sluice.servicekit.database import Database, Transaction
from sluice.servicekit.running.logging import log_ids
from sluice.servicekit.running.loop import do_nothing
from sluice.text.visible_text import quoted

#: Data sets closed in one transaction.
BATCH = 100


async def close_dataset(
    database: Database, uid: UUID, *, files: int | None, for_asset: bool = False
) -> Dataset:
    """Close a data set, or let it close as soon as ``files`` files are registered.

    The last number given counts until the data set closes. A closed data set stays as it is. An
    input without files can only be closed if it is on demand and ``files`` is 0: it then stands for
    a chain with values only. ``for_asset`` is for the service that stores assets. Sends
    ``dms.dataset-closed``.

    Raises:
        UnknownDataset: The data set does not exist.
        AssetDatasetReadOnly: It holds a version of an asset.
        EmptyDataset: The data set is an input without files.
        TooManyFilesForDataset: It has more files than ``files``.
        CompletenessDiffers: It closed with another number of files.
        DatasetIsAppendOnly: It is append-only.
        Conflict: It is being deleted or is deleted.
    """
    with log_ids(dataset=uid):
        async with database.transaction() as transaction:
            connection = transaction.connection
            await take_closing_lock(connection)
            row = await lock_dataset(connection, uid)
            if row is None:
                raise UnknownDataset(uid)
            dataset = row.dataset
            if not for_asset:
                require_no_asset(dataset)
            if dataset.append_only is not None:
                raise DatasetIsAppendOnly(dataset, "never closes")
            if dataset.state.readable:
                if files is not None and files != row.close_at:
                    raise CompletenessDiffers(
                        uid, dataset.name, registered_count=row.close_at or 0, requested_count=files
                    )
                return dataset
            if not may_move(DATASET_MOVES, dataset.state, DatasetState.CLOSED):
                raise Conflict(
                    f"data set {quoted(dataset.name)} is {dataset.state}: it cannot be closed",
                    state=dataset.state,
                )
            empty = not (files or dataset.count_files)
            may_be_empty = dataset.on_demand and files is not None
            if dataset.type is DatasetType.INPUT and empty and not may_be_empty:
                raise EmptyDataset(uid, dataset.name)
            if files is not None:
                if dataset.count_files > files:
                    raise TooManyFilesForDataset(
                        uid, dataset.name, count=dataset.count_files, complete=files
                    )
                await set_close_at(connection, uid, files)
            closed = await _close(transaction, [uid])
            return closed[0] if closed else dataset


async def close_complete_datasets(
    database: Database, on_found: Callable[[], None] = do_nothing
) -> bool:
    """Close complete data sets, call ``on_found`` if there were any; return if more may exist."""
    closed = await close_complete(database)
    if closed:
        on_found()
    return closed == BATCH


async def close_complete(database: Database) -> int:
    """Close open data sets that have all their files, and return how many were closed.

    If the result is ``BATCH``, there may be more. Sends ``dms.dataset-closed`` for each.
    """
    async with database.transaction() as transaction:
        await take_closing_lock(transaction.connection)
        uids = await list_complete_datasets(transaction.connection, BATCH)
        if uids:
            await _close(transaction, uids)
    return len(uids)


async def _close(transaction: Transaction, uids: list[UUID]) -> list[Dataset]:
    closed = await mark_closed(transaction.connection, uids)
    await begin_uploads(transaction.connection, [dataset.uid for dataset in closed])
    for dataset in closed:
        event = DatasetClosed(uid=dataset.uid, type=dataset.type, state=dataset.state)
        transaction.send(DATASET_CLOSED, event, subject=dataset.uid, dataset=dataset.uid)
    return closed
