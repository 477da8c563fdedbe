"""``/api/v1/datasets``: the routes that need more than forwarding to the DMS."""

from uuid import UUID

from sluice.contracts.access.owners import Share
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.datasets import (
    Dataset,
    DatasetStatus,
    NewDataset,
)
from sluice.contracts.data.reserved_names import require_unreserved
from sluice.servicekit.access.policy import SHIFT_OR_OWNER, SUBMITTERS, VIEWERS
from wfms.operator.chains.usecases.data.get_dataset_status import get_dataset_status
from wfms.operator.chains.usecases.data.share_dataset import share_dataset
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route, RouteResponse


class DatasetRoutes:
    """The routes of data sets that are not forwarded."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("POST", "/datasets", "register_dataset", self.register, SUBMITTERS,
                  "Register a data set.",
                  answer=Dataset, status=201, again=200, body=NewDataset,
                  errors=(Conflict, Unprocessable, NotAvailable)),
            Route("GET", "/datasets/<uuid:uid>/status", "get_dataset_status", self.status, VIEWERS,
                  "Return the progress of a data set, and what it or its chain waits for.",
                  answer=DatasetStatus, errors=(NotFound, NotAvailable)),
            Route("PUT", "/datasets/<uuid:uid>/share", "share_dataset", self.share, SHIFT_OR_OWNER,
                  "Set the owner group of a data set, and the other groups that see it.",
                  answer=Dataset, body=Share,
                  errors=(NotFound, Conflict, Unprocessable, NotAvailable)),
        ]  # fmt: skip

    async def register(self, body: NewDataset) -> RouteResponse:
        """Register a data set, or return the equal data set that is registered."""
        require_unreserved(body)
        dataset, is_new = await self._context.dms.make_dataset(body)
        return RouteResponse(dataset, 201 if is_new else 200)

    async def status(self, uid: UUID) -> DatasetStatus:
        """Return the progress of a data set."""
        return await get_dataset_status(self._context, uid)

    async def share(self, uid: UUID, body: Share) -> Dataset:
        """Set the owner of a data set and the groups that see it."""
        return await share_dataset(self._context, uid, body)
