"""What a chain does next, worked out from its state: steps to start or cancel, data sets to upload
or release, its next state. Asked after every change, in the change's own transaction."""

from dataclasses import dataclass, replace
from uuid import UUID

from sluice.contracts.states import ChainDatasetStatus, ChainState, StepState
from wfms.chains.domain.chain import ChainView, DatasetView
from wfms.chains.domain.graph import output_ports, startable
from wfms.chains.domain.release import releasable


@dataclass(frozen=True, slots=True)
class NextActions:
    """``state``: the chain's state after all that. ``start``: pending steps that become starting;
    ``cancel``: steps that end unsent; ``ready``: data sets whose writer has ended; ``upload``:
    workflow outputs that the DMS is asked to upload; ``release``: data sets nobody needs."""

    state: ChainState
    start: tuple[str, ...] = ()
    cancel: tuple[str, ...] = ()
    ready: tuple[UUID, ...] = ()
    upload: tuple[UUID, ...] = ()
    release: tuple[UUID, ...] = ()


def next_actions(chain: ChainView) -> NextActions:
    """Applied to its own result it gives nothing more to do."""
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
    uploads = state is ChainState.UPLOADING and not chain.upload_asked
    after = replace(after, state=state, upload_asked=chain.upload_asked or uploads)
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
    """The data sets that are workflow outputs."""
    ports = output_ports(chain.plan)
    return [
        dataset
        for dataset in chain.datasets
        if dataset.step is not None
        and dataset.port is not None
        and (dataset.step, dataset.port) in ports
    ]


def _to_cancel(chain: ChainView) -> list[str]:
    """A step whose start has been tried ends in the start loop, which knows what it has left in the
    DMS."""
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
