"""Allocation: what fits into the free cores, memory, disk, GPUs and named resources of a node.

The functions have no side effects. The WMS calls them before it leases jobs, and pilots before they
start them.
"""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from sluice.contracts.common.numbers import in_full
from sluice.contracts.jobs.gpus import FreeGpu, Gpu, GpuNeeds, version_key
from sluice.contracts.jobs.resources import Amounts

#: The tolerance with which fractions add up to whole numbers.
_TOLERANCE = 1e-6
NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class GpuPart:
    """A part of a GPU: ``share`` of it (1 is all), and ``memory`` in MiB."""

    share: float = 0.0
    memory: float = 0.0


@dataclass(frozen=True, slots=True)
class Allocation:
    """Amounts of a node's resources.

    ``ram`` and ``disk`` are in MiB, ``gpus`` are by uuid, and ``named`` resources are by name.
    """

    cores: float = 0.0
    ram: float = 0
    gpus: Mapping[str, GpuPart] = field(default_factory=dict)
    disk: float = 0
    named: Mapping[str, float] = field(default_factory=dict)

    def maximum(self, other: "Allocation") -> "Allocation":
        """Return what both need one after the other: the maximum of each amount."""
        return self._combine(other, max)

    def minimum(self, other: "Allocation") -> "Allocation":
        """Return the minimum of each amount."""
        return self._combine(other, min)

    def __add__(self, other: "Allocation") -> "Allocation":
        """Return the sum of each amount."""
        return self._combine(other, operator.add)

    def __sub__(self, other: "Allocation") -> "Allocation":
        """Return the difference of each amount."""
        return self._combine(other, operator.sub)

    def contains(self, other: "Allocation") -> bool:
        """Return whether each amount of the other fits into this one."""
        return (
            self.cores + _TOLERANCE >= other.cores
            and self.ram >= other.ram
            and self.disk >= other.disk
            and self.find_missing(other.named) is None
            and all(
                one.share + _TOLERANCE >= two.share and one.memory >= two.memory
                for _, one, two in self._pair_gpus(other)
            )
        )

    def find_missing(self, named: Mapping[str, float]) -> str | None:
        """Return the first named resource that does not suffice, or None."""
        return next(
            (
                name
                for name, amount in named.items()
                if self.named.get(name, 0.0) + _TOLERANCE < amount
            ),
            None,
        )

    @property
    def has_any(self) -> bool:
        """Whether there are free cores and memory, so that any job could fit."""
        return self.cores > _TOLERANCE and self.ram > 0

    def amounts(self) -> Amounts:
        """Return the amounts as they are sent."""
        return Amounts(
            cores=max(0.0, round(self.cores, 6)),
            ram=max(0, int(self.ram)),
            disk=None if self.disk == math.inf else max(0, int(self.disk)),
            named={name: max(0.0, round(amount, 6)) for name, amount in self.named.items()},
            gpus=[
                FreeGpu(uuid=uuid, share=min(1.0, round(part.share, 6)), memory=int(part.memory))
                for uuid, part in self.gpus.items()
                if part.share > _TOLERANCE and part.memory >= 0
            ],
        )

    @classmethod
    def of(cls, amounts: Amounts) -> "Allocation":
        """Return the amounts that were sent."""
        parts = {part.uuid: GpuPart(part.share, part.memory) for part in amounts.gpus}
        disk = math.inf if amounts.disk is None else amounts.disk
        return cls(amounts.cores, amounts.ram, parts, disk, amounts.named)

    def _combine(
        self, other: "Allocation", operation: Callable[[float, float], float]
    ) -> "Allocation":
        """Combine the two amounts of each resource."""
        cores, ram = operation(self.cores, other.cores), operation(self.ram, other.ram)
        disk, parts, named = (
            operation(self.disk, other.disk),
            dict[str, GpuPart](),
            dict[str, float](),
        )
        if self.gpus or other.gpus:
            parts = {
                uuid: GpuPart(operation(one.share, two.share), operation(one.memory, two.memory))
                for uuid, one, two in self._pair_gpus(other)
            }
        if self.named or other.named:
            named = {
                name: operation(self.named.get(name, 0.0), other.named.get(name, 0.0))
                for name in {**self.named, **other.named}
            }
        return Allocation(cores, ram, parts, disk, named)

    def _pair_gpus(self, other: "Allocation") -> Iterator[tuple[str, GpuPart, GpuPart]]:
        none = GpuPart()
        for uuid in {**self.gpus, **other.gpus}:
            yield uuid, self.gpus.get(uuid, none), other.gpus.get(uuid, none)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a job cannot run on a node.

    Attributes:
        need: What the job needs, as in "needs 4 cores".
        offer: What there is instead, as in "the node has 2".
    """

    need: str
    offer: str

    def __str__(self) -> str:
        return f"{self.need}, {self.offer}"


@dataclass(frozen=True, slots=True)
class NodeCapacity:
    """The capacity of a node for all of its jobs together. ``devices`` are its GPUs by uuid."""

    amounts: Allocation
    devices: Mapping[str, Gpu] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        cores: float,
        ram: float,
        gpus: Iterable[Gpu] = (),
        *,
        disk: float = math.inf,
        named: Mapping[str, float] = NOTHING,
    ) -> "NodeCapacity":
        """Return the capacity of a node. ``ram`` and ``disk`` are in MiB."""
        devices = {gpu.uuid: gpu for gpu in gpus}
        parts = {uuid: GpuPart(1.0, gpu.memory) for uuid, gpu in devices.items()}
        return cls(Allocation(cores, ram, parts, disk, named), devices)


#: The capacity of a node that has not been measured.
BOUNDLESS = NodeCapacity.of(math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """The resource request of a job. ``ram`` and ``disk`` are in MiB."""

    cores: float = 1.0
    ram: float = 0
    gpus: GpuNeeds | None = None
    disk: float = 0
    named: Mapping[str, float] = field(default_factory=dict)


def find_allocation(
    free: Allocation, request: ResourceRequest, devices: Mapping[str, Gpu]
) -> Allocation | None:
    """Return the allocation of a job in the free capacity, or None if it does not fit.

    Among suitable GPUs, whole ones are taken from the smallest on. Shares are taken from the GPUs
    with the least left. So large requests find more capacity.

    Args:
        free: The free capacity.
        request: The resource request.
        devices: The GPUs of the node by uuid.
    """
    if free.cores == math.inf:
        return Allocation(request.cores, request.ram)
    if (
        free.cores + _TOLERANCE < request.cores
        or free.ram < request.ram
        or free.disk < request.disk
        or (request.named and free.find_missing(request.named) is not None)
    ):
        return None
    if request.gpus is None:
        return Allocation(request.cores, request.ram, {}, request.disk, request.named)
    needs, candidates = request.gpus, []
    for uuid, free_part in free.gpus.items():
        gpu = devices.get(uuid)
        if gpu is None or not is_suitable(gpu, needs):
            continue
        part = _part(gpu, needs)
        if free_part.share + _TOLERANCE >= part.share and free_part.memory >= part.memory:
            candidates.append((free_part.share, gpu.memory, uuid, part))
    if len(candidates) < needs.least:
        return None
    selected = sorted(candidates, key=lambda candidate: candidate[:3])[
        : max(needs.least, needs.most)
    ]
    parts = {uuid: part for _, _, uuid, part in selected}
    return Allocation(request.cores, request.ram, parts, request.disk, request.named)


def list_fitting(
    free: Allocation, kinds: Sequence[ResourceRequest], devices: Mapping[str, Gpu]
) -> list[int]:
    """Return the indexes of the requests that fit, each on its own, as ``find_allocation`` decides.

    It is fast for thousands of requests: numbers are compared first, and requests that share GPU
    needs or named resources are checked once.
    """
    cores, ram, disk = free.cores + _TOLERANCE, free.ram, free.disk
    places: list[int] = []
    on_gpus: dict[int, bool] = {}
    with_named: dict[int, bool] = {}
    for place, request in enumerate(kinds):
        if request.cores > cores or request.ram > ram or request.disk > disk:
            continue
        named, gpus = request.named, request.gpus
        if named:
            enough = with_named.get(id(named))
            if enough is None:
                enough = with_named[id(named)] = free.find_missing(named) is None
            if not enough:
                continue
        if gpus is not None:
            enough = on_gpus.get(id(gpus))
            if enough is None:
                alone = ResourceRequest(0, 0, gpus)
                enough = on_gpus[id(gpus)] = find_allocation(free, alone, devices) is not None
            if not enough:
                continue
        places.append(place)
    return places


def count_fitting(
    free: Allocation, request: ResourceRequest, devices: Mapping[str, Gpu], *, maximum: int
) -> int:
    """Return how many jobs of a request fit at the same time, at most ``maximum``."""
    if request.gpus is None:
        times = min(float(maximum), (free.cores + _TOLERANCE) // request.cores)
        if request.ram:
            times = min(times, free.ram // request.ram)
        if request.disk:
            times = min(times, free.disk // request.disk)
        for name, amount in request.named.items():
            times = min(times, (free.named.get(name, 0.0) + _TOLERANCE) // amount)
        return int(max(0, times))
    for number in range(maximum):
        allocation = find_allocation(free, request, devices)
        if allocation is None:
            return number
        free -= allocation
    return maximum


def is_suitable(gpu: Gpu, needs: GpuNeeds) -> bool:
    """Return whether a GPU meets the needs."""
    return all(demand.is_met(gpu, needs) for demand in _DEMANDS)


def describe_gpus(needs: GpuNeeds) -> str:
    """Return the number of GPUs as text."""
    if needs.share < 1:
        return f"{needs.share:g} of a GPU"
    return "a GPU" if needs.least == 1 else f"{needs.least} GPUs"


def find_gpu_misfit(devices: Iterable[Gpu], needs: GpuNeeds) -> Misfit | None:
    """Return why the GPUs of a node do not suit a job, or None if they do."""
    remaining, needed = list(devices), describe_gpus(needs)
    if len(remaining) < needs.least:
        return Misfit(f"needs {needed}", f"the node has {len(remaining) or 'none'}")
    for demand in _DEMANDS:  # the first demand that leaves too few GPUs is the reason
        able = [gpu for gpu in remaining if demand.is_met(gpu, needs)]
        if len(able) < needs.least:
            properties = ", ".join(
                dict.fromkeys(str(demand.gpu_property(gpu)) for gpu in remaining)
            )
            return Misfit(
                f"needs {needed} with {demand.describe_need(needs)}", f"the node has {properties}"
            )
        remaining = able
    return None


@dataclass(frozen=True, slots=True)
class _Demand:
    """A demand on GPUs.

    ``describe_need`` returns its text, and ``gpu_property`` the property of a GPU.
    """

    is_met: Callable[[Gpu, GpuNeeds], bool]
    describe_need: Callable[[GpuNeeds], str]
    gpu_property: Callable[[Gpu], object]


def _has_capability(gpu: Gpu, needs: GpuNeeds) -> bool:
    if gpu.capability is None:
        return True
    has = version_key(gpu.capability)
    return (needs.capability is None or has >= version_key(needs.capability)) and (
        not needs.capabilities or has in {version_key(version) for version in needs.capabilities}
    )


def _describe_capability(needs: GpuNeeds) -> str:
    exactly = " or ".join(needs.capabilities)
    return f"compute capability {exactly or f'{needs.capability} or higher'}"


def _has_cuda(gpu: Gpu, needs: GpuNeeds) -> bool:
    if gpu.cuda is None or needs.cuda is None:
        return True
    return version_key(gpu.cuda) >= version_key(needs.cuda)


_DEMANDS = (
    _Demand(
        lambda gpu, needs: not gpu.memory or gpu.memory >= needs.memory,
        lambda needs: f"{in_full(needs.memory)} MiB of memory",
        lambda gpu: in_full(gpu.memory),
    ),
    _Demand(_has_capability, _describe_capability, lambda gpu: gpu.capability),
    _Demand(_has_cuda, lambda needs: f"a driver for CUDA {needs.cuda}", lambda gpu: gpu.cuda),
)


def _part(gpu: Gpu, needs: GpuNeeds) -> GpuPart:
    if needs.share >= 1:
        return GpuPart(1.0, gpu.memory)
    return GpuPart(needs.share, needs.memory or math.floor(needs.share * gpu.memory))
