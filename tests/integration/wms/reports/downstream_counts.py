"""Report how many tasks read an output."""

from sluice.contracts.messaging.messages import DownstreamCounts
from tests.integration.wms.chain_of_steps import ChainOfSteps
from wms.usecases.tasks.accept_downstream_counts import accept_downstream_counts


async def send_downstream_counts(chain: ChainOfSteps, step: str, **numbers: int) -> None:
    """Tell the WMS how many tasks read each of the outputs that ``step`` reads."""
    counts = {chain.steps[name].main_output.dat_out_uid: count for name, count in numbers.items()}
    async with chain.wms.database.transaction() as transaction:
        await accept_downstream_counts(
            transaction, DownstreamCounts(task_uid=chain.steps[step].uid, counts=counts)
        )
