"""Builds the objects of a simulation from a scenario."""

from collections.abc import Iterator, Sequence
from heapq import merge
from math import ceil
from random import Random

from sluice.contracts.jobs.gpus import MIN_SHARE, GpuNeeds
from sluice.contracts.jobs.needs import Needs, Resources
from sluice.contracts.pilots.nodes import NodeResources
from sluice.scheduling.fit import Misfit
from wms.domain.placement.policy import Kind, WarmSlot
from wms.domain.scheduling.matching import PilotNode, find_misfit
from wms.simulation.draws import draw_from
from wms.simulation.errors import InvalidScenario
from wms.simulation.files import Files, Row
from wms.simulation.scenario import Arrivals, KindOfWork, NodeGroup, Pipeline, Scenario
from wms.simulation.world import FreeResources, Node, SimulatedItem, SimulatedSlot, Work

#: The cores or memory of a node if a scenario states none.
_ENOUGH = 1_000_000_000


def build_works(scenario: Scenario) -> list[Work]:
    """Return the kinds of work."""
    return [
        Work(
            Kind(kind.name, kind.loading, kind.priority),
            FreeResources(kind.cores, Resources(ram=kind.ram).counted_ram, kind.gpus),
        )
        for kind in scenario.kinds
    ]


def build_nodes(scenario: Scenario, random: Random) -> list[Node]:
    """Return the nodes, those of the fastest group first.

    Slots are numbered across all nodes.

    Raises:
        InvalidScenario: No node can run jobs of a kind.
    """
    nodes: list[Node] = []
    slots = 0
    number = 0
    for group in sort_by_speed(scenario):
        suitable_kinds = _list_suitable_kinds(scenario.kinds, group)
        delay = draw_from(group.delay, random)
        lives = None if group.lives is None else draw_from(group.lives, random)
        away = None if group.away is None else draw_from(group.away, random)
        for which in range(group.count):
            name = group.name if group.count == 1 else f"{group.name}-{which + 1}"
            free = _build_resources(group) if group.shared else None
            node = Node(name, number, group.speed, delay(), group.jitter, lives, away, free)
            for _ in range(group.places):
                node.slots.append(SimulatedSlot(WarmSlot(slots, suitable_kinds), node))
                slots += 1
            nodes.append(node)
            number += group.shared
        number += 1
    _require_places(scenario, nodes)
    return nodes


def _build_resources(group: NodeGroup) -> FreeResources:
    return FreeResources(group.cores or _ENOUGH, group.ram or _ENOUGH, group.gpus)


def sort_by_speed(scenario: Scenario) -> list[NodeGroup]:
    """Return the groups of nodes, fastest first."""
    return sorted(scenario.nodes, key=lambda group: -group.speed)


def _list_suitable_kinds(kinds: Sequence[KindOfWork], group: NodeGroup) -> tuple[int, ...]:
    return tuple(number for number, kind in enumerate(kinds) if _find_misfit(kind, group) is None)


def _require_places(scenario: Scenario, nodes: Sequence[Node]) -> None:
    suited = {number for node in nodes for number in node.slots[0].warm_slot.suitable_kinds}
    for number, kind in enumerate(scenario.kinds):
        if number not in suited:
            why = "; ".join(
                f"{group.name}: {_find_misfit(kind, group)}" for group in sort_by_speed(scenario)
            )
            raise InvalidScenario(f"kinds.{number} ({kind.name}): no node can run it: {why}")


