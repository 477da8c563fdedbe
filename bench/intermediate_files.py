"""Count the intermediate files of a running chain."""

import asyncio
from collections.abc import Collection, Sequence

from sluice.clientkit.connection import connected
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.states import DatasetState

#: Seconds between two counts.
POLL_SECONDS = 1.0


class IntermediateFileCounter:
    """Counter of files that ``steps`` have written and that are not yet deleted.

    ``maximum`` is the highest count so far.
    """

    def __init__(self, steps: Collection[str]) -> None:
        self._steps = steps
        self._chain: Chain | None = None
        self.maximum = 0

    def set_chain(self, chain: Chain, tasks: Sequence[ChainTask]) -> None:
        """Set the chain whose data sets are counted."""
        self._chain = chain

    async def watch(self, url: str) -> None:
        """Count the files until the task is canceled."""
        async with connected(url) as connection:
            while True:
                uids = [
                    dataset.uid
                    for dataset in ([] if self._chain is None else self._chain.datasets)
                    if dataset.step in self._steps and dataset.port is not None
                ]
                datasets = await asyncio.gather(*map(connection.operator.get_dataset, uids))
                count = sum(
                    dataset.count_files - dataset.released
                    for dataset in datasets
                    if dataset.usable or dataset.state is DatasetState.OPEN
                )
                self.maximum = max(self.maximum, count)
                await asyncio.sleep(POLL_SECONDS)
