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
from pilot.runner.programs.usage import family, processor_time
from pilot.runner.programs.warm_request import Pipes, StartLasting, WarmRequest, WarmWorkerProgram
from pilot.runner.tools.prepared_job import PreparedJob, WarmCommand
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.pilots import PilotTask
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
class _Loaded:
    """A loaded warm worker.

    ``key`` identifies what it was started with, and ``folder`` the folders that it works in.
    ``held`` is its memory in MiB. ``numbers`` says that it repeats the request number in its
    answers. ``members`` are its processes after the first answer. ``seconds`` are the durations of
    its first two jobs.
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
    held: float = 0.0
    numbers: bool = False
    members: frozenset[int] = frozenset()
    seconds: list[float] = field(default_factory=list)
    last: float = field(default_factory=time.monotonic)
    begun: float = 0.0

    def close(self) -> None:
        self.program.close()
        self.pipes.close()

    @property
    def loading(self) -> float:
        """Return how many seconds longer the first job took than the second."""
        first, *second = self.seconds or [0.0]
        return max(0.0, first - sum(second))


@dataclass(frozen=True, slots=True)
class WarmWorkerJob:
    """A job for a warm worker.

    ``key`` is described in ``key_of``. ``launch`` starts the warm worker if it is not loaded.
    """

    key: str
    step: str
    command: WarmCommand
    prepared: PreparedJob
    launch: StartLasting
    memory: Memory


class SlotWarmWorker:
    """The warm worker of one slot.

    The jobs of the slot work in ``folder``.
    """

    def __init__(self, folder: WorkFolder, isolation: Isolation) -> None:
        self._folder = folder
        self._containment = isolation
        self._loaded: _Loaded | None = None
        self._request: WarmRequest | None = None

    @property
    def pids(self) -> frozenset[int]:
        """Return the pid of the warm worker, if any."""
        loaded = self._loaded
        return frozenset() if loaded is None else frozenset({loaded.program.pid})

    @property
    def request(self) -> WarmRequest | None:
        """Return the last request."""
        return self._request

    def told(self) -> WarmWorkerState | None:
        """Return the description of the warm worker for reports, or None."""
        loaded = self._loaded
        if loaded is None:
            return None
        return WarmWorkerState(
            kind=loaded.warm.kind or loaded.key,
            step=loaded.step,
            since=loaded.since,
            loading=round(loaded.loading, 3),
            jobs=loaded.jobs,
            memory=round(loaded.held, 1),
        )

    def idle_for(self) -> float | None:
        """Return the seconds until the warm worker has been idle for too long, or None."""
        loaded = self._loaded
        return (
            None if loaded is None else max(0.0, loaded.last + loaded.warm.idle - time.monotonic())
        )

    def make_way(self, task: PilotTask) -> None:
        """End a warm worker of another kind before the files of a job are staged in.

        The warm worker therefore cannot see these files.
        """
        loaded, warm = self._loaded, task.needs.warm
        if loaded is not None and (warm is None or warm.kind != loaded.warm.kind):
            self.end()

    def end(self) -> None:
        """End the warm worker."""
        loaded, self._loaded = self._loaded, None
        self._folder.reserved_for = None
        if loaded is not None:
            loaded.close()
            self._containment.tidy_up()
            log.debug("warm.ended", step=loaded.step, jobs=loaded.jobs)

    def make_ready(self, key: str, prepared: PreparedJob) -> float:
        """End a warm worker that the job cannot use.

        The call precedes the check of the job's memory.

        Returns:
            The memory in MiB that a usable warm worker already has.

        Raises:
            OSError: The folders of the job cannot be read.
            SandboxError: The sandbox has failed.
            UserError: The processes of the user could not be ended.
        """
        loaded = self._usable(key, prepared)
        return 0.0 if loaded is None else loaded.held

    def ended(self, *, well: bool) -> None:
        """Update the warm worker after a job, and end it if it must not stay."""
        loaded, request = self._loaded, self._request
        if loaded is None:
            return
        loaded.last = time.monotonic()
        if request is None or request.answer is None:
            self.end()
            return
        loaded.held, loaded.numbers = request.used, request.answer.numbered
        if len(loaded.seconds) < 2:
            loaded.seconds.append(loaded.last - loaded.begun)
        loaded.failures = 0 if well else loaded.failures + 1
        members = frozenset(pid for pid in family(loaded.program.pid) if not has_ended(pid))
        left = members - loaded.members if loaded.jobs > 1 else frozenset()
        loaded.members = loaded.members or members
        if left or loaded.jobs >= loaded.warm.jobs or loaded.failures >= _MAX_FAILURES:
            self.end()

    def _usable(self, key: str, prepared: PreparedJob) -> _Loaded | None:
        loaded = self._loaded
        if (
            loaded is not None
            and loaded.key == key
            and loaded.folder == self._folder.identity()
            and not has_ended(loaded.program.pid)
            and loaded.pipes.is_quiet()
            and loaded.program.show(prepared.targets)
        ):
            return loaded
        self.end()
        return None

    def _load(self, ask: WarmWorkerJob, program: Program, limits: ProcessLimits) -> _Loaded:
        command, prepared = ask.command, ask.prepared
        to, requests = os.pipe2(os.O_CLOEXEC)
        answers, back = os.pipe2(os.O_CLOEXEC)
        pipes = Pipes(requests, answers)
        for descriptor in (requests, answers):
            os.set_blocking(descriptor, False)
        folder = prepared.job_files.folder
        try:
            warm_worker_processes = ask.launch(
                Program(
                    arguments=[*prepared.arguments[: command.started], FLAG],
                    environment={**program.environment, STDOUT_PATH: f"{folder}/{TMP}/{_STDOUT}"},
                    folder=program.folder,
                    watched=program.watched,
                    stdin=to,
                    stdout=back,
                    stderr=program.stderr,
                ),
                limits,
            )
        except BaseException:
            pipes.close()
            raise
        finally:
            os.close(to)
            os.close(back)
        loaded = _Loaded(
            ask.key, command.warm, ask.step, warm_worker_processes, pipes, self._folder.identity()
        )
        self._loaded = loaded
        self._folder.reserved_for = warm_worker_processes.ways
        return loaded

    def ask(self, ask: WarmWorkerJob, program: Program, limits: ProcessLimits) -> RunningProgram:
        """Send a job to the warm worker, and start it if necessary.

        Raises:
            OSError: The warm worker could not be started.
            SandboxError: The sandbox has failed.
            UserError: The program could not be run as the user.
        """
        prepared = ask.prepared
        begun = time.monotonic()
        loaded = self._loaded or self._load(ask, program, limits)
        loaded.begun = begun
        loaded.jobs += 1
        link = f"{prepared.job_files.folder}/{TMP}/{_STDOUT}"
        prepared.job_files.put_link(link, prepared.stdout)
        message: dict[str, Any] = {
            "arguments": prepared.arguments[ask.command.started :],
            "inputs": list(ask.command.inputs or ()),
            "requestId": loaded.jobs,
        }
        self._request = WarmRequest(
            loaded.program,
            loaded.pipes,
            message,
            ask.memory,
            begun=processor_time(loaded.program.pid) if loaded.jobs > 1 else 0.0,
            numbers=loaded.numbers,
        )
        return self._request


def key_of(
    command: WarmCommand, prepared: PreparedJob, allotted: ToolAllocation, limits: ProgramLimits
) -> str:
    """Return a key of everything that a program finds when it starts.

    A job with another key needs its own process.
    """
    told = [
        command.warm.kind,
        [list(each) for each in command.loads],
        prepared.arguments[: command.started],
        _scripts(prepared.arguments[: command.started], command.inputs or ()),
        sorted(prepared.environment.items()),
        prepared.job_files.folder,
        _laid_out(prepared, command.inputs or ()),
        prepared.network,
        [allotted.memory, *allotted.devices],
        [limits.memory, limits.disk],
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


def _scripts(started: Sequence[str], inputs: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the checksums of the inputs that the program is started with."""
    return [given["digest"] for given in inputs if given["path"] in started]


