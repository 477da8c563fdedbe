"""Upload of local files as a data set, and deletion of a data set that is not needed."""

import asyncio
import contextlib
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sluice import cwl_values, storage
from sluice.clientkit.connection import Connection
from sluice.clientkit.output import err
from sluice.clientkit.transfer.folders import is_hidden
from sluice.clientkit.transfer.input_storage import choose_input_storage
from sluice.clientkit.transfer.inputs import (
    NAMELESS,
    InputEntry,
    describe_name_problem,
    source_path,
    total_bytes,
)
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.access.quotas import (
    HolderKind,
    Quantity,
    Quota,
    QuotaHolder,
    Quotas,
    ReachedQuota,
)
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import Conflict, Finding, ServiceError, Unprocessable
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset, NewDataset, NewFile
from sluice.text.visible_text import quoted, shown_path

#: A file of at least the first size is registered at once, others in batches of the second
#: number. Registered files are deleted with their data set if this process is killed.
_LARGE, _BATCH = 1 << 20, 500


async def upload_files(
    connection: Connection,
    files: Sequence[InputEntry],
    *,
    dataset: NewDataset,
) -> Dataset:
    """Copy files and bundles to an input storage, register them in order, and close the data set.

    If this fails or is interrupted, everything that it created is removed.

    Raises:
        Conflict: A closed data set has this name, or a quota does not suffice.
        Unprocessable: A file has an unsuitable name, or cannot be copied.
        NotAvailable: No input storage has enough space.
    """
    names = _unique_names(files)
    if problems := [
        Finding(message=f"{quoted(name)}: {why}")
        for name in names
        if (why := describe_name_problem(name))
    ]:
        raise Unprocessable("the data set cannot have files of these names", findings=problems)
    await _require_space(connection, files, dataset)
    target = await choose_input_storage(connection, needed_bytes=total_bytes(files))
    folder = f"{target.url}/{dataset.name}"
    registered, is_new = await _make_dataset(connection, dataset, folder)
    if registered.state is not DatasetState.OPEN:
        raise Conflict(
            f"data set {quoted(dataset.name)} already exists, {registered.state} with"
            f" {format_count(registered.count_files, 'file')}: choose another name, such as"
            f" {dataset.name[:190]}-2; the names of deleted data sets cannot be used again"
        )
    urls = [f"{folder}/{name}" for name in names]
    try:
        if is_new:
            await connection.own(registered.uid)
        entries: list[NewFile] = []
        for seq, (path, url) in enumerate(zip(files, urls, strict=True)):
            stored = await _upload_entry(path, url)
            entries.append(_new_file(seq, path, url, stored))
            if stored.size >= _LARGE or len(entries) == _BATCH:
                await connection.dms.register_many_files(registered.uid, entries)
                entries.clear()
        await connection.dms.register_many_files(registered.uid, entries)
        return await connection.dms.close_dataset(registered.uid, files=len(files))
    except BaseException:
        if is_new:
            await asyncio.to_thread(_remove_files, urls)
            await delete_unused_dataset(connection, registered)
        raise


async def _make_dataset(
    connection: Connection, dataset: NewDataset, folder: str
) -> tuple[Dataset, bool]:
    """Register a data set as a copy."""
    new = dataset.model_copy(update={"url": folder, "copied": True})
    return await connection.dms.make_dataset(new)


async def _require_space(
    connection: Connection, files: Sequence[InputEntry], dataset: NewDataset
) -> None:
    """Check the quotas before anything is created, because a name can be used only once.

    Raises:
        Conflict: A quota does not suffice.
    """
    try:
        me = await connection.operator.get_own_account()
        own = await connection.operator.get_person_quotas(me.name)
        all_groups = (await connection.operator.list_groups()).groups
    except ServiceError:  # the services check the quotas again
        return
    group, groups = (
        dataset.group or next(iter(me.groups), EVERYONE),
        {e.name: e for e in all_groups},
    )
    holders: list[tuple[QuotaHolder, Quotas]] = [(QuotaHolder(HolderKind.PERSON, me.name), own)]
    if group in groups:
        holders.insert(0, (QuotaHolder(HolderKind.GROUP, group), groups[group]))
    more = {Quantity.BYTES: total_bytes(files) or 0, Quantity.FILES: len(files)}
    for holder, quotas in holders:
        for quantity, number in more.items():
            quota: Quota = getattr(quotas, quantity)
            if not quota.leaves(number):
                reached = ReachedQuota(holder, quantity, quota, number)
                raise Conflict(
                    f"{reached}: this would add {quantity.in_words(number)}; nothing was started"
                )


