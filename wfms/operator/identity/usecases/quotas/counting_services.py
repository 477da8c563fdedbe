"""The services that count what groups and people have."""

from collections.abc import Mapping

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.access.quotas import (
    Quantity,
)
from wfms.operator.context import OperatorContext

#: A service that counts quantities.
CountingService = ChainsClient | DmsClient | WmsClient


def services_by_quantity(context: OperatorContext) -> Mapping[Quantity, CountingService]:
    """Return the service that counts each quantity."""
    return {
        Quantity.CHAINS: context.chains,
        Quantity.BYTES: context.dms,
        Quantity.FILES: context.dms,
        Quantity.WAITING: context.wms,
    }
