"""Control groups of a slot besides the memory group: number of processes and share of cores."""

import os
from contextlib import suppress
from pathlib import Path

import structlog

from pilot.isolation.node.memory_groups import ControlGroupSettings, slot_group
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

#: Number of processes and threads of the slot itself.
_OWN = 64
#: Weight of one core: ``cpu.weight`` in version 2, ``cpu.shares`` in version 1.
_WEIGHT, _SHARES = 100, 1024
_MAX_WEIGHT, _MAX_SHARES = 10_000, 262_144


class SlotGroup:
    """Control groups for processes and cores, to which this process moves.

    ``processes`` is the maximum number of processes of a tool, or None.
    """

    def __init__(self, groups: ControlGroupSettings | None, processes: int | None) -> None:
        self._cores: Path | None = None
        self._current_cores = 1.0
        if groups is None:
            return
        name = slot_group(os.getpid())
        self._is_version_2 = groups.version == 2
        try:
            if groups.processes is not None and processes is not None:
                folder = Path(groups.processes) / name
                _move_to_group(folder)
                (folder / "pids.max").write_text(str(processes + _OWN))
            if groups.cores is not None:
                _move_to_group(Path(groups.cores) / name)
                self._cores = Path(groups.cores) / name
        except OSError as error:
            log.warning("slot.no_group", reason=reason_of(error))

    def set_cores(self, cores: float) -> None:
        """Set the weight of the slot to the cores that the job has allocated.

        The weight counts only if other slots want the cores too.
        """
        if self._cores is None or cores == self._current_cores:
            return
        file, weight, maximum = (
            ("cpu.weight", _WEIGHT, _MAX_WEIGHT)
            if self._is_version_2
            else ("cpu.shares", _SHARES, _MAX_SHARES)
        )
        with suppress(OSError):
            (self._cores / file).write_text(str(min(maximum, max(1, round(weight * cores)))))
            self._current_cores = cores


def _move_to_group(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "cgroup.procs").write_text(str(os.getpid()))
