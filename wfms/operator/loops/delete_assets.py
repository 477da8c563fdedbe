"""Deletes what was taken back of assets, once no chain needs it."""

from functools import partial

from sluice.servicekit.loop import Loop
from sluice.servicekit.metrics import ServiceMetrics
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.remove_asset import delete_removed

#: Seconds between two looks.
PERIOD = 60.0


def asset_deleter(context: OperatorContext, metrics: ServiceMetrics) -> Loop:
    return Loop("assets.delete", partial(delete_removed, context), period=PERIOD, metrics=metrics)
