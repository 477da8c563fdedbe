"""What of a node its jobs take up: nothing is counted up and down; what is free follows from what
runs."""

import math
from dataclasses import dataclass

from sluice.contracts.pilots import Amounts, LeasedJob, PilotTask

#: Fractions of cores add up to whole ones, whatever their binary rounding.
_CORES_ROUNDED = 1e-6


@dataclass(frozen=True, slots=True)
class Booked:
    """``ram`` in MiB."""

    cores: float = 0.0
    ram: float = 0
    gpus: float = 0

    def most(self, other: "Booked") -> "Booked":
        """As much as both need, one after the other."""
        return Booked(
            max(self.cores, other.cores), max(self.ram, other.ram), max(self.gpus, other.gpus)
        )

    def plus(self, other: "Booked") -> "Booked":
        return Booked(self.cores + other.cores, self.ram + other.ram, self.gpus + other.gpus)

    def minus(self, other: "Booked") -> "Booked":
        return Booked(self.cores - other.cores, self.ram - other.ram, self.gpus - other.gpus)

    def holds(self, other: "Booked") -> bool:
        return (
            self.cores + _CORES_ROUNDED >= other.cores
            and self.ram >= other.ram
            and self.gpus >= other.gpus
        )

    @property
    def has_any(self) -> bool:
        """Is there room for any job at all?"""
        return self.cores > _CORES_ROUNDED and self.ram > 0

    def amounts(self) -> Amounts:
        return Amounts(
            cores=max(0.0, round(self.cores, 6)),
            ram=max(0, int(self.ram)),
            gpus=max(0, int(self.gpus)),
        )


#: Of a node that nobody has measured.
BOUNDLESS = Booked(math.inf, math.inf, math.inf)


def booking_of(task: PilotTask, job: LeasedJob) -> Booked:
    """While the job runs."""
    needs = task.needs
    ram = needs.resources.counted_ram if job.ram is None else job.ram
    return Booked(needs.resources.cores, ram, needs.gpus)
