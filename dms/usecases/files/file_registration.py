"""Registration of files of a data set whose row is locked."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from dms.db.datasets import DatasetRow, add_to_counters, note_late_files
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
)
from dms.usecases.files.check_files import NO_FAULTS, Faults
from dms.usecases.removal.release_registered import release_registered
from sluice.contracts.access.quotas import quota_holders
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import DatasetState, DatasetType, ReplicaState
from sluice.contracts.data.counts import add_counts, counts_in
from sluice.contracts.data.datasets import RegistrationCounts
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted


async def add_files(
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
