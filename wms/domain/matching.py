"""Which tasks' jobs a pilot gets: those that fit its resources, by rank, then by age."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.contracts.needs import Needs
from sluice.contracts.numbers import in_full
from sluice.contracts.pilots import NodeResources
from sluice.contracts.states import ContainerEngine, SandboxKind
from sluice.fit import Wanted, why_unsuited


@dataclass(frozen=True, slots=True)
class Demand:
    """A task that has ready jobs, and what one job needs. ``larger``: MiB of memory, of jobs that
    need more than their task says. ``waited``: seconds since one was given away. ``kept_by``: the
    pilot that is kept free for one."""

    uid: UUID
    rank: float
    created_at: datetime
    ready: int
    needs: Needs
    larger: int | None = None
    waited: float = 0.0
    kept_by: UUID | None = None

    @property
    def ram(self) -> int:
        """MiB that a node must have left for one job."""
        return self.needs.resources.counted_ram if self.larger is None else self.larger

    def wanted(self, ram: int | None = None) -> Wanted:
        """By one job; ``ram``: MiB, where that is not what the task says."""
        return Wanted(self.needs.resources.cores, self.ram if ram is None else ram, self.needs.gpus)


@dataclass(frozen=True, slots=True)
class PilotNode:
    """``engines``: those that run containers on it. ``sandbox``: for jobs that ask for one."""

    resources: NodeResources
    engines: Sequence[ContainerEngine] = ()
    sandbox: SandboxKind = SandboxKind.NONE

    @property
    def has_sandbox(self) -> bool:
        """For jobs that ask for one; a user for each slot is none."""
        return self.sandbox is SandboxKind.NAMESPACES

    @property
    def has_users(self) -> bool:
        return self.sandbox is SandboxKind.USERS


#: The names of all engines, for a person.
ENGINES = (
    f"{', '.join(engine.label for engine in list(ContainerEngine)[:-1])} or"
    f" {list(ContainerEngine)[-1].label}"
)

#: What a node may have in the place of a sandbox, for a person.
USERS = "only a user for each slot, which is none"


def sandbox_for(needs: Needs) -> str:
    """What a job needs that is to run in a sandbox, for a person."""
    return f"a sandbox (bubblewrap){' for its secrets' if needs.secrets else ''}"


def misfit(demand: Demand, on: PilotNode) -> str | None:
    """Why a job of the task cannot run on the node ("needs 4 cores, the node has 2"); None when it
    can."""
    node, needs = on.resources, demand.needs
    for need, has, unit in (
        (needs.resources.cores, node.cores, "cores"),
        (demand.ram, node.ram, "MiB of memory"),
        (needs.resources.disk, node.disk, "MiB of disk"),
    ):
        if need > has:
            return f"needs {in_full(need)} {unit}, the node has {in_full(has)}"
    if needs.gpus is not None and (why := why_unsuited(node.known_gpus, needs.gpus)) is not None:
        return why
    if needs.needs_engine and not on.engines:
        return f"needs a container, the node has none of {ENGINES}"
    if needs.sandbox and not on.has_sandbox:
        return f"needs {sandbox_for(needs)}, the node has {USERS if on.has_users else 'none'}"
    return None


def order(demands: Iterable[Demand]) -> list[Demand]:
    """Highest rank first; of equal rank the oldest; the uid settles ties, so that every instance
    orders alike."""
    return sorted(demands, key=lambda demand: (-demand.rank, demand.created_at, demand.uid))


def choose(demands: Iterable[Demand], node: PilotNode) -> list[Demand]:
    """The tasks whose jobs the node can run, best first: it is given jobs of the first, then of the
    next, until it has enough."""
    return order(demand for demand in demands if misfit(demand, node) is None)
