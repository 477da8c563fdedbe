"""Register a data set."""

from functools import partial
from uuid import uuid4

from dms.db.datasets import DatasetRow, find_dataset_by_name, find_free_name, insert_dataset
from dms.db.owners import lock_folders
from dms.db.periods import find_run
from dms.db.storages import list_roots
from dms.domain.differences import require_same_request
from dms.domain.places import (
    OutsideStorages,
    StoragePlace,
    require_length_for_files,
    require_unreserved_folder,
    storage_place,
)
from dms.domain.storage_errors import StorageDisabled
from dms.usecases.context import DmsContext
from dms.usecases.datasets.foreign_files import require_folders_present, require_free_folder
from dms.usecases.files.file_reads import FileReads
from dms.usecases.files.require_no_link import require_no_link
from dms.usecases.storages.free_space import RejectionReasons
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.problems import Conflict, NotAvailable, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset, NewDataset
from sluice.contracts.data.reserved_names import require_unreserved
from sluice.servicekit.access.ownership import ownership
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Connection
from sluice.storage import StorageUnavailable
from sluice.text.visible_text import quoted

#: The visibility under which every folder is another group's.
NOTHING = Visibility(frozenset())


async def register_dataset(
    context: DmsContext, new: NewDataset, *, by: Person | None = None, for_asset: bool = False
) -> tuple[Dataset, bool]:
    """Create a data set, and return it with True.

    If its name is registered and the request is the same, return the first one with False.

    Args:
        context: The context of the DMS.
        new: The data set.
        by: The person who asks; None is a service.
        for_asset: The service that stores assets asks, for a person or for itself.

    Raises:
        Conflict: The name is registered with another request or not visible, or the folder is
            taken.
        Forbidden: The person is not in the group, or the folder belongs to another data set.
        ReservedFolder: The folder is reserved for assets.
        UnknownPeriod: The period is not registered.
        Unprocessable: The run is not registered, the name or the metadata is reserved for the
            system, or the folder is outside the storages or a link.
        StorageDisabled: The storage takes no new data.
        NotAvailable: The storage does not answer.
    """
    whose = ownership(by, owner=new.owner, group=new.group)
    for_person = by is not None and not for_asset
    if for_person:
        require_unreserved(new)
    visibility = ALL if by is None or for_asset else by.visibility
    async with context.database.connection() as connection:
        first = await find_dataset_by_name(connection, new.name)
        if first is not None:
            return await _require_same_request(connection, first, new, visibility), False
        if new.url is not None:
            await require_folders_present(connection, [new.url], visibility)
        period = await _period(connection, new)
        folder = await _folder(connection, new, context.storage_monitor.rejection_reasons)
    subject = f"data set {quoted(new.name)}"
    if for_person and folder is not None:
        require_unreserved_folder(folder, subject=subject)
    if folder is not None:
        await _require_no_link(context.reads, folder, subject=subject)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        if for_asset:
            await _require_empty_folder(connection, new)
        elif by is not None and new.url is not None:
            # Another group may have taken a folder around it, or in it, meanwhile.
            await lock_folders(connection)
            await require_folders_present(connection, [new.url], visibility)
            if folder is not None:
                await require_free_folder(connection, new.url, visibility)
        created = await insert_dataset(connection, uuid4(), new, period=period, ownership=whose)
        if created is not None:
            return created, True
        first = await find_dataset_by_name(connection, new.name)
        if first is None:
            raise Conflict(f"{subject}: {new.url} belongs to another data set", url=new.url)
        return await _require_same_request(connection, first, new, visibility), False


async def _require_empty_folder(connection: Connection, new: NewDataset) -> None:
    """Check that no other data set has the folder of an asset, a folder around it or one in it.

    Raises:
        Forbidden: Another data set has such a folder.
    """
    await lock_folders(connection)
    if new.url is not None and await find_dataset_by_name(connection, new.name) is None:
        await require_folders_present(connection, [new.url], NOTHING)
        await require_free_folder(connection, new.url, NOTHING)


async def _require_same_request(
    connection: Connection, first: DatasetRow, new: NewDataset, visibility: Visibility
) -> Dataset:
    """Return the first data set of the name if the request is the same.

    Raises:
        Conflict: The name belongs to another data set, which may be deleted.
    """
    if not visibility.sees(first.dataset.group, first.dataset.shared_with):
        raise Conflict(f"the name {quoted(new.name)} is taken: give the data set another one")
    is_deleted = first.dataset.state in {DatasetState.DELETING, DatasetState.DELETED}
    if is_deleted and first.request != new.model_dump(mode="json"):
        free = await find_free_name(connection, new.name)
        raise Conflict(
            f"the name {quoted(new.name)} belonged to another data set, which is"
            f" {first.dataset.state}, and cannot be used again: choose another name, such as"
            f" {quoted(free)}",
            dataset=first.dataset.uid,
            free=free,
        )
    require_same_request(
        f"data set {quoted(new.name)}",
        first.request,
        new.model_dump(mode="json"),
        dataset=first.dataset.uid,
    )
    return first.dataset


async def _period(connection: Connection, new: NewDataset) -> str | None:
    """Return the requested period, or that of the run."""
    if new.run is None:
        return new.period
    run = await find_run(connection, new.run)
    if run is None:
        raise Unprocessable(
            f"data set {quoted(new.name)}: run {new.run} is not registered", run=new.run
        )
    if new.period not in {None, run.period}:
        raise Unprocessable(
            f"data set {quoted(new.name)}: run {new.run} belongs to period {quoted(run.period)},"
            f" not {quoted(new.period)}"
        )
    return run.period


async def _folder(
    connection: Connection, new: NewDataset, rejection_reasons: RejectionReasons
) -> StoragePlace | None:
    """Return the requested folder; None if there is no folder that must be checked."""
    if new.url is None:
        return None
    subject = f"data set {quoted(new.name)}"
    roots = [root for root in (await list_roots(connection)).values() if root.enabled]
    place = storage_place(new.url, roots, subject=subject)
    require_length_for_files(place, subject=subject)
    if (why := rejection_reasons.get(place.root.id)) is not None:
        raise StorageDisabled(subject, place.root.name, storage_id=place.root.id, why=why)
    if not place.path:
        if new.type is not DatasetType.INPUT:
            raise OutsideStorages(
                subject, new.url, "is the folder of a storage itself: give a folder in it"
            )
        return None
    return place


async def _require_no_link(reads: FileReads, folder: StoragePlace, *, subject: str) -> None:
    try:
        await reads.run(folder.root.url, partial(require_no_link, folder, subject=subject))
    except StorageUnavailable as error:
        raise NotAvailable(f"the folder of {subject} cannot be read: {error}") from error
