"""The tool that stays loaded in a slot, from one job to the next: at most one."""

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
from pilot.runner.containment.containment import Allotment, Containment
from pilot.runner.programs.memory import Memory
from pilot.runner.programs.orphans import has_ended
from pilot.runner.programs.program import Program, ProgramLimits
from pilot.runner.programs.running import Running
from pilot.runner.programs.usage import family, processor_time
from pilot.runner.programs.warm_request import Lasting, Pipes, StartLasting, WarmRequest
from pilot.runner.tools.prepared_job import PreparedJob, WarmCommand
from pilot.sandbox.process_limits import ProcessLimits
from sluice.contracts.loaded import LoadedTool
from sluice.contracts.needs import Warm
from sluice.contracts.pilots import PilotTask
from sluice.warm import FLAG, STDOUT_PATH

log = structlog.get_logger(__name__)

#: A tool that fails so often in a row is started anew: the reason may be what it has become.
_MOST_FAILURES = 2
#: Bytes of what lies in a tool's folder before it starts that are read, to know it again.
_MOST_READ = 16 << 20
#: In the job's folder for temporary files: leads to where its standard output goes.
_STDOUT = ".stdout"


@dataclass(slots=True)
class _Loaded:
    """``key``: of what it was started with; ``folder``: of the folders that it works in. ``held``:
    MiB that it has. ``numbers``: it has named the request that it answered. ``members``: its
    processes, once it has answered. ``seconds``: of its first job, and of the second."""

    key: str
    warm: Warm
    step: str
    program: Lasting
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
        """How much longer the first job took than the second."""
        first, *second = self.seconds or [0.0]
        return max(0.0, first - sum(second))


@dataclass(frozen=True, slots=True)
class Asking:
    """A job for a tool that stays loaded. ``key``: see ``key_of``; ``launch``: starts it, where it
    is not there."""

    key: str
    step: str
    command: WarmCommand
    prepared: PreparedJob
    launch: StartLasting
    memory: Memory


class WarmTools:
    """Of one slot, whose jobs work in ``folder``."""

    def __init__(self, folder: WorkFolder, containment: Containment) -> None:
        self._folder = folder
        self._containment = containment
        self._loaded: _Loaded | None = None
        self._request: WarmRequest | None = None

    @property
    def pids(self) -> frozenset[int]:
        loaded = self._loaded
        return frozenset() if loaded is None else frozenset({loaded.program.pid})

    @property
    def request(self) -> WarmRequest | None:
        """The last one."""
        return self._request

    def told(self) -> LoadedTool | None:
        """What is loaded now."""
        loaded = self._loaded
        if loaded is None:
            return None
        return LoadedTool(
            kind=loaded.warm.kind or loaded.key,
            step=loaded.step,
            since=loaded.since,
            loading=round(loaded.loading, 3),
            jobs=loaded.jobs,
            memory=round(loaded.held, 1),
        )

    def idle_for(self) -> float | None:
        """Seconds after which what is loaded has had no job for too long; None: nothing is."""
        loaded = self._loaded
        return (
            None if loaded is None else max(0.0, loaded.last + loaded.warm.idle - time.monotonic())
        )

    def make_way(self, task: PilotTask) -> None:
        """Before the files of a job are brought: what is of another kind ends, and sees nothing of
        them."""
        loaded, warm = self._loaded, task.needs.warm
        if loaded is not None and (warm is None or warm.kind != loaded.warm.kind):
            self.end()

    def end(self) -> None:
        loaded, self._loaded = self._loaded, None
        self._folder.kept_for = None
        if loaded is not None:
            loaded.close()
            self._containment.tidy_up()
            log.debug("warm.ended", step=loaded.step, jobs=loaded.jobs)

    def make_ready(self, key: str, prepared: PreparedJob) -> float:
        """Before memory is counted for a job: what it cannot use of what is loaded has ended. MiB
        that the program has already which it is asked of. Raises ``OSError``, ``SandboxError``,
        ``UserError``."""
        loaded = self._usable(key, prepared)
        return 0.0 if loaded is None else loaded.held

    def ended(self, *, well: bool) -> None:
        """After each job that was asked of it: is it to stay?"""
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
        if left or loaded.jobs >= loaded.warm.jobs or loaded.failures >= _MOST_FAILURES:
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

    def _load(self, ask: Asking, program: Program, limits: ProcessLimits) -> _Loaded:
        command, prepared = ask.command, ask.prepared
        to, requests = os.pipe2(os.O_CLOEXEC)
        answers, back = os.pipe2(os.O_CLOEXEC)
        pipes = Pipes(requests, answers)
        for descriptor in (requests, answers):
            os.set_blocking(descriptor, False)
        folder = prepared.job_files.folder
        try:
            lasting = ask.launch(
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
        loaded = _Loaded(ask.key, command.warm, ask.step, lasting, pipes, self._folder.identity())
        self._loaded = loaded
        self._folder.kept_for = lasting.ways
        return loaded

    def ask(self, ask: Asking, program: Program, limits: ProcessLimits) -> Running:
        """The request, sent, to what ``make_ready`` has left. Raises ``OSError``, ``SandboxError``,
        ``UserError``."""
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
    command: WarmCommand, prepared: PreparedJob, allotted: Allotment, limits: ProgramLimits
) -> str:
    """Of all that a program finds when it starts: one with another key needs a process of its
    own."""
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
    """What lies in the tool's folder before it starts (InitialWorkDirRequirement), but its streams:
    paths, and what is in each. Inputs are known by their checksums; what is larger than should be
    read is another one each time."""
    digests = {os.path.realpath(given["path"]): given["digest"] for given in inputs}
    found, left = list[tuple[str, str]](), _MOST_READ
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
    """What the program has said for this job goes to the file that the tool wants it in."""
    size, at = os.fstat(source).st_size, 0
    while at < size:
        piece = os.pread(source, min(1 << 20, size - at), at)
        if not piece:
            return
        os.write(target, piece)
        at += len(piece)


def write_output(target: int, text: str) -> None:
    """What came with the answer, as bytes."""
    try:
        data = memoryview(text.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        data = memoryview(text.encode(errors="replace"))
    while data:
        data = data[os.write(target, data) :]
