"""Tools of a workflow inside a job, run as the user of the slot."""

import os

from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.users.programs import UserPrograms
from pilot.isolation.users.slot_user import SlotUser, chown_tree, let_all_read_below
from pilot.runner.inner_workflow.isolated_tools import InnerTool
from pilot.runner.programs.orphans import adopt_orphans, list_children
from pilot.runner.programs.running import Child, RunningProgram


class UserToolIsolation:
    """Isolation of tools by a user.

    ``folder`` contains the folders of the tools. The user can pass through it.
    """

    def __init__(self, user: SlotUser, folder: str) -> None:
        self._programs = UserPrograms(user)
        self._folder = folder
        adopt_orphans()

    def start(self, tool: InnerTool) -> RunningProgram:
        """Start a tool.

        Raises:
            OSError: The tool could not be started.
            SlotUserError: The tool could not be run as the user.
        """
        user = self._programs.user
        for path in dict.fromkeys((tool.job.outdir, tool.job.tmpdir)):
            chown_tree(path, user)
        let_all_read_below(self._folder)
        for stream in tool.streams[1:]:
            os.fchown(stream, user.uid, user.gid)
        other_children = frozenset(list_children())
        pid = self._programs.start(
            tool.arguments,
            environment=tool.environment,
            folder=tool.folder,
            streams=tool.streams,
            limits=ProcessLimits(),
        )
        return Child(pid, lambda: other_children | self._programs.pids)

    def close(self) -> None:
        """End the programs of the user."""
        self._programs.close()
