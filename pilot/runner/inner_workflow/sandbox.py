"""Tools of a workflow inside a job in a sandbox, which this process holds for all of them."""

import os
from typing import Any

from pilot.folders.work_folder import IN, SYSTEM_TMP, TMP
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions
from pilot.isolation.sandbox.sandbox_instance import Sandboxes
from pilot.isolation.sandbox.view import View, VisibleFile, links_to
from pilot.runner.inner_workflow.isolated_tools import InnerTool
from pilot.runner.programs.running import RunningProgram
from sluice.contracts.common.base import Contract


class InnerSandbox(Contract):
    """Sandbox for the tools of a workflow.

    Attributes:
        targets: The targets of links to the job's inputs.
        in_place: Whether tools change inputs, which are copies then.
        devices: The files of the job's GPUs.
        shared_memory: The limit for each tool in bytes.
    """

    sandbox: Sandbox
    targets: list[str]
    in_place: bool
    devices: list[str]
    shared_memory: int


class SandboxToolIsolation:
    """Isolation of tools by a sandbox.

    ``folder`` is the job's folder as the job knows it.
    """

    def __init__(self, inner: InnerSandbox, folder: str) -> None:
        self._inner = inner
        self._real = os.path.realpath(folder)
        self._links = links_to(folder, self._real)
        self._sandboxes = Sandboxes(inner.sandbox, [self._real])

    def start(self, tool: InnerTool) -> RunningProgram:
        """Start a tool.

        Raises:
            OSError: The tool could not be started.
            SandboxError: The sandbox has failed.
        """
        options = SandboxOptions(
            network=bool(tool.job.networkaccess), devices=tuple(self._inner.devices)
        )
        return self._sandboxes.get(options).start(
            tool.arguments,
            environment=tool.environment,
            folder=tool.folder,
            streams=tool.streams[1:],
            limits=ProcessLimits(),
            view=self._view(tool.job),
            stdin=tool.stdin,
        )

    def close(self) -> None:
        """End the sandboxes with all tools."""
        self._sandboxes.close()

    def _view(self, job: Any) -> View:
        """Return the view of a tool.

        It may write to its own folders and read those of the job and of other tools. A tool that
        changes its inputs may write to those too.
        """
        changed = self._inner.in_place and job.inplace_update
        inputs = [f"{self._real}/{IN}", f"{self._real}/{TMP}"]
        own_folders = dict.fromkeys(os.path.realpath(path) for path in (job.outdir, job.tmpdir))
        return View(
            [
                VisibleFile("/tmp", f"{self._real}/{SYSTEM_TMP}", writable=True),  # noqa: S108 - its own
                *(VisibleFile(path, path, writable=changed) for path in inputs),
                *(VisibleFile(path, path, writable=True) for path in own_folders),
                *(
                    VisibleFile(path, os.path.realpath(path))
                    for path in dict.fromkeys(self._inner.targets)
                ),
            ],
            links=self._links,
            shared_memory=self._inner.shared_memory,
        )
