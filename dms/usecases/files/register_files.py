"""Register files of a data set in bulk."""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from dms.db.datasets import lock_dataset
from dms.db.storages import list_roots
from dms.domain.differences import SubmittedFile
from dms.domain.errors import PlaceRegisteredConcurrently, UnknownDataset
from dms.usecases.context import DmsContext
from dms.usecases.datasets.foreign_files import require_files_present, require_folders_present
from dms.usecases.datasets.require_no_asset import require_no_asset
from dms.usecases.files.check_files import Faults, check_files
from dms.usecases.files.file_registration import add_files
from dms.usecases.files.submitted_files import (
    find_place,
    require_unreserved,
    require_usable_storages,
    to_submitted,
)
from sluice.contracts.access.owners import ALL
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.data.datasets import NewFile, RegistrationCounts
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from sluice.servicekit.running.logging import log_ids

#: How often a registration is tried while other requests register files at the same places.
MAX_TRIES = 3


async def register_files(
    context: DmsContext,
    uid: UUID,
    files: Sequence[NewFile],
    *,
    by: Person | None = None,
    for_asset: bool = False,
) -> RegistrationCounts:
    """Register files of a data set in one transaction; registered files that are equal are skipped.

    The data set must be open unless all files are known. With ``context.verify_files``, new files
    on local storages must exist as announced, unless they are announced as released. ``by`` is the
    person who asks. ``for_asset`` is for the service that stores assets, which asks for a person,
    too.

    Raises:
        UnknownDataset: The data set does not exist.
        AssetDatasetReadOnly: It holds a version of an asset.
        ReservedFolder: The folder of a file is reserved for assets.
        Unprocessable: The metadata of a file has a key that the system sets itself.
        DatasetNotOpen: It is not open.
        DatasetIsAppendOnly: It is append-only.
        ContentMismatch: A file does not exist, or has another size.
        FileDiffers: A different file of the same name is registered.
        ContradictoryFiles: Two files of the request contradict each other.
        NumberInUse: Another file has the same number.
        OutsideStorages: A file is outside the storages or behind a link.
        StorageDisabled: A storage takes no new data.
        TooManyFilesForDataset: The data set would have too many files.
        NotAvailable: A storage does not answer, or other requests register files at the same URLs.
        Forbidden: A file belongs to, or is in the folder of, a data set that ``by`` does not see.
        QuotaReached: A quota does not allow the files.
    """
    visibility = ALL if by is None or for_asset else by.visibility
    async with context.database.connection() as connection:
        roots = [root for root in (await list_roots(connection)).values() if root.enabled]
        places = [find_place(file, roots) for file in files]
        await require_folders_present(connection, [file.url for file in files], visibility)
        await require_files_present(
            connection, [(place.root.id, place.path) for place in places], visibility
        )
    if by is not None and not for_asset:
        require_unreserved(files, places)
    require_usable_storages(files, places, context.storage_monitor.rejection_reasons)
    submitted = [to_submitted(file, place) for file, place in zip(files, places, strict=True)]
    faults = await check_files(context.reads, files, places, verify=context.verify_files)
    with log_ids(dataset=uid):
        for _ in range(MAX_TRIES):
            with suppress(PlaceRegisteredConcurrently):
                return await _register(
                    context.database, uid, submitted, faults=faults, by=by, for_asset=for_asset
                )
    raise NotAvailable(
        "other requests register files at the same URLs at this moment: send the files again"
    )


async def _register(
    database: Database,
    uid: UUID,
    files: list[SubmittedFile],
    *,
    faults: Faults,
    by: Person | None,
    for_asset: bool,
) -> RegistrationCounts:
    async with database.transaction() as transaction:
        row = await lock_dataset(transaction.connection, uid)
        if row is None:
            raise UnknownDataset(uid)
        if not for_asset:
            require_no_asset(row.dataset)
        bounded = by is not None
        return await add_files(
            transaction.connection,
            row,
            files,
            close_at=None,
            faults=faults,
            bounded=bounded,
        )
