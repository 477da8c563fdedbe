"""What `sluice run` does, one function a stage: bring files in, ask for their processing, follow it, bring the outputs out."""

import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from sluice import storage
from sluice.cli.connect import Connection
from sluice.cli.entries import ToBringIn, ToBundle
from sluice.cli.unpacking import unpack_output
from sluice.cli.waits import OnWait, Waits
from sluice.contracts.chains import Chain, ChainTask
from sluice.contracts.datasets import Dataset, File, NewDataset, NewFile
from sluice.contracts.naming import own_name
from sluice.contracts.plan import PlanOutput
from sluice.contracts.problems import NotAvailable, Unprocessable
from sluice.contracts.states import EntryKind, JobState, StorageType
from sluice.contracts.tasks import Job
from sluice.contracts.templates import Template

#: Seconds between two looks at a chain: few at first, then up to the longest.
FIRST_LOOK, LONGEST_LOOK = 0.05, 0.5


@dataclass(frozen=True, slots=True)
class Output:
    """A file written to the output folder: ``name`` is its path there. ``file``: of the catalogue, or of what it was in."""

    path: Path
    name: str
    file: File
    output: str
    size: int
    checksum: str


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


async def bring_out(connection: Connection, chain: Chain, template: Template, folder: Path) -> list[Output]:
    """Copies the workflow's outputs into ``folder`` (verified), under the names their tools gave them where those are unique; for
    what is no plain file see ``unpack_output``."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    found = [
        (output, file)
        for output in template.plan.outputs
        for dataset in chain.datasets
        if (dataset.step, dataset.port) == (output.step, output.port)
        async for file in connection.dms.all_files(dataset.uid)
    ]
    counts = Counter(own_name(file.name) for output, file in found if output.kind is EntryKind.FILE)
    bundled = [output for output in template.plan.outputs if output.kind is EntryKind.BUNDLE]
    counts.update([*(output.name for output in bundled), *(f"{output.name}.json" for output in bundled)])
    written: list[Output] = []
    for output, file in found:
        if output.kind is EntryKind.FILE:
            own = own_name(file.name)
            path = folder / (own if counts[own] == 1 else f"{output.name}-{file.seq:06d}-{own}")
            await asyncio.to_thread(_copy_out, file, path)
            written.append(Output(path, path.name, file, output.name, file.size, file.checksum))
    for output in bundled:
        files = [file for other, file in found if other is output]
        written += await asyncio.to_thread(_unpack_out, files, output, folder)
    return written


async def failures(connection: Connection, tasks: Sequence[ChainTask]) -> list[tuple[str, Job]]:
    """(step, job) of every failed job."""
    found: list[tuple[str, Job]] = []
    for task in tasks:
        if task.jobs is not None and task.jobs.failed:
            page = await connection.operator.jobs(task.task_id, state=JobState.FAILED, limit=1000)
            found += [(task.step, job) for job in page.jobs]
    return found


def write_manifest(folder: Path, outputs: Sequence[Output], *, chain: Chain) -> Path:
    """``manifest.json``: name, size, sha256 and origin of every output, in order; the template has no version where the run
    brought it."""
    manifest: dict[str, Any] = {
        "chain": str(chain.uid),
        "template": {"name": chain.template_name, "version": chain.template_version or None},
        "dataset": {"uid": str(chain.dataset_uid), "name": chain.dataset_name},
        "parameters": chain.params,
        "outputs": [
            {
                "name": output.name,
                "output": output.output,
                "size": output.size,
                "sha256": output.checksum.removeprefix("sha256:"),
                "origin": output.file.origin,
                "meta": output.file.meta,
            }
            for output in outputs
        ],
    }
    path = folder / "manifest.json"
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return path


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


def _copy_out(file: File, path: Path) -> None:
    storage.copy(file.url, storage.local_url(path), checksum=file.checksum, size=file.size)


def _unpack_out(files: Sequence[File], output: PlanOutput, folder: Path) -> list[Output]:
    return [
        Output(
            path=found.path,
            name=found.path.relative_to(folder).as_posix(),
            file=found.file,
            output=output.name,
            size=found.path.stat().st_size,
            checksum=storage.checksum_of(found.path),
        )
        for found in unpack_output(files, output, folder)
    ]
