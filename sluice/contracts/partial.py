"""What there is of a chain that is over, though it may not have finished."""

from sluice.contracts.base import Contract
from sluice.contracts.chains import Chain
from sluice.contracts.datasets import Dataset


class PartialOutput(Contract):
    """What a step wrote to a port. ``port`` None: its logs. ``folder``: of its files in a folder or
    an archive. ``dataset`` None: none is known. ``missing``: what of it is not there, and why;
    empty: all of it is."""

    step: str
    port: str | None
    folder: str
    dataset: Dataset | None = None
    missing: str = ""

    @property
    def readable(self) -> bool:
        return self.dataset is not None and self.dataset.usable

    @property
    def label(self) -> str:
        return f"logs of {self.step}" if self.port is None else f"{self.port} of {self.step}"


class PartialOutputs(Contract):
    """Of each step, in order: what it wrote, its logs last."""

    chain: Chain
    outputs: list[PartialOutput]
