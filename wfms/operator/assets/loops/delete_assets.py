"""The loop that deletes withdrawn versions of assets once no chain needs them."""

from functools import partial

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop
from wfms.operator.assets.usecases.remove_asset import delete_removed
from wfms.operator.context import OperatorContext

#: Seconds between two rounds.
PERIOD = 60.0


def asset_deleter(context: OperatorContext, metrics: ServiceMetrics) -> Loop:
    """Return the loop."""
    return Loop("assets.delete", partial(delete_removed, context), period=PERIOD, metrics=metrics)
