"""Objects that the attempts of one slot share."""

from dataclasses import dataclass

from pilot.folders.work_folder import WorkFolder
from pilot.reports.journal import Journal
from pilot.runner.attempts.live_log import LiveLogs
from pilot.runner.attempts.slot_warm_worker import SlotWarmWorker
from pilot.runner.containers.containers import Containers
from pilot.runner.expressions.engine import list_expression_processes
from pilot.runner.files.shared_inputs import SharedFiles
from pilot.runner.isolation.isolation import Isolation
from pilot.runner.programs.control import SlotControl
from pilot.runner.programs.memory import Memory
from pilot.runner.programs.slot_group import SlotGroup
from pilot.runner.programs.zygote import Zygote
from pilot.runner.progress_file import ProgressFile
from pilot.runner.protocol import RunnerSettings


@dataclass(frozen=True, slots=True)
class SlotContext:
    """Objects that the attempts of one slot share.

    Attributes:
        containers: None if the node has no container engine.
    """

    settings: RunnerSettings
    folder: WorkFolder
    journal: Journal
    control: SlotControl
    zygote: Zygote
    shared: SharedFiles
    progress: ProgressFile
    containers: Containers | None
    live: LiveLogs
    memory: Memory
    group: SlotGroup
    isolation: Isolation
    warm_worker: SlotWarmWorker


def list_long_lived_children(zygote: Zygote, isolation: Isolation) -> frozenset[int]:
    """Return the child processes of a slot that serve many jobs."""
    return list_expression_processes() | zygote.pids | isolation.pids
