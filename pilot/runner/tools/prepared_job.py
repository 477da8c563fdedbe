"""A command line that is ready to run for a job."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pilot.runner.containers.container_run import ContainerRun
from pilot.runner.failures import AttemptError
from pilot.runner.files.job_files import JobFiles
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.jobs.needs import Warm


@dataclass(slots=True)
class PreparedJob:
    """A command line with its folders and files in place.

    ``stdout`` and ``stderr`` are paths, or None. ``job_files`` are the files that the job may have.
    """

    arguments: list[str]
    environment: dict[str, str] = field(repr=False)
    stdin: str | None
    stdout: str | None
    stderr: str | None
    job: Any
    job_files: JobFiles
    #: Name of the tool's program as people know it.
    program: str = ""
    container: ContainerRun | None = None
    #: A note for the log.
    note: str = ""
    #: File in which a process inside the job records its failure.
    failure: str | None = None
    #: Whether the program is Python code of the pilot, which a pre-forked process can run.
    own_python: bool = False
    #: Size of its input files in bytes.
    input_bytes: int = 0
    #: Paths of files with secrets.
    secret_files: Sequence[str] = ()
    #: Standard input of a process inside the job.
    stdin_data: bytes = field(default=b"", repr=False)
    #: Targets of links to its inputs outside its folders.
    targets: Sequence[str] = ()
    #: Whether it changes its inputs, which are copies.
    in_place: bool = False
    #: Whether it asks for a network (NetworkAccess).
    network: bool = False
    #: How it runs in a warm worker, or None.
    warm: "WarmCommand | None" = None

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

    ``start_count`` is the number of arguments that start the program. The others come with each
    job. ``loads`` are names and checksums of files that the program loads at its start. ``inputs``
    are the job's files in the protocol's form, or None if not known yet.
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
