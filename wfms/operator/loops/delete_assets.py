"""The loop that deletes withdrawn versions of assets once no chain needs them."""

from functools import partial

from sluice.servicekit.loop import Loop
from sluice.servicekit.metrics import ServiceMetrics
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.remove_asset import delete_removed

#: Seconds between two rounds.
PERIOD = 60.0


def asset_deleter(context: OperatorContext, metrics: ServiceMetrics) -> Loop:
    """Return the loop."""
    return Loop("assets.delete", partial(delete_removed, context), period=PERIOD, metrics=metrics)
