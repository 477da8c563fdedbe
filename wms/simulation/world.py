"""What there is in a simulation: work, pages, nodes and their places."""

from array import array
from collections import deque
from dataclasses import dataclass, field

from wms.domain.placement import Kind, Place
from wms.simulation.draws import Draw


@dataclass(slots=True)
class SimulatedPage:
    """``born``: when it came; ``stages``: of its pipeline, as numbers of kinds; ``times``: how long
    each takes where a node's speed is 1, whoever decides, which no policy is told; ``worked``:
    seconds so far."""

    born: float
    stages: tuple[int, ...]
    times: tuple[float, ...]
    stage: int = 0
    ready: float = 0.0
    worked: float = 0.0

    @property
    def kind(self) -> int:
        return self.stages[self.stage]


@dataclass(slots=True)
class Work:
    """Of one kind: its jobs that wait, and what is counted of it. ``seen``: what the policy
    knows."""

    seen: Kind
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
class Seat:
    """A place with what only the simulation knows. ``life``: grows when its node dies: what was
    begun before is void. ``holds``: what is loaded indeed; ``goes_to``: what it loads after the job
    in hand; ``began``: that job, or loading."""

    place: Place
    node: "Node"
    life: int = 0
    holds: int | None = None
    goes_to: int | None = None
    page: SimulatedPage | None = None
    began: float = 0.0


@dataclass(slots=True)
class Node:
    """``group``: the number of its group, fastest first."""

    name: str
    group: int
    speed: float
    delay: float
    jitter: float
    lives: Draw | None
    away: Draw | None
    seats: list[Seat] = field(default_factory=list)
