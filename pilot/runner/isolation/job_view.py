"""View of the node for a job's tool in a sandbox: the job's folders and inputs."""

import os

from pilot.folders.work_folder import IN, OUT, SYSTEM_TMP, TMP
from pilot.isolation.sandbox.view import SHARED_MEMORY, View, VisibleFile, links_to
from pilot.runner.tools.prepared_job import PreparedJob

_MIB = 1 << 20


def create_job_view(
    prepared_job: PreparedJob, memory: float, *, with_link_targets: bool = True
) -> View:
    """Return the view of a job's tool: inputs to read, and other folders to write.

    ``memory`` is the job's limit in MiB, which includes its shared memory; 0 means no limit.
    ``with_link_targets`` says whether the view includes files of storages that inputs link to. Such
    files differ between jobs.
    """
    folder = prepared_job.job_files.folder
    real_folder = prepared_job.job_files.real_path(folder)
    return View(
        [
            VisibleFile("/tmp", f"{real_folder}/{SYSTEM_TMP}", writable=True),  # noqa: S108 - its own
            VisibleFile(
                f"{real_folder}/{IN}", f"{real_folder}/{IN}", writable=prepared_job.in_place
            ),
            *(
                VisibleFile(path, path, writable=True)
                for path in (f"{real_folder}/{OUT}", f"{real_folder}/{TMP}")
            ),
            *(
                VisibleFile(path, os.path.realpath(path))
                for path in dict.fromkeys(prepared_job.targets)
                if with_link_targets
            ),
        ],
        links=links_to(folder, real_folder),
        shared_memory=compute_shared_memory(memory),
    )


def compute_shared_memory(memory: float) -> int:
    """Return the limit of shared memory in bytes for a job with ``memory`` MiB.

    If ``memory`` is 0, the limit is ``SHARED_MEMORY``.
    """
    return int(memory * _MIB) or SHARED_MEMORY
