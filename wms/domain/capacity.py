"""How many jobs of which tasks a pilot is given at once: never more than what it has left holds,
and a big job is not passed over for ever by small ones."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from uuid import UUID

from sluice.contracts.pilots import LeaseRequest, NodeResources
from sluice.fit import Booked, Offer, fit, fitting, how_many, is_suitable
from wms.domain.matching import Demand, order

#: Seconds for which none of a task's jobs was given away before a pilot is kept free for one, and
#: for how long at the most.
PATIENCE = 30.0
KEPT = timedelta(seconds=300)
#: MiB: more than there is.
_ANY = 2**40


class PilotCapacity:
    """What a pilot that asks has left: as it says, but never more than its node has. One of the
    release before does not say: it gets as many jobs as it asks for. ``node``: its own."""

    def __init__(self, request: LeaseRequest, node: NodeResources) -> None:
        ahead = 0 if request.room is None else min(request.room.ahead, request.jobs)
        self._starts, self._ahead = request.jobs - ahead, ahead
        self._node = node
        self._gpus = {gpu.uuid: gpu for gpu in node.known_gpus}
        self._free = self._soon = None
        if request.room is not None:
            whole = Offer.of(
                node.cores, node.ram, self._gpus.values(), disk=node.disk, named=node.named
            ).amounts
            self._free = whole.least(Booked.of(request.room.free))
            self._soon = whole.least(Booked.of(request.room.soon))

    @property
    def jobs(self) -> int:
        """It may still be given."""
        return self._starts + self._ahead

    def offer(self, demand: Demand) -> int:
        """How many jobs of the task it may be given now: those that fit together into what is free,
        and, of jobs that are to come after what it runs, those that fit by themselves into what is
        free soon. What is counted over all nodes is held by no job that waits at a pilot."""
        allowed = demand.allowed
        most = demand.ready if allowed is None else min(demand.ready, allowed)
        if self._free is None or self._soon is None:
            return min(self.jobs, most)
        wanted = demand.wanted(self._node)
        starts = how_many(self._free, wanted, self._gpus, most=min(self._starts, most))
        if not self._ahead or allowed is not None or fit(self._soon, wanted, self._gpus) is None:
            return starts
        return min(starts + self._ahead, most)

    def worth_looking_at(self, demands: Sequence[Demand], pilot: UUID) -> list[Demand]:
        """Without those of which no job fits, now or soon, and for which the pilot is not kept free
        either: of what is left, less and less is free."""
        if self._free is None or self._soon is None:
            return list(demands)
        kinds = [demand.wanted(self._node) for demand in demands]
        fits = set(fitting(self._free, kinds, self._gpus) if self._starts else ())
        fits.update(fitting(self._soon, kinds, self._gpus) if self._ahead else ())
        return [
            demand
            for place, demand in enumerate(demands)
            if place in fits or is_kept_free(demand, pilot) is not False
        ]

    @property
    def most_ram(self) -> int | None:
        """MiB that a single job may need; None: not known."""
        if self._free is None or self._soon is None:
            return None
        return int(max(self._free.ram if self._starts else 0, self._soon.ram if self._ahead else 0))

    def most_gpu(self, demand: Demand) -> int:
        """MiB of a GPU that a single job of the task may need."""
        gpus = demand.gpus
        if gpus is None:
            return _ANY
        if self._free is None or self._soon is None:
            rooms = [Offer.of(0, 0, self._gpus.values()).amounts]
        else:
            rooms = [self._free] * bool(self._starts) + [self._soon] * bool(self._ahead)
        left = (
            (self._gpus[uuid].memory and part.memory) or _ANY
            for room in rooms
            for uuid, part in room.gpus.items()
            if uuid in self._gpus
            and is_suitable(self._gpus[uuid], gpus)
            and (gpus.share < 1 or part.share >= 1)
        )
        return int(max(left, default=0))

    @property
    def begins(self) -> bool:
        """Has it a place for a job that begins at once?"""
        return self._starts > 0

    def can_begin(self, demand: Demand) -> bool:
        """Does a job of the task fit into what is free now?"""
        if self._free is None or not self.begins:
            return self.begins
        return fit(self._free, demand.wanted(self._node), self._gpus) is not None

    def take(self, demand: Demand, ram: int | None, gpu_memory: int | None = None) -> None:
        """It was given a job of the task, which needs so much memory (None: as the task says)."""
        if self._free is None:
            self._starts -= 1
            return
        taken = (
            fit(self._free, demand.wanted(self._node, ram, gpu_memory), self._gpus)
            if self._starts
            else None
        )
        if taken is not None:
            self._free = self._free.minus(taken)
            self._starts -= 1
        elif self._ahead:
            self._ahead -= 1
        else:
            self._starts -= 1


def blocked(demand: Demand) -> set[str]:
    """Resources counted over all nodes of which there is not enough left for a job of the task; of
    quotas, which are full again by themselves, none."""
    return {
        name
        for name, limit in demand.limits.items()
        if limit.period is None and not limit.jobs(demand.needs.named[name])
    }


def in_turn(demands: Iterable[Demand]) -> list[Demand]:
    """By rank, without those whose jobs would take what is kept for one that comes before them and
    needs more of it than is left: so a job that needs much of a limited resource is not passed over
    for ever by those that need little. Where a pilot is kept free for a task, its node fits it."""
    kept, found = set[str](), []
    for demand in order(demands):
        if kept.isdisjoint(demand.needs.named):
            found.append(demand)
        if demand.kept_by is not None:
            kept |= blocked(demand)
    return found


def is_kept_free(demand: Demand, pilot: UUID) -> bool | None:
    """A job of the task would fit the pilot's node, were it not for what runs there. True: nothing
    that comes after the task is given to the pilot, so that there is room in the end; False: not on
    this pilot's account; None: True, if it can be kept."""
    if demand.kept_by is not None:
        return demand.kept_by == pilot
    return None if demand.waited > PATIENCE else False
