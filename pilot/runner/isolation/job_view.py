"""View of the node for a job's tool in a sandbox: the job's folders and inputs."""

import os

from pilot.folders.work_folder import IN, OUT, SYSTEM_TMP, TMP
from pilot.isolation.sandbox.view import SHARED_MEMORY, View, VisibleFile, links_to
from pilot.runner.tools.prepared_job import PreparedJob

_MIB = 1 << 20


def job_view(prepared: PreparedJob, memory: float, *, elsewhere: bool = True) -> View:
    """Return the view of a job's tool: inputs to read, and other folders to write.

    ``memory`` is the job's limit in MiB, which includes its shared memory; 0 means no limit.
    ``elsewhere`` says whether the view includes files of storages that inputs link to. They differ
    between jobs.
    """
    known = prepared.job_files.folder
    real = prepared.job_files.real(known)
    return View(
        [
            VisibleFile("/tmp", f"{real}/{SYSTEM_TMP}", writable=True),  # noqa: S108 - its own
            VisibleFile(f"{real}/{IN}", f"{real}/{IN}", writable=prepared.in_place),
            *(
                VisibleFile(path, path, writable=True)
                for path in (f"{real}/{OUT}", f"{real}/{TMP}")
            ),
            *(
                VisibleFile(path, os.path.realpath(path))
                for path in dict.fromkeys(prepared.targets)
                if elsewhere
            ),
        ],
        links=links_to(known, real),
        shared_memory=shared_memory_of(memory),
    )


def shared_memory_of(memory: float) -> int:
    """Return the limit of shared memory in bytes for a job with ``memory`` MiB.

    If ``memory`` is 0, the limit is ``SHARED_MEMORY``.
    """
    return int(memory * _MIB) or SHARED_MEMORY
