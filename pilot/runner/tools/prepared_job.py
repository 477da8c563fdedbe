"""A command line that is ready to run for a job."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pilot.runner.containers.container_run import ContainerRun
from pilot.runner.failures import AttemptError
from pilot.runner.files.job_files import JobFiles
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.jobs.needs import Resources, Warm


@dataclass(slots=True)
class PreparedJob:
    """A command line with its folders and files in place.

    Attributes:
        stdout: A path, or None.
        stderr: A path, or None.
        job_files: The files that the job may have.
        program: Name of the tool's program as people know it.
        note: A note for the log.
        failure: File in which a process inside the job records its failure.
        own_python: Whether the program is Python code of the pilot, which a pre-forked process can
            run.
        input_bytes: Size of its input files in bytes.
        secret_files: Paths of files with secrets.
        stdin_data: Standard input of a process inside the job.
        targets: Targets of links to its inputs outside its folders.
        in_place: Whether it changes its inputs, which are copies.
        network: Whether it requests a network (NetworkAccess).
        warm: How it runs in a warm worker, or None.
        own_time_limit: The time limit in seconds that the tool declares, with its expressions
            evaluated. 0 means that there is no limit, and None that it declares none.
    """

    arguments: list[str]
    environment: dict[str, str] = field(repr=False)
    stdin: str | None
    stdout: str | None
    stderr: str | None
    job: Any
    job_files: JobFiles
    program: str = ""
    container: ContainerRun | None = None
    note: str = ""
    failure: str | None = None
    own_python: bool = False
    input_bytes: int = 0
    secret_files: Sequence[str] = ()
    stdin_data: bytes = field(default=b"", repr=False)
    targets: Sequence[str] = ()
    in_place: bool = False
    network: bool = False
    warm: "WarmCommand | None" = None
    own_time_limit: float | None = None

    def find_time_limit(self, resources: Resources) -> float:
        """Return the time limit in seconds: that of the tool, or else that of the task.

        0 means that there is no limit.
        """
        return resources.time_limit if self.own_time_limit is None else self.own_time_limit

    @property
    def is_isolated_elsewhere(self) -> bool:
        """Return whether the slot does not isolate the program itself.

        A container engine isolates it, or it is the pilot's own code, which isolates the tools that
        it runs.
        """
        return self.container is not None or self.own_python


@dataclass(frozen=True, slots=True)
class WarmCommand:
    """Command of a warm worker.

    Attributes:
        start_count: The number of arguments that start the program. The others come with each job.
        loads: Names and checksums of files that the program loads at its start.
        inputs: The job's files in the protocol's form, or None if they are not known yet.
    """

    warm: Warm
    start_count: int
    loads: Sequence[Sequence[str]] = ()
    inputs: Sequence[Mapping[str, str]] | None = None


def create_prepared_job(job: Any, job_files: JobFiles) -> PreparedJob:
    """Return the prepared job for a job of cwltool.

    Raises:
        AttemptError: The command line cannot be passed to a program.
    """
    if not job.command_line:
        raise AttemptError(
            ErrorClass.TOOL_FAILED,
            "the tool's command line is empty: it has no baseCommand and no arguments",
        )
    arguments = [str(argument) for argument in job.command_line]
    environment = {key: str(value) for key, value in job.environment.items()}
    _require_no_nul(
        "argument", {str(number): argument for number, argument in enumerate(arguments)}
    )
    _require_no_nul("environment variable", environment)
    _require_no_nul("stream", {"stdout": job.stdout or "", "stderr": job.stderr or ""})
    return PreparedJob(
        arguments=arguments,
        environment=environment,
        stdin=job.stdin,
        stdout=_prepare_stream(job.outdir, job.stdout),
        stderr=_prepare_stream(job.outdir, job.stderr),
        job=job,
        job_files=job_files,
        program=os.path.basename(str(job.command_line[0])),
        network=bool(job.networkaccess),
        own_time_limit=job.timelimit,
    )


def _require_no_nul(kind: str, texts: Mapping[str, str]) -> None:
    """Check that no text contains a NUL character, at which the system would cut it.

    Raises:
        AttemptError: A text contains it.
    """
    name = next((name for name, text in texts.items() if "\0" in text), None)
    if name is not None:
        raise AttemptError(
            ErrorClass.TOOL_REFUSED,
            f"the tool's {kind} {name} has a NUL character, which no program can be given",
        )


def _prepare_stream(outdir: str, name: str | None) -> str | None:
    if not name:
        return None
    path = os.path.join(outdir, name)
    if os.path.dirname(path) != outdir:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    return path