def _find_misfit(kind: KindOfWork, group: NodeGroup) -> Misfit | None:
    """Return why no slot of the group can run jobs of the kind, or None if one can.

    The WMS decides it in the same way.
    """
    share = 1 if group.shared else group.places
    capacity = _build_resources(group)
    node = NodeResources(
        cores=capacity.cores / share,
        ram=int(capacity.ram) // share,
        disk=0,
        gpus=["GPU"] * (group.gpus // share),
        labels=group.labels,
    )
    resources = Resources(cores=kind.cores, ram=kind.ram)
    needs = Needs(resources=resources, nodes=kind.nodes, gpu=_build_gpu_needs(kind))
    return find_misfit(needs, {}, PilotNode(node))


def _build_gpu_needs(kind: KindOfWork) -> GpuNeeds | None:
    """Return the GPU needs of the kind; less than one GPU is a share of a device."""
    if not kind.gpus:
        return None
    devices = ceil(kind.gpus)
    return GpuNeeds(least=devices, most=devices, share=max(min(kind.gpus, 1.0), MIN_SHARE))


def list_upstream_pipelines(scenario: Scenario) -> list[tuple[int, ...]]:
    """Return, for each pipeline, the numbers of the pipelines that have to pass before it."""
    names = [pipeline.name for pipeline in scenario.pipelines]
    return [tuple(map(names.index, pipeline.after)) for pipeline in scenario.pipelines]


def count_items(scenario: Scenario, files: Files) -> list[int]:
    """Return the number of items that arrive in each pipeline."""
    return [
        sum(
            _count_arrivals(arrivals, pipeline, files)
            for arrivals in scenario.arrivals
            if arrivals.pipeline == pipeline.name
        )
        for pipeline in scenario.pipelines
    ]


def _count_arrivals(arrivals: Arrivals, pipeline: Pipeline, files: Files) -> int:
    if arrivals.table is not None:
        return len(files.table(arrivals.table, pipeline.stages))
    if arrivals.file is not None:
        return arrivals.pages * len(files.times(arrivals.file))
    return arrivals.pages * arrivals.count


def build_arrivals(
    scenario: Scenario, random: Random, files: Files
) -> Iterator[tuple[float, list[SimulatedItem]]]:
    """Return the arrivals in order of time; items are created as they are needed."""
    each = [_generate_arrivals(scenario, arrivals, random, files) for arrivals in scenario.arrivals]
    return merge(*each, key=lambda arrival: arrival[0])


def _generate_arrivals(
    scenario: Scenario, arrivals: Arrivals, random: Random, files: Files
) -> Iterator[tuple[float, list[SimulatedItem]]]:
    numbers = {kind.name: number for number, kind in enumerate(scenario.kinds)}
    which, pipeline = next(
        (which, pipeline)
        for which, pipeline in enumerate(scenario.pipelines)
        if pipeline.name == arrivals.pipeline
    )
    stages = tuple(numbers[stage] for stage in pipeline.stages)
    if arrivals.table is not None:
        for row in files.table(arrivals.table, pipeline.stages):
            time = arrivals.begin + row.at
            yield time, [_build_item(row, time, stages=stages, pipeline=which)]
        return
    size = draw_from(arrivals.size, random)
    kinds = [scenario.kinds[number] for number in stages]
    draws = [(kind.scale, draw_from(kind.difference, random)) for kind in kinds]

    def item(born: float) -> SimulatedItem:
        large = size()
        times = tuple(large * scale + difference() for scale, difference in draws)
        return SimulatedItem(born, stages, times, which)

    for time in _generate_times(scenario, arrivals, random, files):
        yield time, [item(time) for _ in range(arrivals.pages)]


def _build_item(row: Row, born: float, *, stages: Sequence[int], pipeline: int) -> SimulatedItem:
    """Return the item of a row, with only the stages in which it has a job."""
    jobs = [(stage, time) for stage, time in zip(stages, row.times, strict=True)
            if time is not None]  # fmt: skip
    return SimulatedItem(
        born, tuple(stage for stage, _ in jobs), tuple(time for _, time in jobs), pipeline
    )


def _generate_times(
    scenario: Scenario, arrivals: Arrivals, random: Random, files: Files
) -> Iterator[float]:
    if arrivals.file is not None:
        yield from (arrivals.begin + time for time in files.times(arrivals.file))
        return
    time = arrivals.begin
    interval = arrivals.every or arrivals.poisson or compute_arrival_interval(scenario, arrivals)
    is_random = arrivals.poisson is not None or arrivals.random
    for _ in range(arrivals.count):
        yield time
        time += random.expovariate(1 / interval) if is_random else interval


def compute_arrival_interval(scenario: Scenario, arrivals: Arrivals) -> float:
    """Return the time between arrivals with which all slots have the requested load."""
    kinds = {kind.name: kind for kind in scenario.kinds}
    pipeline = next(each for each in scenario.pipelines if each.name == arrivals.pipeline)
    work = sum(
        arrivals.size.mean * kinds[stage].scale + kinds[stage].difference.mean
        for stage in pipeline.stages
    )
    capacity = sum(
        group.count * group.places * group.speed * work
        / (work + group.speed * len(pipeline.stages) * group.delay.mean)
        for group in scenario.nodes
    )  # fmt: skip
    return arrivals.pages * work / (capacity * (arrivals.load or 1.0))


def list_joining_times(scenario: Scenario) -> list[float]:
    """Return the times at which the nodes join, in the order of ``build_nodes``."""
    return [group.joins for group in sort_by_speed(scenario) for _ in range(group.count)]
