"""Files with secrets in a job's folder."""

from collections.abc import Iterable
from typing import Any

from cwltool.secrets import SecretStore

from pilot.runner.files.job_files import JobFiles


def list_secret_files(job: Any, store: SecretStore) -> list[str]:
    """Return the paths of files with secrets that cwltool is going to write for the job.

    The paths are needed early: after cwltool has written the files, it no longer knows which files
    have secrets.
    """
    if job.generatemapper is None:
        return []
    inner = f"{job.builder.outdir}/"
    return [
        f"{job.outdir}/{entry.target.removeprefix(inner)}"
        if entry.target.startswith(inner)
        else entry.target
        for _, entry in job.generatemapper.items()
        if entry.type in {"CreateFile", "CreateWritableFile"} and store.has_secret(entry.resolved)
    ]


def remove_secret_files(paths: Iterable[str], job_files: JobFiles) -> None:
    """Remove files with secrets before outputs are collected.

    Copies that the tool has made elsewhere are not removed.
    """
    for path in paths:
        job_files.remove(path)
