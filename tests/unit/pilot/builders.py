"""Build tasks, jobs and files for the tests of the pilot."""

import hashlib
import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pilot.reports.file_remover import FileRemover
from sluice.contracts.access.secrets import SecretValues
from sluice.contracts.common.states import TaskMode
from sluice.contracts.jobs.job_inputs import InputFile, JobInput
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.pilots.leases import JobToken, LeasedJob, PilotTask
from sluice.contracts.pilots.output_files import StorageUrls
from tests.task_fields import group_needs

#: The interpreter of tools. Users of slots can start it also where root's home folder has the
#: environment of the tests, which only root can enter.
TOOL_PYTHON = os.path.realpath(sys.executable)


def make_tool(command: list[str], **fields: Any) -> dict[str, Any]:
    """Return a tool with a File input ``f``, which is not on the command line, and an output ``o``:
    its standard output ``<stem>.out``."""
    base: dict[str, Any] = {
        "cwlVersion": "v1.2",
        "class": "CommandLineTool",
        "baseCommand": command,
        "inputs": {"f": {"type": "File"}},
        "outputs": {"o": {"type": "File", "outputBinding": {"glob": "$(inputs.f.nameroot).out"}}},
        "stdout": "$(inputs.f.nameroot).out",
    }
    return {**base, **fields}


SHA = make_tool(["sha256sum"], inputs={"f": {"type": "File", "inputBinding": {"position": 1}}})


def make_task(root: Path, executable: dict[str, Any], **fields: Any) -> PilotTask:
    """Return a task whose output port ``o`` goes to ``<root>/out`` and whose logs go to
    ``<root>/logs``. ``outputs`` replaces the outputs."""
    values: dict[str, Any] = {
        "uid": uuid.uuid4(),
        "chain_uid": uuid.uuid4(),
        "step": "step",
        "executable": executable,
        "args": {},
        "mode": TaskMode.MAP,
        "dat_in_port": "f",
        "outputs": [make_output(root, "o")],
        "log_out_uid": uuid.uuid4(),
        "log_out_url": f"file://{root}/logs",
        "resources": Resources(time_limit=60.0),
    }
    return PilotTask(**group_needs({**values, **fields}))


def make_output(
    root: Path, port: str, folder: str = "out", *, optional: bool = False
) -> TaskOutput:
    return TaskOutput(
        port=port,
        dat_out_uid=uuid.uuid4(),
        dat_stor_url=f"file://{root}",
        dat_out_url=f"file://{root}/{folder}",
        optional=optional,
    )


def write_input(path: Path, *, seq: int = 0, data: bytes = b"frame") -> InputFile:
    """Write the file and return its description."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    checksum = f"sha256:{hashlib.sha256(data).hexdigest()}"
    return InputFile(
        seq=seq, name=path.name, size=len(data), checksum=checksum, url=f"file://{path}"
    )


def make_job(
    task_: PilotTask, inputs: Sequence[JobInput], *, job_id: int = 1, attempt: int = 1, seq: int = 0
) -> LeasedJob:
    return LeasedJob(id=job_id, attempt=attempt, task_uid=task_.uid, seq=seq, inputs=list(inputs))


async def answer_without_secrets(job: JobToken) -> SecretValues:
    """Answer like a WMS whose tasks have no secrets."""
    raise AssertionError(f"job {job.id} has no secrets")


def make_file_remover(*storages: Path) -> FileRemover:
    """Return the file remover of a system with these storages."""

    async def ask() -> StorageUrls:
        return StorageUrls(urls=[f"file://{path}" for path in storages])

    return FileRemover(ask)
