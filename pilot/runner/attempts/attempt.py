"""One attempt at a job, from its inputs to its report."""

import errno
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, assert_never

import structlog

from pilot.domain.model import StopReason, Token
from pilot.folders.disk_space import has_room
from pilot.folders.work_folder import IN, OUT, TMP, WorkFolder
from pilot.reports.journal import Journal
from pilot.runner.attempts.entries import Entry, entries_of, put_aside, together
from pilot.runner.attempts.job_log import Story, write_log
from pilot.runner.attempts.live_log import LiveLogs
from pilot.runner.containers.containers import Containers
from pilot.runner.failures import AttemptError, StoppedError, node_error
from pilot.runner.files.originals import Originals
from pilot.runner.files.outputs import outgoing
from pilot.runner.files.own_files import NotOwnError, OwnFiles
from pilot.runner.files.shared_inputs import SharedFiles
from pilot.runner.files.staging import Produced, live_url, log_url, stage_in, stage_log, stage_out
from pilot.runner.inner_workflow.failures import read_failure
from pilot.runner.phase_note import PhaseNote
from pilot.runner.programs.control import Control
from pilot.runner.programs.ending import ended_badly, last_line
from pilot.runner.programs.memory import Memory
from pilot.runner.programs.program import Cut, Ended, Limits, Program, run_program, start_program
from pilot.runner.programs.zygote import Seeds
from pilot.runner.protocol import EndedFrame, RunnerSettings
from pilot.runner.tools.loading import Loaded
from pilot.runner.tools.tool import PreparedJob, expression_processes
from sluice.contracts.numbers import in_full
from sluice.contracts.pilots import AttemptReport, LeasedJob, LogFile, OutputFile, PilotTask
from sluice.contracts.states import AttemptOutcome, AttemptPhase, ErrorClass
from sluice.storage import StorageError

log = structlog.get_logger(__name__)

#: The program is there, and no program, or not ours to run.
_NOT_EXECUTABLE = frozenset({errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR})

_STOPPED = {
    StopReason.CANCEL: (AttemptOutcome.CANCELED, ErrorClass.CANCELED, "canceled"),
    StopReason.LEASE: (
        AttemptOutcome.FAILED,
        ErrorClass.PILOT_LOST,
        "stopped: the pilot could not reach the WMS to renew its lease",
    ),
    StopReason.ABANDON: (
        AttemptOutcome.RETURNED,
        None,
        "stopped: the job is no longer this pilot's",
    ),
    StopReason.SHUTDOWN: (AttemptOutcome.RETURNED, None, "stopped: the pilot had to end"),
}


@dataclass(frozen=True, slots=True)
class Workplace:
    """What the attempts of one slot share, one after the other."""

    settings: RunnerSettings
    folder: WorkFolder
    journal: Journal
    control: Control
    seeds: Seeds
    shared: SharedFiles
    phase: PhaseNote
    containers: Containers | None
    live: LiveLogs
    memory: Memory


