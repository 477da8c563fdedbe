"""Resources of this node: cores, memory, disk, GPUs."""

import contextlib
import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from sluice.contracts.jobs.gpus import Gpu
from sluice.contracts.pilots.node_parts import NodePart
from sluice.contracts.pilots.nodes import NodeResources

_MIB = 1 << 20
_SLOTS_A_CORE, _MIN_SLOTS, _MAX_SLOTS = 10, 16, 4096


def detect(work_dir: Path, *, gpus: Sequence[Gpu] = (), root: Path = Path("/")) -> NodeResources:
    """Return the resources that this process may use.

    Disk is the free space where jobs work. ``root`` is the folder with the kernel's files.
    """
    cores, ram = _read_limits(root)
    return NodeResources(
        cores=min(len(os.sched_getaffinity(0)), cores),
        ram=int(min(psutil.virtual_memory().total, ram) // _MIB),
        disk=shutil.disk_usage(work_dir).free // _MIB,
        gpus=[gpu.name for gpu in gpus],
        devices=list(gpus),
    )


def _read_limits(root: Path) -> tuple[float, float]:
    """Return the limits of cores and memory (bytes) that cgroup v2 sets for this process.

    Containers and batch systems set such limits. Without a limit, the value is infinite. At least
    one core is returned.
    """
    cores, ram = math.inf, math.inf
    for folder in _list_groups(root):
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = (folder / "cpu.max").read_text().split()
            cores = min(cores, math.inf if quota == "max" else max(int(quota) / int(period), 1.0))
        with contextlib.suppress(OSError, ValueError):
            limit = (folder / "memory.max").read_text().strip()
            ram = min(ram, math.inf if limit == "max" else int(limit))
    return cores, ram


def _list_groups(root: Path) -> Iterator[Path]:
    """Yield the folders of this process's control group and of its parents."""
    top = root / "sys/fs/cgroup"
    with contextlib.suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::/"):
                folder = top / line.removeprefix("0::/")
                while folder != top:
                    yield folder
                    folder = folder.parent
    yield top


@dataclass(frozen=True, slots=True)
class DeclaredResources:
    """Settings that declare the resources of the node, None where nothing is set.

    Attributes:
        part: The part of the node that this pilot may use.
    """

    cores: float | None = None
    memory: int | None = None
    disk: int | None = None
    part: str | None = None
    named: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


def compute_offer(node: NodeResources, declared_resources: DeclaredResources) -> NodeResources:
    """Return the capacity that the pilot offers to jobs.

    ``node`` lists only the pilot's own GPUs.
    """
    part = NodePart.of(declared_resources.part)
    named_amounts = {
        name: part.named_amount(amount) for name, amount in declared_resources.named.items()
    }
    return node.model_copy(
        update={
            "cores": declared_resources.cores or part.cores(node.cores),
            "ram": declared_resources.memory or part.amount(node.ram),
            "disk": declared_resources.disk or part.amount(node.disk),
            "named": {name: amount for name, amount in named_amounts.items() if amount},
            "labels": dict(declared_resources.labels),
            "part": declared_resources.part,
        }
    )


def default_max_slots(cores: float) -> int:
    """Return the default maximum of slots: enough for jobs of a tenth of a core."""
    return min(_MAX_SLOTS, max(_MIN_SLOTS, math.ceil(_SLOTS_A_CORE * cores)))
