"""Calls about unmatched data sets that the intake and the operator service have."""

from datetime import datetime
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.chains.intake import (
    Dismissed,
    Rematch,
    Rematched,
    RematchedAll,
    TieList,
)


class SharedUnmatchedCalls(ServiceClient):
    """Calls of the intake that the operator service forwards."""

    async def list_ties(self) -> TieList:
        """Return templates of equal priority that matched the same data sets, the latest first."""
        return await self.call("GET", f"{API}/ties", answer=TieList)

    async def dismiss_unmatched(self, dataset: UUID) -> None:
        """Remove a data set from the list of unmatched ones.

        Raises:
            NotFound: It is not in the list.
        """
        await self.call("DELETE", f"{API}/unmatched/{dataset}")

    async def dismiss_all_unmatched(self, *, until: datetime) -> Dismissed:
        """Remove all data sets that were unmatched by ``until`` from the list."""
        return await self.call(
            "DELETE",
            f"{API}/unmatched",
            answer=Dismissed,
            params={"until": until.isoformat()},
            seconds=300,
        )

    async def rematch_all(self) -> RematchedAll:
        """Match all unmatched data sets again."""
        return await self.call("POST", f"{API}/rematch-all", answer=RematchedAll, seconds=300)

    async def rematch(self, dataset: UUID) -> Rematched:
        """Match a data set again.

        Raises:
            NotFound: It is not among the unmatched data sets.
            Conflict: It was deleted.
        """
        return await self.call(
            "POST", f"{API}/rematch", body=Rematch(dataset_uid=dataset), answer=Rematched
        )
