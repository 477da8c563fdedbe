"""The warm worker of a slot. A slot has at most one."""

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import structlog

from pilot.folders.work_folder import OUT, TMP, WorkFolder
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.runner.isolation.isolation import Isolation, ToolAllocation
from pilot.runner.programs.memory import Memory
from pilot.runner.programs.orphans import has_ended
from pilot.runner.programs.program import Program, ProgramLimits
from pilot.runner.programs.running import RunningProgram
from pilot.runner.programs.usage import process_tree, processor_time
from pilot.runner.programs.warm_request import (
    Pipes,
    StartWarmWorker,
    WarmRequest,
    WarmWorkerProgram,
)
from pilot.runner.tools.prepared_job import PreparedJob, WarmCommand
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.leases import PilotTask
from sluice.warm import FLAG, STDOUT_PATH

log = structlog.get_logger(__name__)

#: Number of consecutive failures after which a warm worker is restarted, as its state may be the
#: cause.
_MAX_FAILURES = 2
#: Maximum bytes of files in the tool's folder that are read to compute a key.
_MAX_READ = 16 << 20
#: Name of a link in the job's folder for temporary files. It leads to the file for the standard
#: output.
_STDOUT = ".stdout"


@dataclass(slots=True)
class _WarmWorker:
    """A warm worker process.

    Attributes:
        key: The identifier of what it was started with.
        folder: The identifier of the folders of its jobs.
        memory: Its memory in MiB.
        has_numbered_answers: Whether its answers repeat the number of the request.
        members: Its processes after the first answer.
        seconds: The durations of its first two jobs.
    """

    key: str
    warm: Warm
    step: str
    program: WarmWorkerProgram
    pipes: Pipes
    folder: list[tuple[int, int]]
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    jobs: int = 0
    failures: int = 0
    memory: float = 0.0
    has_numbered_answers: bool = False
    members: frozenset[int] = frozenset()
    seconds: list[float] = field(default_factory=list)
    last: float = field(default_factory=time.monotonic)
    job_start_time: float = 0.0

    def close(self) -> None:
        self.program.close()
        self.pipes.close()

    @property
    def loading_seconds(self) -> float:
        """Return how many seconds longer the first job took than the second."""
        first, *second = self.seconds or [0.0]
        return max(0.0, first - sum(second))


@dataclass(frozen=True, slots=True)
class WarmWorkerJob:
    """A job for a warm worker.

    Attributes:
        key: The result of ``create_key``.
        launch: The function that starts the warm worker if it is not loaded.
    """

    key: str
    step: str
    command: WarmCommand
    prepared_job: PreparedJob
    launch: StartWarmWorker
    memory: Memory


