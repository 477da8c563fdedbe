"""Which tasks' jobs a pilot gets: those that fit its resources, by rank, then by age."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.states import ContainerEngine, SandboxKind
from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.pilots.nodes import NodeResources
from sluice.scheduling.fit import Misfit, ResourceRequest, find_gpu_misfit, is_suitable
from wms.domain.scheduling.limits import Limit, count_startable_jobs

#: The bonus for the rank of tasks whose warm worker the placement policy has chosen. A pilot gives
#: up a loaded tool only for a task whose rank is higher by more than this.
WARM_RANK_BONUS = 0.5


@dataclass(frozen=True, slots=True)
class Demand:
    """A task that has ready jobs, and what one job needs.

    Attributes:
        larger: MiB of memory for jobs that need more than the task's request.
        larger_gpu: The same for GPU memory.
        waited: Seconds since one of its jobs was leased.
        reserved_pilot: The pilot that is reserved for it.
        turn_at: When its turn began, if it shares the turn of its upstream task.
        limits: Current limits of the resources that it needs, by name.
        priority: The administrator's priority of its step, which is part of ``rank``.
        is_trial: One job may start, to see whether its storage has space again.
    """

    uid: UUID
    rank: float
    created_at: datetime
    ready: int
    needs: Needs
    larger: int | None = None
    larger_gpu: int | None = None
    waited: float = 0.0
    reserved_pilot: UUID | None = None
    turn_at: datetime | None = None
    limits: Mapping[str, Limit] = field(default_factory=dict)
    template: str = ""
    step: str = ""
    group: str = EVERYONE
    priority: float = 0.0
    is_trial: bool = False

    @property
    def ram(self) -> int:
        """MiB that a node must have free for one job."""
        return self.needs.resources.counted_ram if self.larger is None else self.larger

    @property
    def gpus(self) -> GpuNeeds | None:
        """GPUs that one job needs."""
        needs = self.needs.gpus
        return needs and needs.with_memory(self.larger_gpu)

    def resource_request(
        self, node: NodeResources, ram: int | None = None, gpu_memory: int | None = None
    ) -> ResourceRequest:
        """Return what one job needs of the node; ``ram`` and ``gpu_memory`` override the task's."""
        needs = self.needs
        named_amounts = {
            name: needs.named[name]
            for name in needs.named
            if _belongs_to_node(name, node, self.limits)
        }
        return ResourceRequest(
            needs.resources.cores,
            self.ram if ram is None else ram,
            self.gpus and self.gpus.with_memory(gpu_memory),
            needs.resources.counted_disk,
            named_amounts,
        )

    @property
    def allowed(self) -> int | None:
        """Return how many jobs may start within the limits now, or None if no limit applies."""
        return count_startable_jobs(self.needs.named, self.limits.values())

    def find_misfit(self, pilot_node: "PilotNode") -> Misfit | None:
        """Return why a job of the task cannot run on the node, or None if it can."""
        return find_misfit(
            self.needs,
            self.limits,
            pilot_node,
            larger=self.larger,
            larger_gpu=self.larger_gpu,
        )


@dataclass(frozen=True, slots=True)
class PilotNode:
    """The node of a pilot, with its container engines and its sandbox."""

    resources: NodeResources
    engines: Sequence[ContainerEngine] = ()
    sandbox: SandboxKind = SandboxKind.NONE

    @property
    def has_sandbox(self) -> bool:
        """Whether it has a sandbox for jobs; a user for each slot is none."""
        return self.sandbox is SandboxKind.NAMESPACES

    @property
    def has_users(self) -> bool:
        """Whether it has a user for each slot instead of a sandbox."""
        return self.sandbox is SandboxKind.USERS


#: The names of all engines, for people.
ENGINES = (
    f"{', '.join(engine.label for engine in list(ContainerEngine)[:-1])} or"
    f" {list(ContainerEngine)[-1].label}"
)

#: The replacement of a sandbox that a node may have, for people.
USERS = "only a user for each slot, which is not a sandbox"


def describe_sandbox(needs: Needs) -> str:
    """Return the sandbox that a job needs, for people."""
    return f"a sandbox (bubblewrap){' for its secrets' if needs.secrets else ''}"


def find_misfit(
    needs: Needs,
    limits: Mapping[str, Limit],
    pilot_node: PilotNode,
    *,
    larger: int | None = None,
    larger_gpu: int | None = None,
) -> Misfit | None:
    """Return why a job with these needs cannot run on the node, or None if it can.

    Args:
        needs: The needs of the job.
        limits: Limits over all nodes of the resources that it needs, by name.
        pilot_node: The node.
        larger: MiB of memory, if the job needs another amount than ``needs``.
        larger_gpu: The same for GPU memory.
    """
    node = pilot_node.resources
    ram = needs.resources.counted_ram if larger is None else larger
    misfit = _find_missing_amount(needs, limits, node, ram=ram) or _find_missing_label(needs, node)
    if misfit is None and needs.gpus is not None:
        misfit = find_gpu_misfit(node.known_gpus, needs.gpus.with_memory(larger_gpu))
    if misfit is not None:
        return misfit
    if needs.needs_engine and not pilot_node.engines:
        return Misfit("needs a container", f"the node has none of {ENGINES}")
    if needs.sandbox and not pilot_node.has_sandbox:
        instead = USERS if pilot_node.has_users else "none"
        return Misfit(f"needs {describe_sandbox(needs)}", f"the node has {instead}")
    return None


