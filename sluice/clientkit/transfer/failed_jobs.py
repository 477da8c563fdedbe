"""The logs of failed jobs, and the files that earlier steps made for them."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

from sluice.clientkit.connection import Connection
from sluice.clientkit.transfer.download import fetch_files
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.data.datasets import File
from sluice.contracts.jobs.tasks import Job

#: The folder beside the outputs, with a folder for each step and, in it, each failed job.
FOLDER = "failed"
#: The most failed jobs of a chain that are fetched. The manifest names all.
MAX_JOBS = 1000


async def fetch_failed_jobs(
    connection: Connection, chain: Chain, failed_jobs: Sequence[tuple[str, Job]], folder: Path
) -> list[Path]:
    """Write the log of each failed job, and the files of earlier steps that it was given.

    Return the paths of the written files.

    Args:
        connection: The connection to the system.
        chain: The chain, which has ended.
        failed_jobs: Each failed job with its step.
        folder: The folder of the outputs. It gets folders ``failed/STEP/NUMBER-INPUT``.

    Raises:
        ServiceError: A file cannot be fetched. Logs that are gone are left out.
        StorageError: A file cannot be fetched.
    """
    written_paths = list[Path]()
    folders = {job.id: _job_folder(folder, step, job) for step, job in failed_jobs[:MAX_JOBS]}
    for _, job in failed_jobs[:MAX_JOBS]:
        await asyncio.to_thread(folders[job.id].mkdir, parents=True, exist_ok=True)
        try:
            log = await connection.operator.get_job_log(job.id)
        except ServiceError:
            continue
        written_paths.append(folders[job.id] / "log.txt")
        await asyncio.to_thread(written_paths[-1].write_text, log, encoding="utf-8")
    files = await _list_input_files(connection, chain, failed_jobs[:MAX_JOBS], folders)
    await fetch_files(connection, files)
    return [*written_paths, *(path for _, path in files)]


async def _list_input_files(
    connection: Connection,
    chain: Chain,
    failed_jobs: Sequence[tuple[str, Job]],
    folders: Mapping[int, Path],
) -> list[tuple[File, Path]]:
    """Return the existing files of earlier steps that the jobs were given, with local paths."""
    targets: list[tuple[File, Path]] = []
    jobs_by_input = defaultdict[str, list[Job]](list)
    for _, job in failed_jobs:
        for name in job.inputs:
            jobs_by_input[name].append(job)
    for uid in await _readable_outputs(connection, chain) if jobs_by_input else ():
        files = [
            file
            async for file in connection.operator.iterate_files(uid)
            if own_name(file.name) in jobs_by_input
        ]
        name_counts = Counter(own_name(file.name) for file in files)
        for file in files:
            name = own_name(file.name)
            # The number distinguishes files of one name. In a map, it is also the job's number.
            targets += [
                (file, folders[job.id] / name)
                for job in jobs_by_input[name]
                if name_counts[name] == 1 or file.seq == job.seq
            ]
    return targets


async def _readable_outputs(connection: Connection, chain: Chain) -> list[UUID]:
    """Return the data sets that steps of the chain wrote and that still exist."""
    partial = await connection.operator.list_partial_outputs(chain.uid)
    return [
        part.dataset.uid
        for part in partial.outputs
        if part.port is not None and part.dataset is not None and part.readable
    ]


def _job_folder(folder: Path, step: str, job: Job) -> Path:
    """Return the folder of a job: its number in the step, and the start of its first input."""
    first = f"-{own_name(job.inputs[0])[:50]}" if job.inputs else ""
    return folder / FOLDER / step / f"{job.seq:06d}{first}"
