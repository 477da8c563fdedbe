"""What the attempts of one slot share, one after the other."""

from dataclasses import dataclass

from pilot.folders.work_folder import WorkFolder
from pilot.reports.journal import Journal
from pilot.runner.attempts.live_log import LiveLogs
from pilot.runner.containers.containers import Containers
from pilot.runner.expressions.engine import expression_processes
from pilot.runner.files.shared_inputs import SharedFiles
from pilot.runner.programs.control import SlotControl
from pilot.runner.programs.memory import Memory
from pilot.runner.programs.slot_group import SlotGroup
from pilot.runner.programs.zygote import Zygote
from pilot.runner.progress_file import ProgressFile
from pilot.runner.protocol import RunnerSettings
from pilot.sandbox.sandbox import Sandboxes
from pilot.users.programs import UserPrograms


@dataclass(frozen=True, slots=True)
class SlotContext:
    """``containers``: None where the node has no engine of them; ``sandbox``: None where it has no
    sandbox; ``user``: None where tools run as this process's."""

    settings: RunnerSettings
    folder: WorkFolder
    journal: Journal
    control: SlotControl
    zygote: Zygote
    shared: SharedFiles
    phase: ProgressFile
    containers: Containers | None
    live: LiveLogs
    memory: Memory
    group: SlotGroup
    sandbox: Sandboxes | None
    user: UserPrograms | None

    def lasting(self) -> frozenset[int]:
        """Children of the slot that serve many jobs."""
        return lasting_children(self.zygote, self.sandbox, self.user)


def lasting_children(
    zygote: Zygote, sandbox: Sandboxes | None, user: UserPrograms | None
) -> frozenset[int]:
    holders = [zygote, *(holder for holder in (sandbox, user) if holder is not None)]
    return expression_processes().union(*(holder.pids for holder in holders))
