"""``/api/v1/unmatched`` and ``/ties``: results of matching data sets with templates."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.chains.intake import TieList, UnmatchedList
from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.access.policy import VIEWERS
from wfms.operator.chains.usecases.unmatched.list_current_ties import list_current_ties
from wfms.operator.chains.usecases.unmatched.review_unmatched import review_unmatched
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route


class UnmatchedQuery(Contract):
    """Which unmatched data sets are listed.

    Attributes:
        template: Only data sets that the latest version of this template would take now.
    """

    limit: Annotated[int, Field(ge=1, le=1000)] = 200
    template: str | None = None


class UnmatchedRoutes:
    """The routes of unmatched data sets and ties."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/unmatched", "list_unmatched", self.list, VIEWERS,
                  "List data sets that matched no template, with the reasons of today's templates.",
                  answer=UnmatchedList, query=UnmatchedQuery, errors=(NotAvailable,)),
            Route("GET", "/ties", "list_ties", self.ties, VIEWERS,
                  "List templates of equal priority that match the same data sets.",
                  answer=TieList, errors=(NotAvailable,)),
        ]  # fmt: skip

    async def list(self, query: UnmatchedQuery) -> UnmatchedList:
        """List unmatched data sets."""
        return await review_unmatched(self._context, limit=query.limit, template=query.template)

    async def ties(self) -> TieList:
        """List templates of equal priority that match the same data sets."""
        return TieList(ties=await list_current_ties(self._context))
