"""Benchmark of matching ten thousand kinds of resource requests with a node of eight GPUs."""

import time
from itertools import product
from statistics import median

from bench.result import BenchResult
from sluice.contracts.jobs.gpus import Gpu, GpuNeeds
from sluice.scheduling.fit import (
    Allocation,
    NodeCapacity,
    ResourceRequest,
    find_allocation,
    list_fitting,
)

#: The number of measurements of which the median counts.
ROUNDS = 15

_CORES = (0.1, 0.5, 1, 2, 3, 4, 6, 8, 12, 16)
_RAM = (256, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
_NAMED_AMOUNTS: tuple[dict[str, float], ...] = (
    {},
    {"licence": 1},
    {"licence": 0.5},
    {"x": 2},
    {"none": 1},
)


def bench_fit() -> BenchResult:
    """Measure the milliseconds to find the fitting kinds on an idle and on a busy node.

    The peer matches each kind separately.
    """
    devices = [
        Gpu(uuid=f"GPU-{number}", name="A", memory=40_000, capability="8.0", cuda="12.4")
        for number in range(8)
    ]
    capacity = NodeCapacity.of(64, 512_000, devices, disk=1e6, named={"licence": 4, "x": 8})
    kinds = _list_kinds()
    idle = _measure_milliseconds(capacity.amounts, kinds, capacity)
    allocation = find_allocation(
        capacity.amounts, ResourceRequest(60, 500_000, GpuNeeds(least=7, most=7)), capacity.devices
    )
    if allocation is None:
        raise AssertionError("the allocation of the busy node does not fit")
    busy = _measure_milliseconds(capacity.amounts - allocation, kinds, capacity)
    started = time.perf_counter()
    for kind in kinds:
        find_allocation(capacity.amounts, kind, capacity.devices)
    each = 1000 * (time.perf_counter() - started)
    return BenchResult(
        name="fit",
        value=max(idle, busy),
        unit="ms",
        target="<= 5 ms for 10 000 kinds of resource requests and 8 GPUs",
        peers={"each kind separately": each},
        ratio=max(idle, busy) / each,
        details={
            "kinds": len(kinds),
            "idle node, ms": round(idle, 2),
            "busy node, ms": round(busy, 2),
        },
    )


def _list_kinds() -> list[ResourceRequest]:
    gpus: list[GpuNeeds | None] = [
        None,
        *(GpuNeeds(share=share, memory=memory) for share in (0.1, 0.25, 0.5)
          for memory in (0, 8_000, 30_000)),
        *(GpuNeeds(least=least, most=most) for least in (1, 2, 4) for most in (4, 8)),
        *(GpuNeeds(capability=version) for version in ("7.0", "8.0", "9.0", "8.6")),
    ]  # fmt: skip
    return [ResourceRequest(*kind) for kind in product(_CORES, _RAM, gpus, (0,), _NAMED_AMOUNTS)]


def _measure_milliseconds(
    free: Allocation, kinds: list[ResourceRequest], capacity: NodeCapacity
) -> float:
    counts = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        list_fitting(free, kinds, capacity.devices)
        counts.append(1000 * (time.perf_counter() - started))
    return median(counts)
