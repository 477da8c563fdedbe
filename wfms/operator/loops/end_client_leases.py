"""Ends what clients owned whose lease has expired."""

from functools import partial

from sluice.servicekit.loop import Loop
from sluice.servicekit.metrics import ServiceMetrics
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.end_client_leases import end_client_leases

#: Seconds between two looks, at most; a short lease is looked at more often.
PERIOD = 15.0


def client_lease_ender(context: OperatorContext, metrics: ServiceMetrics) -> Loop:
    """Return the loop; it looks four times in the life of a lease."""
    period = min(PERIOD, context.client_lease / 4)
    tick = partial(end_client_leases, context)
    return Loop("client_leases.end", tick, period=period, metrics=metrics)
