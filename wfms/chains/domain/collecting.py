"""Which outputs of a chain are collected in data sets that grow."""

from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.standing import Collect
from sluice.contracts.states import ChainState
from wfms.chains.domain.chain import ChainView


@dataclass(frozen=True, slots=True)
class ToCollect:
    """The output ``name``, which is in the data set."""

    name: str
    dataset: UUID
    into: Collect


def to_collect(chain: ChainView, state: ChainState) -> list[ToCollect]:
    """``state``: the one that it goes into. As it finishes, and is safe on the output storage: one
    that fails, is canceled, or was discarded before gives nothing."""
    if state is not ChainState.FINISHED or chain.discarded:
        return []
    found = []
    for output in chain.plan.outputs:
        dataset = chain.dataset(output.step, output.port)
        if output.collect is not None and dataset is not None:
            found.append(ToCollect(output.name, dataset.uid, output.collect))
    return found
