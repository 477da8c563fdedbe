"""``/api/v1/client-leases``: objects of waiting clients, which end when their client is gone."""

from uuid import UUID

from sluice.contracts.chains.client_leases import RenewClientLease, RenewedLease
from sluice.contracts.common.problems import Conflict, Forbidden, NotAvailable, NotFound
from sluice.servicekit.access.policy import SUBMITTERS
from sluice.servicekit.access.principal import Person
from wfms.operator.chains.usecases.leases.release_client_lease import release_client_lease
from wfms.operator.chains.usecases.leases.renew_client_lease import renew_client_lease
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route


class ClientLeaseRoutes:
    """The routes of client leases."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        path = "/client-leases/<uuid:uid>"
        return [
            Route("PUT", path, "renew_client_lease", self.renew, SUBMITTERS,
                  "Create or renew the lease of a waiting client. When it expires, its chains"
                  " are canceled, and their data and its data sets and run templates are deleted.",
                  answer=RenewedLease, body=RenewClientLease, needs_caller=True,
                  errors=(Conflict, Forbidden, NotFound, NotAvailable)),
            Route("DELETE", path, "end_client_lease", self.release, SUBMITTERS,
                  "Delete a lease. Its chains, data sets and templates stay.",
                  status=204, needs_caller=True, errors=(NotFound,)),
        ]  # fmt: skip

    async def renew(self, uid: UUID, body: RenewClientLease, caller: Person) -> RenewedLease:
        """Create or renew a lease."""
        return await renew_client_lease(self._context, uid, body, by=caller)

    async def release(self, uid: UUID, caller: Person) -> None:
        """Delete a lease and keep what it names."""
        await release_client_lease(self._context, uid, by=caller)
