"""Refusals of new chains."""

from sluice.contracts.chains.chains import NewChain
from sluice.contracts.common.problems import Conflict, Finding, Unprocessable
from sluice.contracts.data.datasets import Dataset


class DatasetDeleted(Conflict):
    """The data set is deleted, or about to be."""

    def __init__(self, dataset: Dataset, reason: str) -> None:
        super().__init__(
            f"data set {dataset.name} {reason}: no chain can start on it",
            dataset=dataset.uid,
            state=dataset.state,
        )


class ChainRefused(Unprocessable):
    """The data set, its parameters or names do not fit the plan; ``findings`` say why."""

    @classmethod
    def of(cls, new: NewChain, problems: list[Finding]) -> "ChainRefused":
        """Create the error from all findings."""
        messages = "; ".join(finding.message for finding in problems)
        return cls(
            f"template {new.template} cannot take data set {new.dataset.name}: {messages}",
            findings=problems,
        )
