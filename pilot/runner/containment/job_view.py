"""What the tool of a job sees of the node, in a sandbox: its own folders and inputs."""

import os

from pilot.folders.work_folder import IN, OUT, SYSTEM_TMP, TMP
from pilot.runner.tools.prepared_job import PreparedJob
from pilot.sandbox.view import SHARED_MEMORY, SeenFile, View, links_to

_MIB = 1 << 20


def job_view(prepared: PreparedJob, memory: float, *, elsewhere: bool = True) -> View:
    """Inputs to read, also those that are links to files of storages; all else to write to.
    ``memory``: MiB that the job may use, its shared memory among it; 0: what the node has.
    ``elsewhere``: with those files, which change from job to job."""
    known = prepared.job_files.folder
    real = prepared.job_files.real(known)
    return View(
        [
            SeenFile("/tmp", f"{real}/{SYSTEM_TMP}", writable=True),  # noqa: S108 - its own
            SeenFile(f"{real}/{IN}", f"{real}/{IN}", writable=prepared.in_place),
            *(SeenFile(path, path, writable=True) for path in (f"{real}/{OUT}", f"{real}/{TMP}")),
            *(
                SeenFile(path, os.path.realpath(path))
                for path in dict.fromkeys(prepared.targets)
                if elsewhere
            ),
        ],
        links=links_to(known, real),
        shared_memory=shared_memory_of(memory),
    )


def shared_memory_of(memory: float) -> int:
    """Bytes, of a job that may use so many MiB; 0: what the node has."""
    return int(memory * _MIB) or SHARED_MEMORY
