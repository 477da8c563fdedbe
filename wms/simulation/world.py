"""The objects of a simulation: work, items, nodes and their slots."""

from array import array
from collections import deque
from dataclasses import dataclass, field

from wms.domain.placement.policy import Kind, WarmSlot
from wms.simulation.draws import Draw

#: Tolerance for sums of fractions of cores.
TINY = 1e-9


@dataclass(slots=True)
class SimulatedItem:
    """An item on its way through a pipeline.

    Attributes:
        born: When it arrived.
        stages: The numbers of the kinds of its pipeline.
        times: The time of each stage on a node of speed 1; no policy knows it.
        pipeline: Number of the pipeline.
        stage: The current stage.
        ready: When its current job became ready.
        worked: Seconds of work so far.
    """

    born: float
    stages: tuple[int, ...]
    times: tuple[float, ...]
    pipeline: int = 0
    stage: int = 0
    ready: float = 0.0
    worked: float = 0.0

    @property
    def kind(self) -> int:
        """Return the number of the kind of the current stage."""
        return self.stages[self.stage]


@dataclass(slots=True)
class FreeResources:
    """The capacity that a job needs, or that a node has free."""

    cores: float
    ram: float
    gpus: float

    def covers(self, needs: "FreeResources") -> bool:
        """Return whether it is enough for the wanted capacity."""
        return (
            needs.cores <= self.cores + TINY
            and needs.ram <= self.ram + TINY
            and needs.gpus <= self.gpus + TINY
        )

    def add(self, other: "FreeResources", sign: int = 1) -> None:
        """Add the other capacity, or subtract it with sign -1."""
        self.cores += sign * other.cores
        self.ram += sign * other.ram
        self.gpus += sign * other.gpus


@dataclass(slots=True)
class Work:
    """One kind of work: its waiting jobs and its statistics.

    Attributes:
        kind: The facts that the policy knows.
        needs: The resources of a shared node that a job takes.
        loads: How often the kind was loaded.
        lost: Number of jobs that were lost with a node.
    """

    kind: Kind
    needs: FreeResources
    queue: deque[SimulatedItem] = field(default_factory=deque)
    waiting: "array[float]" = field(default_factory=lambda: array("d"))
    working: "array[float]" = field(default_factory=lambda: array("d"))
    loads: int = 0
    lost: int = 0

    def enqueue(self, item: SimulatedItem, *, first: bool = False) -> None:
        """Queue an item whose job is ready."""
        if first:
            self.queue.appendleft(item)
        else:
            self.queue.append(item)
        self._update_kind()

    def dequeue(self) -> SimulatedItem:
        """Remove the first item from the queue and return it."""
        item = self.queue.popleft()
        self._update_kind()
        return item

    def _update_kind(self) -> None:
        queue, kind = self.queue, self.kind
        kind.ready = len(queue)
        kind.oldest_ready_at = queue[0].ready if queue else None


@dataclass(slots=True)
class SimulatedSlot:
    """A slot, with what only the simulation knows.

    Attributes:
        life: Grows when the node dies, so that events from before are void.
        loaded_kind: The kind that is really loaded.
        goes_to: The kind to load after the current job.
        began: When the current job or load began.
        took: The resources of a shared node that it has taken for either.
    """

    warm_slot: WarmSlot
    node: "Node"
    life: int = 0
    loaded_kind: int | None = None
    goes_to: int | None = None
    item: SimulatedItem | None = None
    began: float = 0.0
    took: FreeResources | None = None


@dataclass(slots=True)
class Node:
    """A node with its slots.

    Attributes:
        group: Number of its group, fastest first. Each shared node has its own number, because
            nodes of a group differ in what is free.
        free: Free capacity of a shared node. None means that its slots are equal shares.
    """

    name: str
    group: int
    speed: float
    delay: float
    jitter: float
    lives: Draw | None
    absence: Draw | None
    free: FreeResources | None = None
    slots: list[SimulatedSlot] = field(default_factory=list)
