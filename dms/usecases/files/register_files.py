"""Register files of a data set in bulk."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from uuid import UUID

from dms.db.datasets import DatasetRow, add_to_counters, lock_dataset, note_late_files
from dms.db.files import (
    FileAt,
    check_names_and_places,
    find_taken_number,
    insert_files,
    insert_released,
    link_files,
    list_files_by_name,
    lock_files_at,
)
from dms.db.quotas import require_quota
from dms.db.storages import list_roots
from dms.domain.differences import (
    ContentMismatch,
    ContradictoryFiles,
    FileDiffers,
    NumberInUse,
    SubmittedFile,
    new_files,
)
from dms.domain.errors import (
    CompletenessDiffers,
    DatasetIsAppendOnly,
    DatasetNotOpen,
    PlaceRegisteredConcurrently,
    TooManyFilesForDataset,
    UnknownDataset,
)
from dms.usecases.context import DmsContext
from dms.usecases.datasets.require_present import (
    require_files_present,
    require_folders_present,
    require_no_asset,
)
from dms.usecases.files.check_files import NO_FAULTS, Faults, check_files
from dms.usecases.files.submitted_files import (
    find_place,
    require_unreserved,
    require_usable_storages,
    to_submitted,
)
from dms.usecases.removal.release_files import release_registered
from sluice.contracts.access.owners import ALL
from sluice.contracts.access.quotas import quota_holders
from sluice.contracts.common.problems import Conflict, NotAvailable, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, ReplicaState
from sluice.contracts.data.counts import add_counts, counts_in
from sluice.contracts.data.datasets import NewFile, RegistrationCounts
from sluice.contracts.messaging.messages import RegisterFiles
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Connection, Database, Transaction
from sluice.servicekit.running.logging import log_ids
from sluice.text.visible_text import quoted

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
        return await _add(
            transaction.connection,
            row,
            files,
            close_at=None,
            faults=faults,
            bounded=bounded,
        )


async def apply_registration(transaction: Transaction, message: RegisterFiles) -> None:
    """Apply ``dms.files``: register files in the transaction of the message.

    ``close_at`` is kept, and a loop closes the data set when it has this number of files. Files
    of a data set that is being deleted or is deleted are registered only to be removed.

    Raises:
        UnknownDataset: The data set is not registered yet; the message is tried again.
        Unprocessable: The message contradicts the catalogue.
    """
    with log_ids(dataset=message.dataset_uid):
        row = await lock_dataset(transaction.connection, message.dataset_uid)
        if row is None:
            raise UnknownDataset(message.dataset_uid)
        # Disabled storages count, too: the file was written before.
        roots = list((await list_roots(transaction.connection)).values())
        submitted = [to_submitted(file, find_place(file, roots)) for file in message.files]
        try:
            await _add(transaction.connection, row, submitted, close_at=message.close_at, late=True)
        except Conflict as error:
            raise Unprocessable(error.detail, findings=error.findings, **error.fields) from error


async def _add(
    connection: Connection,
    row: DatasetRow,
    files: list[SubmittedFile],
    *,
    close_at: int | None,
    late: bool = False,
    faults: Faults = NO_FAULTS,
    bounded: bool = False,
) -> RegistrationCounts:
    """Register files of a data set whose row is locked.

    ``late`` also takes files for a data set that is being deleted. ``faults`` are those of files
    that must not be new. ``bounded`` applies the quotas of its group and owner.

    Raises:
        QuotaReached: A quota does not allow the new files.
    """
    if row.dataset.append_only is not None:
        raise DatasetIsAppendOnly(row.dataset, "no file can be added")
    being_deleted = row.dataset.state in {DatasetState.DELETING, DatasetState.DELETED}
    is_open = row.dataset.state is DatasetState.OPEN
    if files and not faults and is_open and not any(file.released for file in files):
        registered = await _add_new(connection, row, files, close_at=close_at, bounded=bounded)
        if registered is not None:
            return registered
    uid, existing, places_in_use = row.dataset.uid, {}, False
    if files:
        names_in_use, places_in_use = await check_names_and_places(connection, uid, files)
        if names_in_use:
            existing = await list_files_by_name(connection, uid, [file.name for file in files])
    fresh = new_files(files, existing, numbered=_numbered(row))
    if fresh and not is_open and not (late and being_deleted):
        raise DatasetNotOpen(uid, row.dataset.name, state=row.dataset.state, file=fresh[0].name)
    if faulty := next((file for file in fresh if file.name in faults), None):
        raise ContentMismatch(faulty.name, faulty.url, faults[faulty.name])
    if not being_deleted:
        await _require_numbers(connection, row, fresh)
        _require_complete(row, len(fresh), close_at)
    if fresh:
        files_at_places = (
            await lock_files_at(connection, [file.place for file in fresh]) if places_in_use else {}
        )
        await _insert(
            connection,
            uid,
            fresh,
            files_at_places=files_at_places,
            state=ReplicaState.DELETING if being_deleted else ReplicaState.AVAILABLE,
        )
    if fresh and being_deleted:
        await note_late_files(connection, uid)
    if fresh or (close_at is not None and row.close_at is None):
        await _count(connection, row, fresh, close_at=close_at, bounded=bounded)
    return RegistrationCounts(new=len(fresh), known=len(files) - len(fresh))


async def _add_new(
    connection: Connection,
    row: DatasetRow,
    files: list[SubmittedFile],
    *,
    close_at: int | None,
    bounded: bool,
) -> RegistrationCounts | None:
    """Try to register all files as new, which they nearly always are.

    Unique indexes detect files that are not new. Returns None if nothing was done.
    """
    try:
        fresh = new_files(files, {}, numbered=_numbered(row))
        _require_complete(row, len(fresh), close_at)
        async with connection.transaction():
            inserted = await insert_files(
                connection,
                row.dataset.uid,
                fresh,
                state=ReplicaState.AVAILABLE,
                numbered=_numbered(row),
            )
    except (ContradictoryFiles, TooManyFilesForDataset, PlaceRegisteredConcurrently):
        return None
    if not inserted:
        return None
    await _count(connection, row, fresh, close_at=close_at, bounded=bounded)
    return RegistrationCounts(new=len(fresh), known=len(files) - len(fresh))


async def _count(
    connection: Connection,
    row: DatasetRow,
    fresh: Sequence[SubmittedFile],
    *,
    close_at: int | None,
    bounded: bool,
) -> None:
    """Add new files to the counters; a file that is sent again does not count again."""
    counts: dict[str, int] | None = None
    for file in fresh:
        if own_counts := counts_in(file.meta):
            counts = add_counts(row.counts if counts is None else counts, own_counts)
    size = sum(file.size for file in fresh)
    if bounded:
        holders = quota_holders(group=row.dataset.group, owner=row.dataset.owner)
        await require_quota(connection, holders, size=size, files=len(fresh))
    uid = row.dataset.uid
    await add_to_counters(
        connection, uid, files=len(fresh), size=size, close_at=close_at, counts=counts
    )
    if fresh and row.read_ahead and row.dataset.state is DatasetState.OPEN:
        await release_registered(connection, uid, [file.seq for file in fresh])


def _numbered(row: DatasetRow) -> bool:
    """Return whether each file has its own number.

    Several attempts of a job each leave a log with the number of the job.
    """
    return row.dataset.type is not DatasetType.LOGS


async def _require_numbers(
    connection: Connection, row: DatasetRow, fresh: Sequence[SubmittedFile]
) -> None:
    """Check that no registered file has the number of a new one; the caller holds the lock."""
    if not fresh or not _numbered(row):
        return
    in_use = await find_taken_number(connection, row.dataset.uid, [file.seq for file in fresh])
    if in_use is not None:
        seq, other = in_use
        raise NumberInUse(next(file.name for file in fresh if file.seq == seq), other, seq=seq)


def _require_complete(row: DatasetRow, new: int, close_at: int | None) -> None:
    uid, name = row.dataset.uid, row.dataset.name
    if close_at is not None and row.close_at is not None and close_at != row.close_at:
        raise CompletenessDiffers(
            uid, name, registered_count=row.close_at, requested_count=close_at
        )
    complete = close_at if row.close_at is None else row.close_at
    count = row.dataset.count_files + new
    if complete is not None and count > complete:
        raise TooManyFilesForDataset(uid, name, count=count, complete=complete)


async def _insert(
    connection: Connection,
    uid: UUID,
    files: list[SubmittedFile],
    *,
    files_at_places: Mapping[tuple[UUID, str], FileAt],
    state: ReplicaState,
) -> None:
    """Insert files; ``files_at_places`` has the registered files at the same places."""
    shared: list[tuple[SubmittedFile, int]] = []
    unreleased = [file for file in files if not file.released]
    for file in unreleased:
        if (other := files_at_places.get(file.place)) is None:
            continue
        if other.state is not ReplicaState.AVAILABLE:
            raise Conflict(
                f"file {quoted(file.name)}: the file at {file.url} is being deleted; give it"
                " another url",
                file=file.name,
            )
        if (other.size, other.checksum) != (file.size, file.checksum):
            content = f"{other.size} bytes, sha256:{other.checksum.hex()}"
            raise FileDiffers(file.name, f"content at {file.url} ({content})")
        shared.append((file, other.file_id))
    if new := [file for file in unreleased if file.place not in files_at_places]:
        await insert_files(connection, uid, new, state=state, numbered=False)  # checked before
    if released := [file for file in files if file.released]:
        await insert_released(connection, uid, released)
    if shared:
        await link_files(connection, uid, shared)
