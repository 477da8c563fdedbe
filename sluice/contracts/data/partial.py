"""Outputs of a chain that has ended, even if it did not finish."""

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.base import Contract
from sluice.contracts.data.datasets import Dataset


class PartialOutput(Contract):
    """The output of a step at a port.

    Attributes:
        port: The port. None stands for the step's logs.
        folder: The name of the folder for the files in an archive.
        dataset: The data set, if one is known.
        missing: What is missing and why. Empty if the output is complete.
    """

    step: str
    port: str | None
    folder: str
    dataset: Dataset | None = None
    missing: str = ""

    @property
    def readable(self) -> bool:
        """Return whether the files of the output can be read."""
        return self.dataset is not None and self.dataset.usable

    @property
    def label(self) -> str:
        """Return the name of the output for people."""
        return f"logs of {self.step}" if self.port is None else f"{self.port} of {self.step}"


class PartialOutputs(Contract):
    """The outputs of all steps of a chain, in order. The logs of a step are last."""

    chain: Chain
    outputs: list[PartialOutput]
