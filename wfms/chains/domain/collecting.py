"""The outputs of a chain that are collected in append-only data sets."""

from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.states import ChainState
from sluice.contracts.data.append_only import Collect
from wfms.chains.domain.chain import ChainView


@dataclass(frozen=True, slots=True)
class CollectableOutput:
    """The workflow output ``name``, which data set it is, and where it is collected."""

    name: str
    dataset: UUID
    into: Collect


def list_outputs_to_collect(chain: ChainView, state: ChainState) -> list[CollectableOutput]:
    """Return the outputs to collect when the chain moves to ``state``.

    A chain that fails, is canceled or was discarded before contributes nothing.
    """
    if state is not ChainState.FINISHED or chain.discarded:
        return []
    outputs = []
    for output in chain.plan.outputs:
        dataset = chain.dataset(output.step, output.port)
        if output.collect is not None and dataset is not None:
            outputs.append(CollectableOutput(output.name, dataset.uid, output.collect))
    return outputs