def find_largest_ram(needs: Needs, nodes: Iterable[PilotNode]) -> int | None:
    """Return the MiB of the largest node that fits the other needs of a job, or None."""
    return max((node.resources.ram for node in _list_suitable_nodes(needs, nodes)), default=None)


def find_largest_gpu(needs: Needs, nodes: Iterable[PilotNode]) -> float:
    """Return the MiB of the largest GPU on nodes that fit the other needs of a job; 0 if none.

    A GPU of unknown size counts as infinite.
    """
    gpus = needs.gpus
    if gpus is None:
        return 0.0
    sizes = (_find_largest_device(gpus, node) for node in _list_suitable_nodes(needs, nodes))
    return max(sizes, default=0.0)


def find_largest_gpu_part(gpus: GpuNeeds, node: PilotNode) -> float:
    """Return the most MiB of one GPU that a job on the node can have had."""
    if gpus.share == 1:
        return _find_largest_device(gpus, node)
    return gpus.memory or gpus.share * _find_largest_device(gpus, node)


def _list_suitable_nodes(needs: Needs, nodes: Iterable[PilotNode]) -> Iterator[PilotNode]:
    # Resources that are limited over all nodes do not belong to a node.
    own = needs.model_copy(update={"named": {}})
    return (node for node in nodes if find_misfit(own, {}, node) is None)


def _find_largest_device(gpus: GpuNeeds, node: PilotNode) -> float:
    suitable = (gpu for gpu in node.resources.known_gpus if is_suitable(gpu, gpus))
    return max((gpu.memory or math.inf for gpu in suitable), default=0.0)


def _belongs_to_node(name: str, node: NodeResources, limits: Mapping[str, Limit]) -> bool:
    """Return whether the node itself must have the resource.

    A resource with a limit over all nodes counts only if the node offers some itself.
    """
    return name in node.named or name not in limits


def _find_missing_amount(
    needs: Needs, limits: Mapping[str, Limit], node: NodeResources, *, ram: int
) -> Misfit | None:
    resources = needs.resources
    amounts: list[tuple[float, float, str]] = [
        (resources.cores, node.cores, "cores"),
        (ram, node.ram, "MiB of memory"),
        (resources.counted_disk, node.disk, "MiB of disk"),
    ]
    for name, amount in needs.named.items():
        limit = limits.get(name)
        if limit is not None and (excess := limit.find_excess(amount)) is not None:
            return excess
        if _belongs_to_node(name, node, limits):
            amounts.append((amount, node.named.get(name, 0), name))
    for need, has, unit in amounts:
        if need > has:
            return Misfit(
                f"needs {in_full(need)} {unit}", f"the node has {in_full(has) if has else 'none'}"
            )
    return None


def _find_missing_label(needs: Needs, node: NodeResources) -> Misfit | None:
    for name, values in needs.nodes.items():
        label = node.labels.get(name)
        if label not in values:
            accepted = " or ".join(values)
            return Misfit(
                f"needs a node with {name} {accepted}", f"the node has {label or f'no {name}'}"
            )
    return None


def sort_demands(
    demands: Iterable[Demand], kinds: Collection[str] = (), *, first: str | None = None
) -> list[Demand]:
    """Return the demands in the order in which they are served.

    The highest rank comes first, then the oldest. Of tasks that share a turn, the last one of the
    chain comes first, so that little piles up between the steps. The uid decides the rest, so that
    all instances agree.

    Args:
        demands: The tasks.
        kinds: Kinds of warm workers that go first, unless others are ranked higher by more than
            ``WARM_RANK_BONUS``.
        first: The step that a person wants on this pilot, before all others.
    """

    def place(demand: Demand) -> tuple[bool, float, datetime, float, UUID]:
        warm = demand.needs.warm
        is_chosen = warm is not None and warm.kind in kinds
        rank = demand.rank + (WARM_RANK_BONUS if is_chosen else 0.0)
        return (
            first is None or demand.step != first,
            -rank,
            demand.turn_at or demand.created_at,
            -demand.created_at.timestamp(),
            demand.uid,
        )

    return sorted(demands, key=place)


def filter_runnable(demands: Iterable[Demand], node: PilotNode) -> list[Demand]:
    """Return the tasks whose jobs the node can run."""
    return [demand for demand in demands if demand.find_misfit(node) is None]