def _laid_out(prepared: PreparedJob, inputs: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    """Return the files in the tool's folder before its start, with a digest of each.

    These are the files of InitialWorkDirRequirement without the tool's streams. Inputs are
    identified by their checksums. A file beyond the limit of bytes to read gets a new digest each
    time.
    """
    digests = {os.path.realpath(given["path"]): given["digest"] for given in inputs}
    found, left = list[tuple[str, str]](), _MAX_READ
    for place, _, names in os.walk(f"{prepared.job_files.folder}/{OUT}"):
        for path in (f"{place}/{name}" for name in names):
            if path in (prepared.stdout, prepared.stderr):
                continue
            source = os.path.realpath(path)
            digest = digests.get(source)
            if digest is None and not os.path.isfile(source):
                digest = source
            elif digest is None:
                left -= os.path.getsize(source)
                digest = _digest(source) if left >= 0 else uuid4().hex
            found.append((path, digest))
    return sorted(found)


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_stream(source: int, target: int) -> None:
    """Copy a stream of the warm worker to the file that the tool wants."""
    size, at = os.fstat(source).st_size, 0
    while at < size:
        piece = os.pread(source, min(1 << 20, size - at), at)
        if not piece:
            return
        os.write(target, piece)
        at += len(piece)


def write_output(target: int, text: str) -> None:
    """Write the text of an answer as bytes."""
    try:
        data = memoryview(text.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        data = memoryview(text.encode(errors="replace"))
    while data:
        data = data[os.write(target, data) :]
