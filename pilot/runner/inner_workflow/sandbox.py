"""Tools of a workflow inside a job, in a sandbox that this process holds for all of them."""

import os
from typing import Any

from pilot.folders.work_folder import IN, SYSTEM_TMP, TMP
from pilot.runner.inner_workflow.contained_tools import InnerTool
from pilot.runner.programs.running import Running
from pilot.sandbox.held_sandbox import Sandboxes
from pilot.sandbox.process_limits import ProcessLimits
from pilot.sandbox.sandbox import Extras, Sandbox
from pilot.sandbox.view import SeenFile, View, links_to
from sluice.contracts.base import Contract


class InnerSandbox(Contract):
    """``targets``: where links to the job's inputs lead. ``in_place``: its tools change inputs,
    which are copies. ``devices``: files of its GPUs. ``shared_memory``: bytes that each tool may
    have."""

    sandbox: Sandbox
    targets: list[str]
    in_place: bool
    devices: list[str]
    shared_memory: int


class InnerSandboxWalls:
    """``folder``: of the job, as it knows it."""

    def __init__(self, inner: InnerSandbox, folder: str) -> None:
        self._inner = inner
        self._real = os.path.realpath(folder)
        self._links = links_to(folder, self._real)
        self._sandboxes = Sandboxes(inner.sandbox, [self._real])

    def start(self, tool: InnerTool) -> Running:
        """Raises ``OSError``, ``SandboxError``."""
        gets = Extras(network=bool(tool.job.networkaccess), devices=tuple(self._inner.devices))
        return self._sandboxes.of(gets).start(
            tool.arguments,
            environment=tool.environment,
            folder=tool.folder,
            streams=tool.streams[1:],
            limits=ProcessLimits(),
            view=self._view(tool.job),
            stdin=tool.stdin,
        )

    def close(self) -> None:
        self._sandboxes.close()

    def _view(self, job: Any) -> View:
        """Its own folders to write to; what the job and other tools have made, to read, unless it
        is this tool that changes its inputs."""
        changed = self._inner.in_place and job.inplace_update
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
            shared_memory=self._inner.shared_memory,
        )
