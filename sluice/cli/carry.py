"""What `sluice run` does, one function a stage: bring files in, ask for their processing, follow it. Results: ``bring_out``."""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

from sluice import storage
from sluice.cli.connect import Connection
from sluice.cli.entries import ToBringIn, ToBundle
from sluice.cli.waits import OnWait, Waits
from sluice.contracts.chains import Chain, ChainTask
from sluice.contracts.datasets import Dataset, NewDataset, NewFile
from sluice.contracts.problems import NotAvailable, Unprocessable
from sluice.contracts.states import JobState, StorageType
from sluice.contracts.tasks import Job

#: Seconds between two looks at a chain: few at first, then up to the longest.
FIRST_LOOK, LONGEST_LOOK = 0.05, 0.5


async def bring_in(
    connection: Connection, files: Sequence[ToBringIn], *, dataset: NewDataset, on_file: Callable[[int], None]
) -> Dataset:
    """Copies the files (and bundles of what is no plain file) to an input storage, registers them in their order, closes the data
    set. ``on_file`` gets bytes done."""
    stores = await connection.dms.storages(StorageType.INPUT)
    if not stores:
        raise NotAvailable("the system has no input storage: register one with `sluice storage add`")
    folder = f"{stores[0].url}/{dataset.name}"
    registered = await connection.dms.register_dataset(dataset.model_copy(update={"url": folder}))
    entries: list[NewFile] = []
    for seq, (path, name) in enumerate(zip(files, _unique_names(files), strict=True)):
        url = f"{folder}/{name}"
        stored = await asyncio.to_thread(_put, path, url)
        source = path.source.name if isinstance(path, ToBundle) else path.name
        entries.append(NewFile(seq=seq, name=name, size=stored.size, checksum=stored.checksum, url=url, meta={"source": source}))
        on_file(stored.size)
    await connection.dms.register_files(registered.uid, entries)
    return await connection.dms.close_dataset(registered.uid, files=len(files))


async def chain_of(connection: Connection, dataset_uid: UUID) -> Chain:
    """The chain that the intake makes for a data set; ``TimeoutError`` when none does."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for chain in (await connection.operator.chains(limit=5)).chains:
            if chain.dataset_uid == dataset_uid:
                return chain
        await asyncio.sleep(FIRST_LOOK)
    raise TimeoutError("no template took the data set within 30 s")


async def follow(
    connection: Connection,
    chain: Chain,
    *,
    on_look: Callable[[Chain, Sequence[ChainTask]], None],
    on_wait: OnWait | None = None,
) -> Chain:
    """Looks at the chain until it has ended; ``on_look`` gets the chain and its tasks with their counts each time, ``on_wait`` a
    step of which no job has been at work for a while, with the reason, whenever the reason is another one."""
    pause = FIRST_LOOK
    waits = Waits(connection, on_wait)
    while True:
        try:
            chain, tasks = await asyncio.gather(connection.operator.chain(chain.uid), connection.operator.tasks(chain=chain.uid))
            on_look(chain, tasks.tasks)
            await waits.look(tasks.tasks)
        except NotAvailable:
            pass  # an outage of the system; what it does is not lost, look again
        if chain.state.final:
            return chain
        await asyncio.sleep(pause)
        pause = min(1.3 * pause, LONGEST_LOOK)


async def failures(connection: Connection, tasks: Sequence[ChainTask]) -> list[tuple[str, Job]]:
    """(step, job) of every failed job."""
    found: list[tuple[str, Job]] = []
    for task in tasks:
        if task.jobs is not None and task.jobs.failed:
            page = await connection.operator.jobs(task.task_id, state=JobState.FAILED, limit=1000)
            found += [(task.step, job) for job in page.jobs]
    return found


def _put(entry: ToBringIn, url: str) -> storage.Stored:
    if isinstance(entry, Path):
        return storage.put(entry, url)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bundle"
        try:
            storage.pack(entry.value, path)
        except storage.BundleError as error:
            raise Unprocessable(f"{entry.source.name} cannot be brought in: {error}") from error
        return storage.put(path, url, move=True)


def _unique_names(files: Sequence[ToBringIn]) -> list[str]:
    counts = Counter(path.name for path in files)
    return [path.name if counts[path.name] == 1 else f"{seq:06d}-{path.name}" for seq, path in enumerate(files)]
