"""Tools of a workflow inside a job, kept in by what the slot keeps its tools in."""

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

from pilot.runner.failures import AttemptError, sandbox_error, user_error
from pilot.runner.programs.running import Running
from pilot.sandbox.held_sandbox import SandboxError
from pilot.users.programs import UserError

#: cwltool's, so that who watches what it says is told of a time limit as by it.
_log = logging.getLogger("cwltool")
#: Seconds between SIGTERM and SIGKILL for a tool that is too slow.
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class InnerTool:
    """A program that cwltool wants to run for ``job``, which is its own. ``streams``: descriptors
    of standard input, output and error; ``stdin``: path of the first."""

    job: Any
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: str
    streams: Sequence[int]
    stdin: str


class Walls(Protocol):
    """What tools are kept in."""

    def start(self, tool: InnerTool) -> Running:
        """Raises ``OSError``, ``SandboxError``, ``UserError``."""
        ...

    def close(self) -> None: ...


class ContainedTools:
    """``failed``: told where a tool cannot be started for want of its walls."""

    def __init__(self, walls: Walls, *, failed: Callable[[AttemptError], None]) -> None:
        self._walls = walls
        self._failed = failed
        self._job: Any = None
        self._own = cwltool.job._job_popen

    def install(self) -> None:
        """From here on, cwltool starts the tools of ``around`` so."""
        cwltool.job._job_popen = self._run

    def close(self) -> None:
        self._walls.close()

    def around(self, kind: Any) -> Any:
        """Jobs of cwltool's ``kind``, which are kept in; those in containers are not."""
        tools = self

        class Job(kind):  # type: ignore[misc] # cwltool's types are not followed
            def _execute(self, runtime: list[str], *arguments: Any, **named: Any) -> None:
                tools._job = None if runtime else self
                super()._execute(runtime, *arguments, **named)

        return Job

    def _run(self, commands: Sequence[str], **options: Any) -> int:
        """In the place of cwltool's: gives the exit code, negative for a signal."""
        if self._job is None:
            return int(self._own(commands, **options))
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
                running = self._walls.start(tool)
            except (SandboxError, UserError) as error:
                self._failed(
                    sandbox_error(error) if isinstance(error, SandboxError) else user_error(error)
                )
                raise
            return _ended(running, options["timelimit"], options["name"])


def _ended(running: Running, limit: float | None, name: str) -> int:
    """The exit code, once it has ended. ``limit``: seconds that it may take; None: any."""
    timers = []
    if limit:

        def too_slow() -> None:
            template = "[job %s] exceeded time limit of %d seconds and will be terminated"
            _log.warning(template, name, limit)
            running.signal(signal.SIGTERM)

        timers = [
            Timer(limit, too_slow),
            Timer(limit + _GRACE, running.signal, (signal.SIGKILL,)),
        ]
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        ended = select.poll()
        ended.register(running.descriptor, select.POLLIN)
        ended.poll()
        return os.waitstatus_to_exitcode(running.end().status)
    finally:
        for timer in timers:
            timer.cancel()