class Attempt:
    """Runs once. Whatever happens to the job becomes a report; only the end of this process is an
    exception to that."""

    def __init__(self, task: PilotTask, job: LeasedJob, place: Workplace) -> None:
        self._task = task
        self._job = job
        self._settings = place.settings
        self._work = place.folder
        self._plain = task.container is None or place.containers is None
        self._journal = place.journal
        self._control = place.control
        self._seeds = place.seeds
        self._shared = place.shared
        self._containers = place.containers
        self._live = place.live
        self._memory = place.memory
        self._phase = place.phase
        self._token: Token = (job.id, job.attempt)
        self._story = Story(pilot=place.settings.pilot, started=datetime.now(UTC))
        self._outputs: list[OutputFile] = []
        self._placed: list[str] = []
        #: Closes what is read for the log.
        self._streams = ExitStack()
        self._input_bytes = 0

    @property
    def _folder(self) -> str:
        return self._work.known(plain=self._plain)[0].path

    def run(self, load: Callable[[], Loaded]) -> EndedFrame:
        """``load`` gives the task's tool, loading it where it is the first job's. The report is in
        the journal afterwards."""
        begun = time.monotonic()
        self._control.begin(self._token)
        with self._streams:
            report = self._outcome(load)
        journal = self._keep(report)
        self._clear()
        self._control.end(self._token)
        return EndedFrame(report=report, seconds=time.monotonic() - begun, journal=journal)

    def _keep(self, report: AttemptReport) -> str | None:
        try:
            if report.outcome is AttemptOutcome.RETURNED:
                self._journal.gone(self._token)
                return None
            self._journal.report(report)
        except OSError as error:
            log.error("attempt.report_not_kept", error=str(error))
            return None
        return self._journal.name

    def _clear(self) -> None:
        try:
            self._work.clear()
        except OSError as error:  # the next job finds out by itself, and says so
            log.error("attempt.folder_not_cleared", error=str(error))

    def _outcome(self, load: Callable[[], Loaded]) -> AttemptReport:
        try:
            self._make(load())
            return self._report(AttemptOutcome.FINISHED, None, "")
        except StoppedError:
            reason = self._control.stop_reason(self._token) or StopReason.ABANDON
            outcome, error_class, message = _STOPPED[reason]
            return self._report(outcome, error_class, message)
        except AttemptError as error:
            return self._report(
                AttemptOutcome.FAILED, error.error_class, error.message, exit_code=error.exit_code
            )
        except OSError as error:
            failure = node_error(error)
            return self._report(AttemptOutcome.FAILED, failure.error_class, failure.message)
        except Exception as error:  # process boundary: one job must not end its slot
            log.exception("attempt.unexpected")
            return self._report(
                AttemptOutcome.FAILED,
                ErrorClass.INTERNAL,
                f"{type(error).__name__}: {error}"[:2000],
            )

    def _make(self, tool: Loaded) -> None:
        self._stop_if_told()
        self._journal.begun(self._token)
        entries = entries_of(self._task, self._job)
        files: list[Produced] = []
        for entry in entries:
            originals = Originals(self._work.spares, in_place=tool.in_place)
            own = OwnFiles(self._work.known(plain=self._plain), originals.linked)
            try:
                made = self._run_entry(tool, entry, originals, own)
                if entry is not entries[-1]:
                    made = put_aside(made, self._work.keep(), own)
                    self._work.empty()
            except AttemptError as error:
                if len(entries) > 1:
                    error.message = f"{entry.inputs[0].name}: {error.message}"
                raise
            files += made
        self._note_placed([file.url for file in files])
        self._phase.write(self._token, AttemptPhase.STAGE_OUT, _bytes_of(files, own))
        self._outputs = stage_out(files, own)

    def _run_entry(
        self, tool: Loaded, entry: Entry, originals: Originals, own: OwnFiles
    ) -> list[Produced]:
        self._phase.write(self._token, AttemptPhase.STAGE_IN)
        shared = self._shared.of(self._task, originals)
        values = stage_in(
            self._task, entry.inputs, f"{self._folder}/{IN}", originals=originals, shared=shared
        )
        if self._containers is not None:
            self._containers.memory = int(self._most_memory)
        self._input_bytes = sum(file.size for file in (*entry.inputs, *shared))
        prepared = tool.prepare(own, values, entry.inputs[0].url if entry.inputs else "", originals)
        self._story.command, self._story.note = prepared.arguments, prepared.note
        self._stop_if_told()
        self._phase.write(self._token, AttemptPhase.RUN)
        ended = self._run_tool(prepared)
        self._story.ended = together(self._story.ended, ended)
        self._require_undamaged(originals, ended)
        self._judge(tool, prepared, ended)
        found = tool.collect(prepared, ended.exit_code)
        self._stop_if_told()
        return outgoing(self._task, self._job, found, own, entry=entry.number)

    def _stop_if_told(self) -> None:
        if self._control.stop_reason(self._token) is not None:
            raise StoppedError

    def _run_tool(self, prepared: PreparedJob) -> Ended:
        folder, resources = self._folder, self._task.resources
        self._streams.close()
        self._story.streams.clear()
        apart = prepared.container is not None and prepared.container.own_limit
        memory = 0 if apart else self._most_memory
        limits = Limits(
            time=resources.time_limit,
            memory=memory,
            disk=resources.disk,
            grace=self._settings.grace,
            inputs=self._input_bytes / (1 << 20),
        )
        with ExitStack() as streams:
            program = Program(
                arguments=prepared.arguments,
                environment=prepared.environment,
                folder=f"{folder}/{OUT}",
                watched=[f"{folder}/{OUT}", f"{folder}/{TMP}"],
                stdin=self._stdin(prepared, streams),
                stdout=self._stream("stdout", prepared.stdout, prepared, streams),
                stderr=self._stream("stderr", prepared.stderr, prepared, streams),
                limit_files=not apart,
            )
            try:
                return self._run_program(program, limits, prepared)
            except OSError as error:
                raise _cannot_start(prepared.arguments[0], error) from error

    def _run_program(self, program: Program, limits: Limits, prepared: PreparedJob) -> Ended:
        container = prepared.container

        def known() -> frozenset[int]:
            return (
                expression_processes() if container is None else container.known()
            ) | self._seeds.pids

        start = self._seeds.start if prepared.seeded else start_program
        try:
            with self._live.following(live_url(self._task, self._job), self._story.streams):
                ended = run_program(
                    program, limits, self._control, known=known, start=start, memory=self._memory
                )
            return ended if container is None else container.judged(ended)
        finally:
            if container is not None:
                container.end()

    @property
    def _most_memory(self) -> float:
        """MiB that the job may use; 0: no limit."""
        if not self._asked:
            return self._settings.memory_unasked
        return max(self._settings.memory_floor, self._asked * self._settings.memory_factor)

    @property
    def _asked(self) -> int:
        """MiB that the job asks for; 0: nobody asked for any."""
        return self._task.resources.ram if self._job.ram is None else self._job.ram

    @property
    def _counted(self) -> int:
        """MiB that the node has kept free for the job: less is no fault of the job's."""
        return self._task.resources.counted_ram if self._job.ram is None else self._job.ram

    @property
    def _memory_note(self) -> str:
        if self._asked:
            return f"having asked for {self._asked} MiB"
        return (
            "all that this node lets a job have that asks for none (ramMin):"
            f" {self._most_memory:.0f} MiB"
        )

    def _stdin(self, prepared: PreparedJob, streams: ExitStack) -> IO[bytes] | int:
        if not prepared.stdin:
            return subprocess.DEVNULL
        try:
            return streams.enter_context(open(prepared.own.open(prepared.stdin), "rb"))
        except NotOwnError as error:
            raise AttemptError(
                ErrorClass.TOOL_REFUSED, f"the tool's stdin cannot be taken: {error}"
            ) from error

    def _stream(
        self, title: str, path: str | None, prepared: PreparedJob, streams: ExitStack
    ) -> int:
        """What the program writes to; the story gets what it is read by. ``path``: of an output of
        the tool's."""
        try:
            descriptor = (
                self._work.open_stream(title) if path is None else prepared.own.create(path)
            )
        except NotOwnError as error:
            raise AttemptError(
                ErrorClass.TOOL_REFUSED, f"the tool's {title} cannot be written: {error}"
            ) from error
        streams.callback(os.close, descriptor)
        if path is None or title == "stderr":  # else it is an output, and no message
            self._story.streams[title] = reading = os.open(
                f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC
            )
            self._streams.callback(os.close, reading)
        return descriptor

    def _require_undamaged(self, originals: Originals, ended: Ended) -> None:
        """Raises where the tool wrote to a file of a storage, however it ended; of one that was
        told to stop, the log says so."""
        damage = originals.damage()
        if damage is None:
            return
        log.error("attempt.original_damaged", error=damage.message)
        if ended.cut is not Cut.STOPPED:
            raise damage
        self._story.note = "\n".join(filter(None, (self._story.note, damage.message)))

    def _judge(self, tool: Loaded, prepared: PreparedJob, ended: Ended) -> None:
        """Raises unless the tool ended well."""
        resources, code = self._task.resources, ended.exit_code
        match ended.cut:
            case Cut.STOPPED:
                raise StoppedError
            case Cut.TIME:
                sentence = (
                    f"ran longer than its limit of {in_full(resources.time_limit)} s and was ended"
                )
                raise AttemptError(ErrorClass.TOOL_TIMEOUT, sentence, exit_code=code)
            case Cut.MEMORY:
                sentence = (
                    f"used {ended.memory or 0:.0f} MiB of memory, {self._memory_note}, and was"
                    " ended"
                )
                raise AttemptError(ErrorClass.OUT_OF_MEMORY, sentence, exit_code=code)
            case Cut.NODE_MEMORY:
                sentence = (
                    "was ended by the kernel: the node had no memory left, of which it used"
                    f" {ended.memory or 0:.0f} MiB, {self._memory_note}"
                )
                within = ended.memory is None or ended.memory <= self._counted
                raise AttemptError(
                    ErrorClass.PILOT_LOST if within else ErrorClass.OUT_OF_MEMORY,
                    sentence,
                    exit_code=code,
                )
            case Cut.DISK:
                sentence = f"filled its folder: it may write {resources.disk} MiB"
                raise AttemptError(ErrorClass.TOOL_FAILED, sentence, exit_code=code)
            case None:
                pass  # it ended by itself: its exit code says how
            case _:
                assert_never(ended.cut)
        inner = read_failure(prepared.failure) if prepared.failure and code == 1 else None
        error_class = tool.error_class(code) if inner is None else inner.error_class
        if error_class is None:
            return
        if error_class is ErrorClass.TOOL_FAILED and not has_room(self._folder):
            error_class = ErrorClass.NO_ROOM
        if inner is not None:
            raise AttemptError(
                error_class,
                inner.message,
                exit_code=code if inner.exit_code is None else inner.exit_code,
            )
        said = last_line(self._story.streams["stderr"])
        if prepared.container is not None and prepared.container.failed:
            prepared.container.containers.forget()
            sentence = f"the container could not be started: {said}"
            raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence, exit_code=code)
        sentence = ended_badly(
            prepared.program or os.path.basename(prepared.arguments[0]), code, said
        )
        if (
            error_class is ErrorClass.TOOL_FAILED
            and prepared.container is None
            and self._memory.refused(said)
        ):
            used = f", and had used {ended.memory:.0f} MiB" if ended.memory is not None else ""
            limit = f"it may use {self._most_memory:.0f} MiB of memory{used}"
            raise AttemptError(ErrorClass.OUT_OF_MEMORY, f"{sentence} ({limit})", exit_code=code)
        raise AttemptError(error_class, sentence, exit_code=code)

    def _note_placed(self, urls: list[str]) -> None:
        self._placed = urls
        self._journal.placing(self._token, [*urls, log_url(self._task, self._job)])

    def _report(
        self,
        outcome: AttemptOutcome,
        error_class: ErrorClass | None,
        message: str,
        *,
        exit_code: int | None = None,
    ) -> AttemptReport:
        ended = self._story.ended
        log_file: LogFile | None = None
        if outcome is not AttemptOutcome.RETURNED:
            log_file, trouble = self._log(outcome, error_class, message)
            message = f"{message}; {trouble}" if message and trouble else message or trouble
        return AttemptReport(
            id=self._job.id,
            attempt=self._job.attempt,
            outcome=outcome,
            started_at=self._story.started,
            ended_at=datetime.now(UTC),
            exit_code=ended.exit_code if ended is not None and exit_code is None else exit_code,
            error_class=error_class,
            message=message[:4000].encode(errors="backslashreplace").decode(),
            outputs=self._outputs,
            log=log_file,
            peak_memory=None if ended is None or ended.memory is None else round(ended.memory, 1),
            cpu_seconds=None if ended is None or ended.cpu is None else round(ended.cpu, 4),
        )

    def _log(
        self, outcome: AttemptOutcome, error_class: ErrorClass | None, message: str
    ) -> tuple[LogFile | None, str]:
        """The log on its storage; or None, and a sentence why not: a job that has its outputs is
        not lost for want of a log."""
        sentence = f"{outcome}" + (f" ({error_class}): {message}" if error_class else "")
        try:
            if not self._placed:
                self._note_placed([])
            text = write_log(
                self._task, self._job, self._story, sentence, limit=self._settings.log_limit
            )
            return stage_log(text, log_url(self._task, self._job)), ""
        except (StorageError, OSError) as error:
            return None, f"its log could not be kept: {error}"


def _bytes_of(files: Sequence[Produced], own: OwnFiles) -> int:
    """As far as they are there, and the job's: the others are missed, or refused, when they are
    stored."""
    total = 0
    for file in files:
        with suppress(NotOwnError):
            found = own.status(file.path)
            total += 0 if found is None else found.st_size
    return total


def _cannot_start(program: str, error: OSError) -> AttemptError:
    """With the exit code that a shell gives in this case."""
    if isinstance(error, FileNotFoundError):
        if os.path.sep in program:
            sentence = (
                f"program {program!r} does not exist on this node, or its interpreter does not"
            )
        else:
            sentence = f"program {program!r} was not found on this node's PATH"
        return AttemptError(ErrorClass.TOOL_FAILED, sentence, exit_code=127)
    code = 126 if error.errno in _NOT_EXECUTABLE else None
    return AttemptError(
        ErrorClass.TOOL_FAILED,
        f"program {program!r} cannot be started: {error.strerror}",
        exit_code=code,
    )
