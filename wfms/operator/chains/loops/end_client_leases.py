"""The loop that ends what clients with an expired lease owned."""

from functools import partial

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop
from wfms.operator.chains.usecases.end_client_leases import end_client_leases
from wfms.operator.context import OperatorContext

#: Maximum seconds between two rounds; short leases need more rounds.
PERIOD = 15.0


def client_lease_ender(context: OperatorContext, metrics: ServiceMetrics) -> Loop:
    """Return the loop. It runs four times in the duration of a lease, or more often."""
    period = min(PERIOD, context.client_lease / 4)
    tick = partial(end_client_leases, context)
    return Loop("client_leases.end", tick, period=period, metrics=metrics)
