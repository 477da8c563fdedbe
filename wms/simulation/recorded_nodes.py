"""The nodes of a run, as groups of a scenario."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.contracts.pilots.nodes import NodeResources
from wms.simulation.recorded_pilots import RecordedPilot
from wms.simulation.scenario import MAX_PLACES, Distribution, KindOfWork, NodeGroup


@dataclass(frozen=True, slots=True)
class ReplayNodes:
    """Changes to the nodes of a run.

    Attributes:
        nodes: Number of nodes; all are like the largest group of the run.
        speed: How many times faster than in the run they are.
    """

    nodes: int | None = None
    speed: float | None = None

    def __bool__(self) -> bool:
        return self.nodes is not None or self.speed is not None


def build_node_groups(
    recorded_pilots: Sequence[RecordedPilot],
    kinds: Sequence[KindOfWork],
    *,
    began: datetime,
    ended: datetime,
) -> list[NodeGroup]:
    """Return the groups of equal nodes, each with the name of its first node."""
    groups: list[NodeGroup] = []
    for recorded_pilot in recorded_pilots:
        group = _build_node_group(recorded_pilot, kinds, began=began, ended=ended)
        alike = next((other for other in groups if _is_alike(other, group)), None)
        if alike is not None:
            groups[groups.index(alike)] = alike.model_copy(update={"count": alike.count + 1})
        else:
            names = {other.name for other in groups}
            number = 2
            while group.name in names:
                group = group.model_copy(update={"name": f"{recorded_pilot.name}+{number}"})
                number += 1
            groups.append(group)
    return groups


def change_nodes(groups: Sequence[NodeGroup], changes: ReplayNodes) -> list[NodeGroup]:
    """Return the groups with the changes.

    If the number of nodes changes, all of them are present from the start to the end.
    """
    faster = changes.speed or 1.0
    if changes.nodes is None:
        return [_change_group(group, speed=group.speed * faster) for group in groups]
    largest_group = max(groups, key=lambda group: group.count)
    speed = largest_group.speed * faster
    return [_change_group(largest_group, count=changes.nodes, speed=speed, joins=0.0, lives=None)]


def _change_group(group: NodeGroup, **changes: object) -> NodeGroup:
    return group.model_copy(update=changes)


def _is_alike(one: NodeGroup, other: NodeGroup) -> bool:
    same = {"name": other.name, "count": other.count}
    return one.model_copy(update=same) == other


def _build_node_group(
    recorded_pilot: RecordedPilot, kinds: Sequence[KindOfWork], *, began: datetime, ended: datetime
) -> NodeGroup:
    pilot = recorded_pilot.pilot
    if pilot is None:
        # Only its jobs are known.
        return NodeGroup(
            name=recorded_pilot.name,
            places=min(recorded_pilot.max_jobs, MAX_PLACES),
            speed=recorded_pilot.speed,
            gpus=_count_gpus(kinds),
        )
    node = pilot.resources
    joins = max((pilot.registered_at - began).total_seconds(), 0.0)
    end = recorded_pilot.end_before(ended)
    lives = None if end is None else max((end - began).total_seconds() - joins, 0.0)
    return NodeGroup(
        name=recorded_pilot.name,
        places=max(min(pilot.slots, _count_parallel_jobs(node, kinds), MAX_PLACES), 1),
        speed=recorded_pilot.speed,
        cores=node.cores,
        ram=node.ram,
        gpus=len(node.known_gpus),
        shared=True,
        labels=node.labels,
        joins=round(joins, 3),
        lives=None if lives is None else Distribution(fixed=round(lives, 3)),
    )


def _count_parallel_jobs(node: NodeResources, kinds: Sequence[KindOfWork]) -> int:
    """Return how many jobs of the smallest kind the node can run at once.

    More slots would be idle.
    """
    return max(
        int(
            min(
                node.cores / kind.cores + 1e-9,
                node.ram / kind.ram if kind.ram else 1000,
                len(node.known_gpus) / kind.gpus if kind.gpus else 1000,
            )
        )
        for kind in kinds
    )


def _count_gpus(kinds: Sequence[KindOfWork]) -> int:
    return int(max((kind.gpus for kind in kinds), default=0) + 0.999)
