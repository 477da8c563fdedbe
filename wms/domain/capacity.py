"""How many jobs of which tasks a pilot is given at once: never more than what it has left holds,
and a big job is not passed over for ever by small ones."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sluice.contracts.pilots import Amounts, LeaseRequest
from wms.domain.matching import Demand

#: Seconds for which none of a task's jobs was given away before a pilot is kept free for one, and
#: for how long at the most.
PATIENCE = 30.0
KEPT = timedelta(seconds=300)

#: Fractions of cores add up to whole ones, whatever their binary rounding.
_ROUNDING = 1e-6


@dataclass(slots=True)
class _FreeAmounts:
    cores: float
    ram: int
    gpus: int

    def times(self, demand: Demand, ram: int) -> float:
        """How often it holds what a job needs."""
        fits = (self.cores + _ROUNDING) // demand.needs.resources.cores
        if ram:
            fits = min(fits, self.ram // ram)
        gpus = demand.needs.gpus
        return min(fits, self.gpus // gpus) if gpus else fits

    def take(self, demand: Demand, ram: int) -> None:
        self.cores -= demand.needs.resources.cores
        self.ram -= ram
        self.gpus -= demand.needs.gpus


class PilotCapacity:
    """What a pilot that asks has left. One of the release before does not say: it gets as many jobs
    as it asks for."""

    def __init__(self, request: LeaseRequest) -> None:
        ahead = 0 if request.room is None else min(request.room.ahead, request.jobs)
        self._starts, self._ahead = request.jobs - ahead, ahead
        self._free = None if request.room is None else _free_amounts(request.room.free)
        self._soon = None if request.room is None else _free_amounts(request.room.soon)

    @property
    def jobs(self) -> int:
        """It may still be given."""
        return self._starts + self._ahead

    def offer(self, demand: Demand) -> int:
        """How many jobs of the task it may be given now: those that fit together into what is free,
        and, of jobs that are to come after what it runs, those that fit by themselves into what is
        free soon."""
        if self._free is None or self._soon is None:
            return min(self.jobs, demand.ready)
        starts = min(self._starts, self._free.times(demand, demand.ram))
        ahead = self._ahead if self._soon.times(demand, demand.ram) >= 1 else 0
        return int(min(starts + ahead, demand.ready))

    @property
    def most_ram(self) -> int | None:
        """MiB that a single job may need; None: not known."""
        if self._free is None or self._soon is None:
            return None
        return max(self._free.ram if self._starts else 0, self._soon.ram if self._ahead else 0)

    def take(self, demand: Demand, ram: int | None) -> None:
        """It was given a job of the task, which needs so much memory (None: as the task says)."""
        need = demand.ram if ram is None else ram
        if self._free is None:
            self._starts -= 1
        elif self._starts and self._free.times(demand, need) >= 1:
            self._free.take(demand, need)
            self._starts -= 1
        elif self._ahead:
            self._ahead -= 1
        else:
            self._starts -= 1


def _free_amounts(amounts: Amounts) -> _FreeAmounts:
    return _FreeAmounts(amounts.cores, amounts.ram, amounts.gpus)


def is_kept_free(demand: Demand, pilot: UUID) -> bool | None:
    """A job of the task would fit the pilot's node, were it not for what runs there. True: nothing
    that comes after the task is given to the pilot, so that there is room in the end; False: not on
    this pilot's account; None: True, if it can be kept."""
    if demand.kept_by is not None:
        return demand.kept_by == pilot
    return None if demand.waited > PATIENCE else False