class SlotWarmWorker:
    """The warm worker of one slot.

    The jobs of the slot work in ``folder``.
    """

    def __init__(self, folder: WorkFolder, isolation: Isolation) -> None:
        self._folder = folder
        self._isolation = isolation
        self._worker: _WarmWorker | None = None
        self._request: WarmRequest | None = None

    @property
    def pids(self) -> frozenset[int]:
        """Return the pid of the warm worker, if any."""
        worker = self._worker
        return frozenset() if worker is None else frozenset({worker.program.pid})

    @property
    def request(self) -> WarmRequest | None:
        """Return the last request."""
        return self._request

    def describe(self) -> WarmWorkerState | None:
        """Return the description of the warm worker for reports, or None."""
        worker = self._worker
        if worker is None:
            return None
        return WarmWorkerState(
            kind=worker.warm.kind or worker.key,
            step=worker.step,
            since=worker.since,
            loading=round(worker.loading_seconds, 3),
            jobs=worker.jobs,
            memory=round(worker.memory, 1),
        )

    def compute_idle_timeout(self) -> float | None:
        """Return the seconds until the warm worker has been idle for too long, or None."""
        worker = self._worker
        return (
            None if worker is None else max(0.0, worker.last + worker.warm.idle - time.monotonic())
        )

    def end_other_kind(self, task: PilotTask) -> None:
        """End a warm worker of another kind before the files of a job are staged in.

        The warm worker therefore cannot see these files.
        """
        worker, warm = self._worker, task.needs.warm
        if worker is not None and (warm is None or warm.kind != worker.warm.kind):
            self.end()

    def end(self) -> None:
        """End the warm worker."""
        worker, self._worker = self._worker, None
        self._folder.reserved_for = None
        if worker is not None:
            worker.close()
            self._isolation.tidy_up()
            log.debug("warm.ended", step=worker.step, jobs=worker.jobs)

    def make_ready(self, key: str, prepared_job: PreparedJob) -> float:
        """End a warm worker that the job cannot use.

        The call precedes the check of the job's memory.

        Returns:
            The memory in MiB that a usable warm worker already has.

        Raises:
            OSError: The folders of the job cannot be read.
            SandboxError: The sandbox has failed.
            SlotUserError: The processes of the user could not be ended.
        """
        worker = self._find_usable(key, prepared_job)
        return 0.0 if worker is None else worker.memory

    def finish_job(self, *, succeeded: bool) -> None:
        """Update the warm worker after a job, and end it if it must not stay."""
        worker, request = self._worker, self._request
        if worker is None:
            return
        worker.last = time.monotonic()
        if request is None or request.answer is None:
            self.end()
            return
        worker.memory, worker.has_numbered_answers = request.used, request.answer.numbered
        if len(worker.seconds) < 2:
            worker.seconds.append(worker.last - worker.job_start_time)
        worker.failures = 0 if succeeded else worker.failures + 1
        members = frozenset(pid for pid in process_tree(worker.program.pid) if not has_ended(pid))
        new_members = members - worker.members if worker.jobs > 1 else frozenset()
        worker.members = worker.members or members
        if new_members or worker.jobs >= worker.warm.jobs or worker.failures >= _MAX_FAILURES:
            self.end()

    def _find_usable(self, key: str, prepared_job: PreparedJob) -> _WarmWorker | None:
        worker = self._worker
        if (
            worker is not None
            and worker.key == key
            and worker.folder == self._folder.identity()
            and not has_ended(worker.program.pid)
            and worker.pipes.is_quiet()
            and worker.program.show(prepared_job.targets)
        ):
            return worker
        self.end()
        return None

    def _load(self, job: WarmWorkerJob, program: Program, limits: ProcessLimits) -> _WarmWorker:
        command, prepared = job.command, job.prepared_job
        request_reader, request_writer = os.pipe2(os.O_CLOEXEC)
        answer_reader, answer_writer = os.pipe2(os.O_CLOEXEC)
        pipes = Pipes(request_writer, answer_reader)
        for descriptor in (request_writer, answer_reader):
            os.set_blocking(descriptor, False)
        folder = prepared.job_files.folder
        try:
            warm_program = job.launch(
                Program(
                    arguments=[*prepared.arguments[: command.start_count], FLAG],
                    environment={**program.environment, STDOUT_PATH: f"{folder}/{TMP}/{_STDOUT}"},
                    folder=program.folder,
                    disk_folder=program.disk_folder,
                    stdin=request_reader,
                    stdout=answer_writer,
                    stderr=program.stderr,
                ),
                limits,
            )
        except BaseException:
            pipes.close()
            raise
        finally:
            os.close(request_reader)
            os.close(answer_writer)
        worker = _WarmWorker(
            job.key, command.warm, job.step, warm_program, pipes, self._folder.identity()
        )
        self._worker = worker
        self._folder.reserved_for = warm_program.ways
        return worker

    def send_job(
        self, job: WarmWorkerJob, program: Program, limits: ProcessLimits
    ) -> RunningProgram:
        """Send a job to the warm worker, and start it if necessary.

        Raises:
            OSError: The warm worker could not be started.
            SandboxError: The sandbox has failed.
            SlotUserError: The program could not be run as the user.
        """
        prepared = job.prepared_job
        start_time = time.monotonic()
        worker = self._worker or self._load(job, program, limits)
        worker.job_start_time = start_time
        worker.jobs += 1
        link = f"{prepared.job_files.folder}/{TMP}/{_STDOUT}"
        prepared.job_files.put_link(link, prepared.stdout)
        message: dict[str, Any] = {
            "arguments": prepared.arguments[job.command.start_count :],
            "inputs": list(job.command.inputs or ()),
            "requestId": worker.jobs,
        }
        self._request = WarmRequest(
            worker.program,
            worker.pipes,
            message,
            job.memory,
            start_cpu=processor_time(worker.program.pid) if worker.jobs > 1 else 0.0,
            expects_number=worker.has_numbered_answers,
        )
        return self._request


def create_key(
    command: WarmCommand,
    prepared_job: PreparedJob,
    allocation: ToolAllocation,
    limits: ProgramLimits,
) -> str:
    """Return a key of everything that a program finds when it starts.

    A job with another key needs its own process.
    """
    parts = [
        command.warm.kind,
        [list(load) for load in command.loads],
        prepared_job.arguments[: command.start_count],
        _script_checksums(prepared_job.arguments[: command.start_count], command.inputs or ()),
        sorted(prepared_job.environment.items()),
        prepared_job.job_files.folder,
        _list_files(prepared_job, command.inputs or ()),
        prepared_job.network,
        [allocation.memory, *allocation.devices],
        [limits.memory, limits.disk],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _script_checksums(
    start_arguments: Sequence[str], inputs: Sequence[Mapping[str, str]]
) -> list[str]:
    """Return the checksums of the inputs that the program is started with."""
    return [file["digest"] for file in inputs if file["path"] in start_arguments]


def _list_files(
    prepared_job: PreparedJob, inputs: Sequence[Mapping[str, str]]
) -> list[tuple[str, str]]:
    """Return the files in the tool's folder before its start, with a digest of each.

    These are the files of InitialWorkDirRequirement without the tool's streams. Inputs are
    identified by their checksums. A file beyond the limit of bytes to read gets a new digest each
    time.
    """
    digests = {os.path.realpath(file["path"]): file["digest"] for file in inputs}
    files, remaining_bytes = list[tuple[str, str]](), _MAX_READ
    for place, _, names in os.walk(f"{prepared_job.job_files.folder}/{OUT}"):
        for path in (f"{place}/{name}" for name in names):
            if path in (prepared_job.stdout, prepared_job.stderr):
                continue
            source = os.path.realpath(path)
            digest = digests.get(source)
            if digest is None and not os.path.isfile(source):
                digest = source
            elif digest is None:
                remaining_bytes -= os.path.getsize(source)
                digest = _digest(source) if remaining_bytes >= 0 else uuid4().hex
            files.append((path, digest))
    return sorted(files)


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_stream(source: int, target: int) -> None:
    """Copy a stream of the warm worker to the file that the tool wants."""
    size, position = os.fstat(source).st_size, 0
    while position < size:
        piece = os.pread(source, min(1 << 20, size - position), position)
        if not piece:
            return
        os.write(target, piece)
        position += len(piece)


def write_output(target: int, text: str) -> None:
    """Write the text of an answer as bytes."""
    try:
        data = memoryview(text.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        data = memoryview(text.encode(errors="replace"))
    while data:
        data = data[os.write(target, data) :]
