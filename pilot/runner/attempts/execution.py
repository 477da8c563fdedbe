"""Execution of an attempt's tool with its streams, limits and container."""

import errno
import os
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import IO

from pilot.folders.work_folder import OUT
from pilot.isolation.sandbox.sandbox import Sandbox, list_gpu_devices
from pilot.isolation.sandbox.sandbox_instance import SandboxError
from pilot.isolation.users.programs import SlotUserError
from pilot.runner.attempts.context import SlotContext, list_long_lived_children
from pilot.runner.attempts.job_log import AttemptRecord
from pilot.runner.attempts.memory_limit import MemoryLimit
from pilot.runner.attempts.slot_warm_worker import (
    WarmWorkerJob,
    copy_stream,
    create_key,
    write_output,
)
from pilot.runner.failures import AttemptError, sandbox_error, user_error
from pilot.runner.files.job_files import ForeignFileError
from pilot.runner.files.staging import live_url
from pilot.runner.inner_workflow.isolation import write_isolation
from pilot.runner.isolation.isolation import ToolAllocation
from pilot.runner.programs.exit_messages import describe_missing_program
from pilot.runner.programs.program import (
    Program,
    ProgramEnd,
    ProgramLimits,
    Start,
    run_program,
    start_as_child,
    start_child,
)
from pilot.runner.tools.prepared_job import PreparedJob
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted
from sluice.tools.visible_paths import within

#: Errors for a program that exists but is not executable.
_NOT_EXECUTABLE = frozenset({errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR})


class Execution:
    """Runs the tool of one attempt for its entries, one after the other.

    As a context manager it closes the streams that ``record`` has of the last run. ``gpus`` lists
    the uuids of the GPUs that the tool may use.
    """

    def __init__(
        self,
        task: PilotTask,
        job: LeasedJob,
        context: SlotContext,
        *,
        record: AttemptRecord,
        memory_limit: MemoryLimit,
        gpus: Sequence[str],
    ) -> None:
        self._task = task
        self._context = context
        self._list_children = partial(list_long_lived_children, context.zygote, context.isolation)
        self._record = record
        self._memory_limit = memory_limit
        self._gpus = gpus
        self._live_url = live_url(task, job)
        #: Closes the descriptors that the log is read from.
        self._streams = ExitStack()

    def __enter__(self) -> "Execution":
        return self

    def __exit__(self, *_error: object) -> None:
        self._streams.close()

    def run(self, prepared_job: PreparedJob) -> ProgramEnd:
        """Run the prepared tool to its end.

        Raises:
            AttemptError: The tool could not be run.
            OSError: The node has failed.
        """
        self._streams.close()
        self._record.streams.clear()
        isolation = self._context.isolation
        if prepared_job.container is None:  # A container engine isolates the tool otherwise.
            self._record.isolation_gaps = isolation.describe_gaps(prepared_job)
            isolation.hand_over(prepared_job)
        if prepared_job.own_python:
            write_isolation(
                isolation.create_inner(prepared_job, self._allocation), prepared_job.job
            )
        folder = prepared_job.job_files.folder
        has_engine_limit = (
            prepared_job.container is not None and prepared_job.container.engine_limits_memory
        )
        with ExitStack() as streams:
            stdout = self._open_stream("stdout", prepared_job.stdout, prepared_job, streams)
            stderr = self._open_stream(
                "stderr", None if prepared_job.warm else prepared_job.stderr, prepared_job, streams
            )
            program = Program(
                arguments=prepared_job.arguments,
                environment=prepared_job.environment,
                folder=f"{folder}/{OUT}",
                disk_folder=folder,
                stdin=_open_stdin(prepared_job, streams),
                stdout=stdout,
                stderr=stderr,
                limit_files=not has_engine_limit,
                stdin_path=prepared_job.stdin,
            )
            try:
                end = self._run(
                    program,
                    self._create_limits(prepared_job, has_engine_limit=has_engine_limit),
                    prepared_job,
                )
                if prepared_job.warm is not None:
                    self._write_answer(prepared_job, program, end, streams)
                return end
            except OSError as error:
                sandbox = (
                    None if prepared_job.is_isolated_elsewhere else self._context.settings.sandbox
                )
                raise _create_start_error(prepared_job.arguments[0], error, sandbox) from error
            except SandboxError as error:
                raise sandbox_error(error) from error
            except SlotUserError as error:
                raise user_error(error) from error

    def _write_answer(
        self, prepared_job: PreparedJob, program: Program, end: ProgramEnd, streams: ExitStack
    ) -> None:
        """Write the answer of a warm worker to the tool's output files.

        Raises:
            AttemptError: The warm worker has not answered.
        """
        if prepared_job.stderr is not None:
            target = prepared_job.job_files.create(prepared_job.stderr)
            streams.callback(os.close, target)
            copy_stream(self._record.streams["stderr"], target)
        request = self._context.warm_worker.request
        if request is None or end.kill_reason is not None:
            return
        if request.answer is not None:
            write_output(program.stdout, request.answer.output)
        elif request.failure:
            sentence = f"the tool {request.failure} (sluice:warm), and was ended"
            raise AttemptError(ErrorClass.TOOL_FAILED, sentence)
        elif end.exit_code == 0:
            sentence = "the tool ended by itself, with exit code 0, before it had answered"
            raise AttemptError(ErrorClass.TOOL_FAILED, f"{sentence} (sluice:warm)", exit_code=0)

    def _create_limits(self, prepared_job: PreparedJob, *, has_engine_limit: bool) -> ProgramLimits:
        """Return the limits of the tool.

        ``has_engine_limit`` says that the container engine limits the memory.
        """
        resources = self._task.needs.resources
        return ProgramLimits(
            time=prepared_job.find_time_limit(resources),
            memory=0 if has_engine_limit else self._memory_limit.maximum,
            disk=resources.disk,
            grace=self._context.settings.grace,
            inputs=prepared_job.input_bytes / (1 << 20),
        )

    def _start(self, prepared_job: PreparedJob) -> Start:
        context, container = self._context, prepared_job.container
        list_others = self._list_children if container is None else container.list_others
        if prepared_job.is_isolated_elsewhere:
            return start_as_child(
                list_others, context.zygote.start if prepared_job.own_python else start_child
            )
        return context.isolation.start(prepared_job, self._allocation, list_others)

    @property
    def _allocation(self) -> ToolAllocation:
        paths = self._context.settings.gpus
        own = [paths[uuid] for uuid in self._gpus]
        return ToolAllocation(self._memory_limit.maximum, list_gpu_devices(own))

    def _run(
        self, program: Program, limits: ProgramLimits, prepared_job: PreparedJob
    ) -> ProgramEnd:
        container = prepared_job.container
        self._context.group.set_cores(self._task.needs.resources.cores)
        try:
            with self._context.live.follow(
                self._live_url, self._record.streams, redaction=self._record.redaction
            ):
                warm_memory, start = self._prepare_warm_worker(prepared_job, limits) or (
                    0.0,
                    self._start(prepared_job),
                )
                end = run_program(
                    program,
                    limits,
                    self._context.control,
                    start=start,
                    memory=self._context.memory,
                    warm_memory=warm_memory,
                )
            return end if container is None else container.explain_end(end)
        finally:
            if container is not None:
                container.end()
            if not self._context.warm_worker.pids:
                self._context.isolation.tidy_up()

    def _prepare_warm_worker(
        self, prepared_job: PreparedJob, limits: ProgramLimits
    ) -> tuple[float, Start] | None:
        """Return how a warm worker is asked and its memory in MiB, or None for another tool."""
        context, command = self._context, prepared_job.warm
        if command is None:
            context.warm_worker.end()
            return None
        key = create_key(command, prepared_job, self._allocation, limits)
        launch = context.isolation.start_warm_worker(
            prepared_job, self._allocation, self._list_children
        )
        job = WarmWorkerJob(key, self._task.step, command, prepared_job, launch, context.memory)
        return context.warm_worker.make_ready(key, prepared_job), partial(
            context.warm_worker.send_job, job
        )

    def _open_stream(
        self, title: str, path: str | None, prepared_job: PreparedJob, streams: ExitStack
    ) -> int:
        """Open a stream for the program and keep a descriptor to read it for the log.

        ``path`` is the output file that takes the stream, or None.
        """
        try:
            descriptor = (
                self._context.folder.open_stream(title)
                if path is None
                else prepared_job.job_files.create(path)
            )
        except ForeignFileError as error:
            raise AttemptError(
                ErrorClass.TOOL_REFUSED, f"the tool's {title} cannot be written: {error}"
            ) from error
        streams.callback(os.close, descriptor)
        self._context.isolation.hand_over_stream(descriptor)
        if path is None or title == "stderr":  # Any other stream is an output and not a message.
            self._record.streams[title] = reading = os.open(
                f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC
            )
            self._streams.callback(os.close, reading)
        return descriptor


