"""What there is in a simulation: work, pages, nodes and their places."""

from array import array
from collections import deque
from dataclasses import dataclass, field

from wms.domain.placement import Kind, Place
from wms.simulation.draws import Draw

#: So much more than is left of a node is no more: parts of cores are added up.
TINY = 1e-9


@dataclass(slots=True)
class SimulatedPage:
    """``born``: when it came; ``stages``: of its pipeline, as numbers of kinds; ``times``: how long
    each takes where a node's speed is 1, whoever decides, which no policy is told; ``worked``:
    seconds so far; ``pipeline``: its number."""

    born: float
    stages: tuple[int, ...]
    times: tuple[float, ...]
    pipeline: int = 0
    stage: int = 0
    ready: float = 0.0
    worked: float = 0.0

    @property
    def kind(self) -> int:
        return self.stages[self.stage]


@dataclass(slots=True)
class NodeRoom:
    """What a job needs, or what a node has left."""

    cores: float
    ram: float
    gpus: float

    def holds(self, wanted: "NodeRoom") -> bool:
        """Is there enough for that?"""
        return (
            wanted.cores <= self.cores + TINY
            and wanted.ram <= self.ram + TINY
            and wanted.gpus <= self.gpus + TINY
        )

    def add(self, other: "NodeRoom", sign: int = 1) -> None:
        self.cores += sign * other.cores
        self.ram += sign * other.ram
        self.gpus += sign * other.gpus


@dataclass(slots=True)
class Work:
    """Of one kind: its jobs that wait, and what is counted of it. ``seen``: what the policy
    knows; ``needs``: what a job takes of a node that is shared."""

    seen: Kind
    needs: NodeRoom
    queue: deque[SimulatedPage] = field(default_factory=deque)
    waiting: "array[float]" = field(default_factory=lambda: array("d"))
    working: "array[float]" = field(default_factory=lambda: array("d"))
    loads: int = 0
    lost: int = 0

    def put(self, page: SimulatedPage, *, first: bool = False) -> None:
        """Its input is there."""
        if first:
            self.queue.appendleft(page)
        else:
            self.queue.append(page)
        self._look()

    def take(self) -> SimulatedPage:
        page = self.queue.popleft()
        self._look()
        return page

    def _look(self) -> None:
        queue, seen = self.queue, self.seen
        seen.ready = len(queue)
        seen.since = queue[0].ready if queue else None


@dataclass(slots=True)
class SimulatedSlot:
    """A place with what only the simulation knows. ``life``: grows when its node dies: what was
    begun before is void. ``holds``: what is loaded indeed; ``goes_to``: what it loads after the job
    in hand; ``began``: that job, or loading; ``took``: of a shared node, for either."""

    place: Place
    node: "Node"
    life: int = 0
    holds: int | None = None
    goes_to: int | None = None
    page: SimulatedPage | None = None
    began: float = 0.0
    took: NodeRoom | None = None


@dataclass(slots=True)
class Node:
    """``group``: the number of its group, fastest first; of a shared node, which has not the same
    room as others of its group, a number of its own. ``room``: what is left of it; None: its places
    are equal shares."""

    name: str
    group: int
    speed: float
    delay: float
    jitter: float
    lives: Draw | None
    away: Draw | None
    room: NodeRoom | None = None
    seats: list[SimulatedSlot] = field(default_factory=list)
