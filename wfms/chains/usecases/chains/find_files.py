"""Find the files that a new chain gets as parameters, so that an accepted chain can run."""

from sluice.clients.dms import DmsClient
from sluice.contracts.access.owners import Visibility, may_take_away
from sluice.contracts.chains.chains import FileValue, NewChain
from sluice.contracts.common.problems import Finding, NotFound
from sluice.contracts.common.states import DatasetState, DatasetType, EntryKind
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.plan import Plan, Source
from sluice.text.visible_text import quoted
from wfms.chains.domain.parameters import given_files
from wfms.chains.usecases.chains.refusals import ChainRefused


async def find_files(
    dms: DmsClient, new: NewChain, *, reader_visibility: Visibility
) -> dict[str, Dataset]:
    """Return the data set that is the value of each parameter with a value.

    The value of a ``File`` or ``Directory`` parameter is a data set of one file, unless it is an
    asset. The parameters must have no findings.

    Raises:
        ChainRefused: A data set does not exist, is not visible to ``reader_visibility``, or does
            not fit.
        NotAvailable: The DMS does not answer.
    """
    datasets: dict[str, Dataset] = {}
    problems: list[Finding] = []
    for name, value in given_files(new.plan, new.params).items():
        answer = await _find(dms, new, name, value, reader_visibility=reader_visibility)
        if isinstance(answer, str):
            problems.append(Finding.about_parameter(name, answer, is_sentence=True))
        else:
            datasets[name] = answer
    if problems:
        raise ChainRefused.of(new, problems)
    return datasets


async def _find(
    dms: DmsClient, new: NewChain, name: str, value: FileValue, *, reader_visibility: Visibility
) -> Dataset | str:
    """Return the data set, or why it cannot be the value of parameter ``name``."""
    takes_whole_dataset = name in new.plan.dataset_parameters
    unknown = f"there is no data set {value.dataset}"
    try:
        dataset = await dms.get_dataset(value.dataset)
    except NotFound:
        return unknown
    if value.asset is None and not reader_visibility.sees(dataset.group, dataset.shared_with):
        return unknown
    if trouble := _explain_misfit(dataset, new, value):
        return trouble
    if not takes_whole_dataset and value.asset is None and dataset.count_files != 1:
        return (
            f"data set {dataset.name} has {dataset.count_files} files, but a parameter of type"
            f" {new.plan.parameters[name].type} takes one"
        )
    trouble = _explain_bundle(new.plan, name) if value.bundle else ""
    return trouble or dataset


def _explain_bundle(plan: Plan, name: str) -> str:
    """Return why a parameter cannot have secondary files that the template does not declare."""
    source = Source(step=None, port=name)
    joining_step = next(
        (
            step.name
            for step in plan.steps
            for step_input in step.inputs
            if step_input.kind is EntryKind.FILE and step_input.next_sources
            if source in (step_input.source, *(part.source for part in step_input.next_sources))
        ),
        None,
    )
    return (
        ""
        if joining_step is None
        else f"it has secondary files, and step {quoted(joining_step)} joins it with other files:"
        " write 'secondaryFiles' at the inputs of the workflow"
    )


def _explain_misfit(dataset: Dataset, new: NewChain, value: FileValue) -> str:
    if dataset.uid == new.dataset.uid:
        return (
            f"data set {dataset.name} is the chain's input data set; a parameter needs another data"
            " set"
        )
    if dataset.type in {DatasetType.INTERMEDIATE, DatasetType.LOGS}:
        return (
            f"data set {dataset.name} is of type {dataset.type}: such data can be used only within"
            " its own chain"
        )
    if dataset.state in {DatasetState.OPEN, DatasetState.DELETING, DatasetState.DELETED}:
        grows = " and append-only, so it never closes" if dataset.append_only else ""
        return f"data set {dataset.name} is {dataset.state}{grows}; it must be closed"
    if value.retention == "delete" and not may_take_away(dataset.group, new.group):
        return (
            f"data set {dataset.name} belongs to the group {dataset.group}, which shares it for"
            " reading only: give retention 'keep', or omit it"
        )
    if MARK in dataset.meta and value.retention == "delete":
        return (
            f"data set {dataset.name} contains a version of the asset {quoted(dataset.meta[MARK])},"
            " which chains do not delete: give retention 'keep', or omit it"
        )
    return ""
