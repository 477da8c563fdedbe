"""A command line that is ready to be run for a job."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pilot.runner.containers.container_run import ContainerRun
from pilot.runner.failures import AttemptError
from pilot.runner.files.job_files import JobFiles
from sluice.contracts.needs import Warm
from sluice.contracts.states import ErrorClass


@dataclass(slots=True)
class PreparedJob:
    """A command line with its folders made and its files in place. ``stdout`` and ``stderr``:
    paths, None: not asked for. ``job_files``: the files that the job may have."""

    arguments: list[str]
    environment: dict[str, str] = field(repr=False)
    stdin: str | None
    stdout: str | None
    stderr: str | None
    job: Any
    job_files: JobFiles
    #: The tool's own program, as a person knows it.
    program: str = ""
    container: ContainerRun | None = None
    #: For the log.
    note: str = ""
    #: Where a process inside the job notes why it failed.
    failure: str | None = None
    #: It is Python of ours, which a process that is ready can run.
    own_python: bool = False
    #: Of the files that it is given.
    input_bytes: int = 0
    #: Paths of files with secrets in them.
    secret_files: Sequence[str] = ()
    #: What a process inside the job reads from its standard input.
    handed_on: bytes = field(default=b"", repr=False)
    #: Where links to its inputs lead, outside of its folders.
    targets: Sequence[str] = ()
    #: It changes its inputs, which are copies.
    in_place: bool = False
    #: It asks for a network (NetworkAccess).
    network: bool = False
    #: Its program stays loaded: how; None: it is started for this job alone.
    warm: "WarmCommand | None" = None

    @property
    def outside(self) -> bool:
        """Not contained by the slot: the engine of its container does, or it is ours and contains
        the tools that it runs."""
        return self.container is not None or self.own_python


@dataclass(frozen=True, slots=True)
class WarmCommand:
    """``started``: how many of the arguments the program is started with; the others come with each
    job. ``loads``: names and checksums of the files that decide what is loaded, beside these and
    the environment. ``inputs``: the job's files, as the protocol tells of them; None: not known
    yet."""

    warm: Warm
    started: int
    loads: Sequence[Sequence[str]] = ()
    inputs: Sequence[Mapping[str, str]] | None = None


def prepared_job(job: Any, job_files: JobFiles) -> PreparedJob:
    """``job``: cwltool's. Raises ``AttemptError`` where no program can be given it."""
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
        stdout=_stream(job.outdir, job.stdout),
        stderr=_stream(job.outdir, job.stderr),
        job=job,
        job_files=job_files,
        program=os.path.basename(str(job.command_line[0])),
        network=bool(job.networkaccess),
    )


def _require_no_nul(kind: str, texts: Mapping[str, str]) -> None:
    """What the system gives to a program ends at such a character. Raises ``AttemptError``."""
    name = next((name for name, text in texts.items() if "\0" in text), None)
    if name is not None:
        raise AttemptError(
            ErrorClass.TOOL_REFUSED,
            f"the tool's {kind} {name} has a NUL character, which no program can be given",
        )


def _stream(outdir: str, name: str | None) -> str | None:
    if not name:
        return None
    path = os.path.join(outdir, name)
    if os.path.dirname(path) != outdir:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    return path
