"""``/api/v1/attention``: problems that need a person."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.chains.attention import NoticeList
from sluice.contracts.common.base import Contract
from sluice.servicekit.access.policy import VIEWERS
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route
from wfms.operator.monitoring.usecases.get_attention import get_attention


class AttentionQuery(Contract):
    """How many notices are listed."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class AttentionRoutes:
    """The route of notices."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/attention", "list_notices", self.list, VIEWERS,
                  "List what needs attention, errors first.",
                  answer=NoticeList, query=AttentionQuery),
        ]  # fmt: skip

    async def list(self, query: AttentionQuery) -> NoticeList:
        """List what needs a person."""
        return (await get_attention(self._context, limit=query.limit)).notices
