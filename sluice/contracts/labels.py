"""What people call what chains make: their data sets are registered under names that no two chains
share."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.chains import Chain, ChainDataset
from sluice.contracts.datasets import Dataset
from sluice.contracts.problems import Conflict, Finding
from sluice.contracts.states import DatasetState
from sluice.visible_text import quoted


class Ambiguous(Conflict):
    """Several things are called so; the findings name them."""

    def __init__(self, kind: str, called: str, candidates: Sequence[str]) -> None:
        found = [Finding(message=candidate) for candidate in candidates]
        super().__init__(
            f"{len(found)} {kind} are called {quoted(called)}: name one by its uid", findings=found
        )


def label(dataset: Dataset) -> str:
    """An output of a chain is called after the chain's input and the template's output, as
    ``week.1.report``."""
    name = dataset.meta.get("output_name")
    return name if "chain" in dataset.meta and isinstance(name, str) else dataset.name


def chain_of(dataset: Dataset) -> UUID | None:
    """Return the uid of the chain that wrote a data set; None where no chain did."""
    try:
        return UUID(str(dataset.meta.get("chain")))
    except ValueError:
        return None


def short_label(dataset: Dataset) -> str:
    """As ``label``; of what else a chain wrote its step and port, as ``sum.parts``: to be read
    beside the chain, not alone."""
    called = label(dataset)
    return (
        called if called != dataset.name else called.removeprefix(f"{dataset.meta.get('chain')}.")
    )


def told_apart(dataset: Dataset) -> str:
    """One of several of a name."""
    return (
        f"{dataset.uid}: {label(dataset)}, {dataset.type}, {dataset.state},"
        f" {dataset.timestamp:%F %T} UTC"
    )


def meant(called: str, found: Sequence[Dataset]) -> Dataset | None:
    """Of the data sets that are called so the one that a person means: deleted ones are passed over
    where there are others. None where there is none. Raises ``Ambiguous``."""
    candidates = [
        dataset for dataset in found if dataset.state is not DatasetState.DELETED
    ] or found
    if len(candidates) > 1:
        raise Ambiguous("data sets", called, [told_apart(dataset) for dataset in candidates])
    return candidates[0] if candidates else None


def role(entry: ChainDataset) -> str:
    """What it is to its chain, in words."""
    if entry.step is None:
        return "input" if entry.port is None else f"parameter {entry.port}"
    if entry.port is None:
        return f"logs of {entry.step}"
    own = entry.port.removesuffix("~before")
    return f"{own} of {entry.step}" + ("" if own == entry.port else " in the chain before")


def standing(entry: ChainDataset, dataset: Dataset | None) -> str:
    """How it stands: that it is deleted, or being deleted, else what it is to its chain.
    ``dataset``: as the DMS knows it."""
    gone = dataset is not None and dataset.state in {DatasetState.DELETING, DatasetState.DELETED}
    return dataset.state.value if dataset is not None and gone else entry.state.value


def entry_label(chain: Chain, entry: ChainDataset) -> str:
    """As ``short_label``, by what the chain knows of it."""
    return entry.name.removeprefix(f"{chain.uid}.")
