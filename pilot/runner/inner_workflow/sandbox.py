"""Tools of a workflow inside a job, in a sandbox that this process holds for all of them."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from threading import Timer
from typing import Any

import cwltool.job

from pilot.folders.work_folder import IN, SYSTEM_TMP, TMP
from pilot.runner.failures import AttemptError, sandbox_error
from pilot.sandbox.sandbox import Extras, Sandbox, SandboxError, Sandboxes
from pilot.sandbox.view import SeenFile, View, links_to
from sluice.contracts.base import Contract

#: cwltool's, so that who watches what it says is told of a time limit as by it.
_log = logging.getLogger("cwltool")
#: Seconds between SIGTERM and SIGKILL for a tool that is too slow.
_GRACE = 5.0


class InnerSandbox(Contract):
    """``targets``: where links to the job's inputs lead. ``in_place``: its tools change inputs,
    which are copies. ``gpus``: they get the node's."""

    sandbox: Sandbox
    targets: list[str]
    in_place: bool
    gpus: bool


class ToolsInSandbox:
    """``folder``: of the job, as it knows it. ``failed``: told where a tool cannot be started for
    want of its sandbox."""

    def __init__(
        self, inner: InnerSandbox, folder: str, *, failed: Callable[[AttemptError], None]
    ) -> None:
        self._inner = inner
        self._real = os.path.realpath(folder)
        self._links = links_to(folder, self._real)
        self._failed = failed
        self._sandboxes = Sandboxes(inner.sandbox, [self._real])
        self._job: Any = None
        self._own = cwltool.job._job_popen

    def install(self) -> None:
        """From here on, cwltool starts the tools of ``around`` so."""
        cwltool.job._job_popen = self._run

    def close(self) -> None:
        self._sandboxes.close()

    def around(self, kind: Any) -> Any:
        """Jobs of cwltool's ``kind``, which run in the sandbox; those in containers do not."""
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
        with ExitStack() as streams:
            descriptors = [
                streams.enter_context(open(options["stdin_path"] or os.devnull, "rb")).fileno(),
                *(
                    sys.stderr.fileno()
                    if path is None
                    else streams.enter_context(open(path, "wb")).fileno()
                    for path in (options["stdout_path"], options["stderr_path"])
                ),
            ]
            return self._run_with(descriptors, commands, options)

    def _run_with(
        self, streams: Sequence[int], commands: Sequence[str], options: Mapping[str, Any]
    ) -> int:
        try:
            gets = Extras(network=bool(self._job.networkaccess), gpus=self._inner.gpus)
            running = self._sandboxes.of(gets).start(
                commands,
                environment=options["env"],
                folder=options["cwd"],
                streams=streams,
                limits={},
                view=self._view(self._job),
            )
        except SandboxError as error:
            self._failed(sandbox_error(error))
            raise
        timers = []
        if options["timelimit"]:

            def too_slow() -> None:
                template = "[job %s] exceeded time limit of %d seconds and will be terminated"
                _log.warning(template, options["name"], options["timelimit"])
                running.signal(signal.SIGTERM)

            timers = [
                Timer(options["timelimit"], too_slow),
                Timer(options["timelimit"] + _GRACE, running.signal, (signal.SIGKILL,)),
            ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        try:
            return os.waitstatus_to_exitcode(running.end().status)
        finally:
            for timer in timers:
                timer.cancel()

    def _view(self, job: Any) -> View:
        """Its own folders to write to; what the job and other tools have made, to read."""
        changed = self._inner.in_place
        inputs = [f"{self._real}/{IN}", f"{self._real}/{TMP}"]
        own = dict.fromkeys(os.path.realpath(path) for path in (job.outdir, job.tmpdir))
        return View(
            [
                SeenFile("/tmp", f"{self._real}/{SYSTEM_TMP}", writable=True),  # noqa: S108 - its own
                *(SeenFile(path, path, writable=changed) for path in inputs),
                *(SeenFile(path, path, writable=True) for path in own),
                *(
                    SeenFile(path, os.path.realpath(path))
                    for path in dict.fromkeys(self._inner.targets)
                ),
            ],
            links=self._links,
        )