def _open_stdin(prepared_job: PreparedJob, streams: ExitStack) -> IO[bytes] | int:
    if prepared_job.stdin_data:
        return streams.enter_context(_create_memory_file(prepared_job.stdin_data))
    if not prepared_job.stdin:
        return subprocess.DEVNULL
    try:
        return streams.enter_context(open(prepared_job.job_files.open(prepared_job.stdin), "rb"))
    except ForeignFileError as error:
        raise AttemptError(
            ErrorClass.TOOL_REFUSED, f"the tool's stdin cannot be opened: {error}"
        ) from error


def _create_memory_file(data: bytes) -> IO[bytes]:
    """Return a file in memory with ``data``, open at its start."""
    file = open(os.memfd_create("job", os.MFD_CLOEXEC), "r+b", buffering=0)  # noqa: SIM115 - the caller closes it
    file.write(data)
    file.seek(0)
    return file


def _create_start_error(program: str, error: OSError, sandbox: Sandbox | None) -> AttemptError:
    """Return the failure with the exit code that a shell would give.

    ``sandbox`` is the sandbox that the program should have run in.
    """
    if isinstance(error, FileNotFoundError):
        sentence = _explain_missing_program(program, sandbox)
        return AttemptError(ErrorClass.TOOL_FAILED, sentence, exit_code=127)
    code = 126 if error.errno in _NOT_EXECUTABLE else None
    return AttemptError(
        ErrorClass.TOOL_FAILED,
        f"program {quoted(program)} cannot be started: {reason_of(error)}",
        exit_code=code,
    )


def _explain_missing_program(program: str, sandbox: Sandbox | None) -> str:
    """Return why a program was not found, and what to do."""
    dropped = {} if sandbox is None else sandbox.dropped
    if os.path.sep not in program:
        for folder, reason in dropped.items():
            if os.path.isfile(os.path.join(folder, program)):
                return (
                    f"program {quoted(program)} is in {folder}, which tools do not see in this"
                    f" pilot's sandbox: {reason}"
                )
        return describe_missing_program(program)
    if sandbox is None or not os.path.isabs(program) or not os.path.exists(program):
        return describe_missing_program(program)
    reason = next((cause for path, cause in dropped.items() if within(program, path)), "")
    return (
        f"program {quoted(program)}, or its interpreter, is where tools see nothing in this"
        f" pilot's sandbox{reason and ': '}{reason}: add its folder to SLUICE_PILOT_SANDBOX_PATHS,"
        " or to the PATH that the pilot is started with"
    )
