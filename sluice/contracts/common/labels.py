"""Names that people see for the data sets of chains.

The registered names of these data sets are unique, and therefore long.
"""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.chains.chains import Chain, ChainDataset
from sluice.contracts.common.problems import Conflict, Finding
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset
from sluice.text.visible_text import quoted


class AmbiguousName(Conflict):
    """Several objects have the same name. The findings list them."""

    def __init__(self, kind: str, name: str, candidates: Sequence[str]) -> None:
        findings = [Finding(message=candidate) for candidate in candidates]
        super().__init__(
            f"{len(findings)} {kind} are called {quoted(name)}: give the uid of one",
            findings=findings,
        )


def label(dataset: Dataset) -> str:
    """Return the name that people see.

    An output of a chain is named after the chain's input and the template's output, as in
    ``week.1.report``.
    """
    name = dataset.meta.get("output_name")
    return name if "chain" in dataset.meta and isinstance(name, str) else dataset.name


def find_chain_uid(dataset: Dataset) -> UUID | None:
    """Return the uid of the chain that wrote a data set, or None if no chain did."""
    try:
        return UUID(str(dataset.meta.get("chain")))
    except ValueError:
        return None


def short_label(dataset: Dataset) -> str:
    """Return the label of a data set beside its chain.

    Data sets of the chain that are not its outputs are named by step and port, as in ``sum.parts``.
    """
    name = label(dataset)
    return name if name != dataset.name else name.removeprefix(f"{dataset.meta.get('chain')}.")


def describe_dataset(dataset: Dataset) -> str:
    """Return a description that distinguishes a data set from others of the same name."""
    return (
        f"{dataset.uid}: {label(dataset)}, {dataset.type}, {dataset.state},"
        f" {dataset.timestamp:%F %T} UTC"
    )


def select_dataset(name: str, datasets: Sequence[Dataset]) -> Dataset | None:
    """Return the data set that a person means by a name, or None if there is none.

    Deleted data sets are ignored if there are others.

    Raises:
        AmbiguousName: Several data sets have the name.
    """
    candidates = [
        dataset for dataset in datasets if dataset.state is not DatasetState.DELETED
    ] or datasets
    if len(candidates) > 1:
        raise AmbiguousName(
            "data sets", name, [describe_dataset(dataset) for dataset in candidates]
        )
    return candidates[0] if candidates else None


def role(entry: ChainDataset) -> str:
    """Return the role of a data set in its chain, in words."""
    if entry.step is None:
        return "input" if entry.port is None else f"parameter {entry.port}"
    if entry.port is None:
        return f"logs of {entry.step}"
    own = entry.port.removesuffix("~before")
    return f"{own} of {entry.step}" + ("" if own == entry.port else " in the chain before")


def entry_state_text(entry: ChainDataset, dataset: Dataset | None) -> str:
    """Return the state of a data set of a chain, in words.

    This is the state in the DMS if the data set is deleted or being deleted, else its status in the
    chain.

    Args:
        entry: The data set as the chain knows it.
        dataset: The data set as the DMS knows it, or None if it is not known there.
    """
    is_deleted = dataset is not None and dataset.state in {
        DatasetState.DELETING,
        DatasetState.DELETED,
    }
    return dataset.state.value if dataset is not None and is_deleted else entry.state.value


def entry_label(chain: Chain, entry: ChainDataset) -> str:
    """Return the short label of a data set, from what the chain knows of it."""
    return entry.name.removeprefix(f"{chain.uid}.")
