"""``/api/v1/datasets``: what is more than to pass it on to the DMS."""

from uuid import UUID

from sluice.contracts.datasets import Dataset
from sluice.contracts.owners import Share
from sluice.contracts.problems import Conflict, NotAvailable, NotFound, Unprocessable
from wfms.operator.api.rest.route import SHIFT_OR_OWNER, Route
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.share_dataset import share_dataset


class DatasetRoutes:
    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        return [
            Route("PUT", "/datasets/<uuid:uid>/share", self.share, SHIFT_OR_OWNER,
                  "Says which groups see a data set beside its own, and whose it is.",
                  answer=Dataset, body=Share,
                  errors=(NotFound, Conflict, Unprocessable, NotAvailable)),
        ]  # fmt: skip

    async def share(self, uid: UUID, body: Share) -> Dataset:
        return await share_dataset(self._context, uid, body)
