"""GPUs as nodes offer them."""

from sluice.contracts.gpus import Gpu
from sluice.fit import Offer


def gpu(
    uuid: str = "GPU-0", *, memory: int = 16_000, capability: str = "8.6", cuda: str = "12.4"
) -> Gpu:
    return Gpu(
        uuid=uuid, name="A2", memory=memory, capability=capability, driver="550.1", cuda=cuda
    )


def node(cores: float, ram: float, *gpus: Gpu) -> Offer:
    return Offer.of(cores, ram, gpus)
