"""Tools of a workflow inside a job, with the isolation of the slot."""

import logging
import os
import select
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Timer
from typing import Any, Protocol

import cwltool.job

from pilot.isolation.sandbox.sandbox_instance import SandboxError
from pilot.isolation.users.programs import SlotUserError
from pilot.runner.failures import AttemptError, sandbox_error, user_error
from pilot.runner.programs.running import RunningProgram

#: cwltool's logger, so that observers of its messages learn of a time limit as usual.
_log = logging.getLogger("cwltool")
#: Seconds between SIGTERM and SIGKILL for a tool over its time limit.
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class InnerTool:
    """A program that cwltool starts for its own job.

    Attributes:
        job: The job of cwltool.
        streams: The descriptors of standard input, output and error.
        stdin: The path of standard input.
    """

    job: Any
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: str
    streams: Sequence[int]
    stdin: str


class ToolIsolation(Protocol):
    """Isolation of tools."""

    def start(self, tool: InnerTool) -> RunningProgram:
        """Start a tool.

        Raises:
            OSError: The tool could not be started.
            SandboxError: The sandbox has failed.
            SlotUserError: The tool could not be run as the user.
        """
        ...

    def close(self) -> None:
        """End all tools."""


class IsolatedTools:
    """Runs the tools that cwltool starts, in isolation.

    ``report_failure`` is called if a tool cannot be started because the isolation fails.
    """

    def __init__(
        self, isolation: ToolIsolation, *, report_failure: Callable[[AttemptError], None]
    ) -> None:
        self._isolation = isolation
        self._report_failure = report_failure
        self._job: Any = None
        self._original = cwltool.job._job_popen

    def install(self) -> None:
        """Make cwltool start the tools of ``wrap_job`` with the isolation."""
        cwltool.job._job_popen = self._run

    def close(self) -> None:
        """End all tools."""
        self._isolation.close()

    def wrap_job(self, kind: Any) -> Any:
        """Return a subclass of a kind of cwltool's jobs whose tools are isolated.

        Tools in containers are left to their engine.
        """
        tools = self

        class Job(kind):  # type: ignore[misc] # cwltool's types are not followed
            def _execute(self, runtime: list[str], *arguments: Any, **options: Any) -> None:
                tools._job = None if runtime else self
                super()._execute(runtime, *arguments, **options)

        return Job

    def _run(self, commands: Sequence[str], **options: Any) -> int:
        """Run a tool in place of cwltool's function.

        Returns:
            The exit code, negative for a signal.
        """
        if self._job is None:
            return int(self._original(commands, **options))
        stdin = options["stdin_path"] or os.devnull
        with ExitStack() as streams:
            descriptors = [
                streams.enter_context(open(stdin, "rb")).fileno(),
                *(
                    sys.stderr.fileno()
                    if path is None
                    else streams.enter_context(open(path, "wb")).fileno()
                    for path in (options["stdout_path"], options["stderr_path"])
                ),
            ]
            tool = InnerTool(
                self._job,
                commands,
                options["env"],
                options["cwd"],
                streams=descriptors,
                stdin=stdin,
            )
            try:
                running = self._isolation.start(tool)
            except (SandboxError, SlotUserError) as error:
                self._report_failure(
                    sandbox_error(error) if isinstance(error, SandboxError) else user_error(error)
                )
                raise
            return _wait(running, options["timelimit"], options["name"])


def _wait(running_program: RunningProgram, limit: float | None, name: str) -> int:
    """Wait for the end of a tool and return its exit code.

    ``limit`` is its time limit in seconds, or None.
    """
    timers = []
    if limit:

        def too_slow() -> None:
            template = "[job %s] exceeded time limit of %d seconds and will be terminated"
            _log.warning(template, name, limit)
            running_program.signal(signal.SIGTERM)

        timers = [
            Timer(limit, too_slow),
            Timer(limit + _GRACE, running_program.signal, (signal.SIGKILL,)),
        ]
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        poll = select.poll()
        poll.register(running_program.descriptor, select.POLLIN)
        poll.poll()
        return os.waitstatus_to_exitcode(running_program.end().status)
    finally:
        for timer in timers:
            timer.cancel()
