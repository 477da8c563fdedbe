"""GPUs and nodes for tests."""

from collections.abc import Mapping

from sluice.contracts.jobs.gpus import Gpu
from sluice.scheduling.fit import NOTHING, NodeCapacity


def make_gpu(
    uuid: str = "GPU-0", *, memory: int = 16_000, capability: str = "8.6", cuda: str = "12.4"
) -> Gpu:
    return Gpu(
        uuid=uuid, name="A2", memory=memory, capability=capability, driver="550.1", cuda=cuda
    )


def make_node(
    cores: float, ram: float, *gpus: Gpu, disk: float = 0, named: Mapping[str, float] = NOTHING
) -> NodeCapacity:
    return NodeCapacity.of(cores, ram, gpus, disk=disk, named=named)
