"""The outputs of the steps of a chain, and their missing parts, in words."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from sluice.contracts.chains.chains import Chain, ChainDataset, ChainStep
from sluice.contracts.common.states import DatasetState, StepState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.data.partial import PartialOutput
from sluice.contracts.templates.plan import Plan

#: The suffix of ports of a rerun that name outputs of the earlier chain.
_BEFORE = "~before"


def partial_outputs(
    chain: Chain, datasets_by_uid: Mapping[UUID, Dataset], plan: Plan | None
) -> list[PartialOutput]:
    """Return the outputs and logs of the steps of a chain.

    Args:
        chain: The chain.
        datasets_by_uid: The data sets of the chain that the DMS knows.
        plan: The plan of the template. Without it, outputs of steps that never began are not known.
    """
    parts = [
        part
        for step in chain.steps
        for part in _step_outputs(step, chain.datasets, datasets_by_uid, plan)
    ]
    return _separate_folders(parts)


def _step_outputs(
    step: ChainStep,
    entries: Iterable[ChainDataset],
    datasets_by_uid: Mapping[UUID, Dataset],
    plan: Plan | None,
) -> list[PartialOutput]:
    own = [
        entry
        for entry in entries
        if entry.step == step.name and not (entry.port or "").endswith(_BEFORE)
    ]
    if not own:
        reason = _never_began(step)
        return [
            _build_partial_output(step, port, None, reason)
            for port in _planned_ports(plan, step.name)
        ]
    own.sort(key=lambda entry: entry.port is None)
    datasets = [(entry.port, datasets_by_uid.get(entry.uid)) for entry in own]
    return [
        _build_partial_output(step, port, dataset, _describe_missing(step, port, dataset))
        for port, dataset in datasets
    ]


def _planned_ports(plan: Plan | None, name: str) -> list[str | None]:
    """Return the planned output ports of a step, or only None if they are not known."""
    steps = [] if plan is None else [step for step in plan.steps if step.name == name]
    return [output.port for step in steps for output in step.outputs] or [None]


def _build_partial_output(
    step: ChainStep, port: str | None, dataset: Dataset | None, missing_reason: str
) -> PartialOutput:
    folder = f"{step.name}.{'logs' if port is None else port}"
    return PartialOutput(
        step=step.name, port=port, folder=folder, dataset=dataset, missing=missing_reason
    )


def _never_began(step: ChainStep) -> str:
    return f"the step never began{_describe_reason(step)}"


def _describe_missing(step: ChainStep, port: str | None, dataset: Dataset | None) -> str:
    if dataset is None:
        return "its data set no longer exists"
    match dataset.state:
        case DatasetState.DELETING | DatasetState.DELETED:
            return "it was deleted, because it was no longer needed"
        case DatasetState.OPEN:
            return "it is not complete: try again in a moment"
        case DatasetState.CLOSED | DatasetState.UPLOADING | DatasetState.UPLOADED:
            if port is None or step.state is StepState.FINISHED:
                return ""
            end = f"{_describe_end(step)}{_describe_reason(step)}"
            return f"only the outputs of finished jobs: the step {end}"


def _describe_end(step: ChainStep) -> str:
    return {StepState.FAILED: "failed", StepState.CANCELED: "was canceled"}.get(
        step.state, "did not finish"
    )


def _describe_reason(step: ChainStep) -> str:
    return f" ({step.reason})" if step.reason else ""


def _separate_folders(parts: list[PartialOutput]) -> list[PartialOutput]:
    """Give each output its own folder, because names with dots may lead to equal folders."""
    used_folders: set[str] = set()
    distinct_parts = []
    for part in parts:
        folder, number = part.folder, 1
        while folder.lower() in used_folders:
            number += 1
            folder = f"{part.folder}-{number}"
        used_folders.add(folder.lower())
        distinct_parts.append(
            part if folder == part.folder else part.model_copy(update={"folder": folder})
        )
    return distinct_parts
