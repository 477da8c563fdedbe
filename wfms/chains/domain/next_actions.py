"""The next actions of a chain, computed from its state after every change.

They are steps to start or cancel, data sets to upload or release, and the chain's next state. They
are computed in the transaction of the change.
"""

from dataclasses import dataclass, replace
from uuid import UUID

from sluice.contracts.common.states import ChainDatasetStatus, ChainState, StepState
from wfms.chains.domain.chain import ChainView, DatasetView
from wfms.chains.domain.graph import output_ports, startable
from wfms.chains.domain.release import releasable


@dataclass(frozen=True, slots=True)
class NextActions:
    """The next actions of a chain.

    Attributes:
        state: The chain's state after these actions.
        start: Pending steps that become starting.
        cancel: Steps that end before their task was sent.
        ready: Data sets whose step has ended.
        upload: Workflow outputs that the DMS is asked to upload.
        release: Data sets that are not needed.
    """

    state: ChainState
    start: tuple[str, ...] = ()
    cancel: tuple[str, ...] = ()
    ready: tuple[UUID, ...] = ()
    upload: tuple[UUID, ...] = ()
    release: tuple[UUID, ...] = ()


def next_actions(chain: ChainView) -> NextActions:
    """Return the next actions of a chain; after these were applied there are no more."""
    cancel = _to_cancel(chain)
    steps = {
        name: replace(step, state=StepState.CANCELED) if name in cancel else step
        for name, step in chain.steps.items()
    }
    ready = [
        dataset.uid
        for dataset in chain.datasets
        if dataset.step is not None
        and dataset.status is ChainDatasetStatus.IN_PROGRESS
        and steps[dataset.step].state.final
    ]
    datasets = [
        replace(dataset, status=ChainDatasetStatus.READY) if dataset.uid in ready else dataset
        for dataset in chain.datasets
    ]
    after = replace(chain, steps=steps, datasets=datasets)
    state = _next_state(after)
    uploads = state is ChainState.UPLOADING and not chain.upload_requested
    after = replace(after, state=state, upload_requested=chain.upload_requested or uploads)
    return NextActions(
        state=state,
        start=tuple(startable(after))
        if chain.ending is None and state is ChainState.IN_PROGRESS
        else (),
        cancel=tuple(cancel),
        ready=tuple(ready),
        upload=tuple(dataset.uid for dataset in outputs(after) if not dataset.uploaded)
        if uploads
        else (),
        release=tuple(releasable(after)),
    )


def outputs(chain: ChainView) -> list[DatasetView]:
    """Return the data sets that are workflow outputs."""
    ports = output_ports(chain.plan)
    return [
        dataset
        for dataset in chain.datasets
        if dataset.step is not None
        and dataset.port is not None
        and (dataset.step, dataset.port) in ports
    ]


def _to_cancel(chain: ChainView) -> list[str]:
    """Return the steps to cancel in an ending chain.

    A step whose start was attempted ends in the start loop, which finds the data sets that it left
    in the DMS.
    """
    if chain.ending is None:
        return []
    untouched = {StepState.PENDING, StepState.STARTING}
    return [
        name for name, step in chain.steps.items() if step.state in untouched and not step.tried
    ]


def _next_state(chain: ChainView) -> ChainState:
    states = [step.state for step in chain.steps.values()]
    if chain.state.final or not all(state.final for state in states):
        return chain.state
    if chain.ending is not None:
        return chain.ending
    if not all(state is StepState.FINISHED for state in states):
        return chain.state
    if chain.state is ChainState.UPLOADING and all(output.uploaded for output in outputs(chain)):
        return ChainState.FINISHED
    return ChainState.UPLOADING
