"""Tools of a workflow inside a job, as the user of its slot."""

import os

from pilot.runner.inner_workflow.contained_tools import InnerTool
from pilot.runner.programs.orphans import adopt_orphans, children
from pilot.runner.programs.running import Child, Running
from pilot.sandbox.process_limits import ProcessLimits
from pilot.users.programs import UserPrograms
from pilot.users.slot_user import SlotUser, give, let_all_read_below


class InnerUserWalls:
    """``folder``: in which the tools have theirs, and that the user can go through."""

    def __init__(self, user: SlotUser, folder: str) -> None:
        self._programs = UserPrograms(user)
        self._folder = folder
        adopt_orphans()

    def start(self, tool: InnerTool) -> Running:
        """Raises ``OSError``, ``UserError``."""
        user = self._programs.user
        for path in dict.fromkeys((tool.job.outdir, tool.job.tmpdir)):
            give(path, user)
        let_all_read_below(self._folder)
        for stream in tool.streams[1:]:
            os.fchown(stream, user.uid, user.gid)
        known = frozenset(children())
        pid = self._programs.start(
            tool.arguments,
            environment=tool.environment,
            folder=tool.folder,
            streams=tool.streams,
            limits=ProcessLimits(),
        )
        return Child(pid, lambda: known | self._programs.pids, ProcessLimits())

    def close(self) -> None:
        self._programs.close()