async def create_empty_dataset(connection: Connection, dataset: NewDataset) -> Dataset:
    """Create the placeholder data set of a workflow that takes none: closed, on no storage."""
    registered = await connection.dms.register_dataset(dataset)
    await connection.own(registered.uid)
    return await connection.dms.close_dataset(registered.uid, files=0)


async def delete_unused_dataset(connection: Connection, dataset: Dataset) -> None:
    """Delete the data set of a chain that was not created, or print why that fails."""
    try:
        await connection.operator.delete_dataset(dataset.uid)
    except ServiceError as error:
        err.print(f"data set {dataset.name} was not removed: {error.detail}")


class _Canceled(Exception):
    """The upload was canceled."""


async def _upload_entry(entry: InputEntry, url: str) -> storage.StoredFile:
    """Copy an entry to a storage.

    If the caller is canceled, the copy ends before anything else happens, and nothing of it stays.

    Raises:
        Unprocessable: The entry cannot be copied.
    """
    canceled = threading.Event()

    def check() -> None:
        if canceled.is_set():
            raise _Canceled

    copying = asyncio.create_task(asyncio.to_thread(store_entry, entry, url, check))
    try:
        return await asyncio.shield(copying)
    except storage.StorageError as error:
        raise Unprocessable(
            f"{shown_path(source_path(entry))} could not be copied: {error}"
        ) from error
    except asyncio.CancelledError:
        canceled.set()
        await asyncio.gather(copying, return_exceptions=True)
        raise


def _new_file(seq: int, entry: InputEntry, url: str, stored_file: storage.StoredFile) -> NewFile:
    """Return the request that registers a file, with its time of modification.

    Of files with the same name, it has the complete paths.
    """
    name, source_file = url.rsplit("/", 1)[1], source_path(entry)
    source = source_file.name if name == entry.name else str(source_file)
    meta = {"source": source}
    if source_file != NAMELESS:
        modified = datetime.fromtimestamp(source_file.stat().st_mtime, UTC)
        meta["modified"] = modified.isoformat()
    return NewFile(
        seq=seq,
        name=name,
        size=stored_file.size,
        checksum=stored_file.checksum,
        url=url,
        meta=meta,
    )


def _remove_files(urls: Sequence[str]) -> None:
    for url in urls:
        with contextlib.suppress(storage.StorageError):  # the first error is the one to report
            storage.remove(url)


def store_entry(entry: InputEntry, url: str, check: Callable[[], None]) -> storage.StoredFile:
    """Copy a file, or the bundle of an entry, to a storage.

    Args:
        entry: The entry.
        url: The target.
        check: A function that is called during the copy, and may end it by an exception.

    Raises:
        Unprocessable: The entry cannot be packed.
    """
    if isinstance(entry, Path):
        return storage.put(entry, url, check=check)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bundle"
        try:
            cwl_values.pack(entry.value, path, leave_out=is_hidden, keep_listings=True)
        except cwl_values.BundleError as error:
            raise Unprocessable(f"{shown_path(entry.source)} cannot be copied: {error}") from error
        with path.open("rb") as file:
            return storage.put_open(file.fileno(), url, may_link=True, check=check)


def _unique_names(files: Sequence[InputEntry]) -> list[str]:
    counts = Counter(path.name for path in files)
    return [
        path.name if counts[path.name] == 1 else f"{seq:06d}-{path.name}"
        for seq, path in enumerate(files)
    ]
