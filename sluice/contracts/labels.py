"""What people call what chains make: their data sets are registered under names that no two chains share."""

from sluice.contracts.chains import Chain, ChainDataset
from sluice.contracts.datasets import Dataset


def label(dataset: Dataset) -> str:
    """An output of a chain is called after the chain's input and the template's output, as ``week.1.report``."""
    name = dataset.meta.get("output_name")
    return name if "chain" in dataset.meta and isinstance(name, str) else dataset.name


def short_label(dataset: Dataset) -> str:
    """As ``label``; of what else a chain wrote its step and port, as ``sum.parts``: to be read beside the chain, not alone."""
    called = label(dataset)
    return called if called != dataset.name else called.removeprefix(f"{dataset.meta.get('chain')}.")


def role(entry: ChainDataset) -> str:
    """What it is to its chain, in words."""
    if entry.step is None:
        return "input" if entry.port is None else f"parameter {entry.port}"
    if entry.port is None:
        return f"logs of {entry.step}"
    own = entry.port.removesuffix("~before")
    return f"{own} of {entry.step}" + ("" if own == entry.port else " in the chain before")


def entry_label(chain: Chain, entry: ChainDataset) -> str:
    """As ``short_label``, by what the chain knows of it."""
    return entry.name.removeprefix(f"{chain.uid}.")
