"""Client of the intake."""

from uuid import UUID

from sluice.clients.base import ServiceClient
from sluice.contracts.intake import Rematch, Rematched, UnmatchedList

_API = "/api/v1"


class IntakeClient(ServiceClient):
    service = "wfms.intake"

    async def unmatched(self, *, limit: int | None = None) -> UnmatchedList:
        """Newest first."""
        return await self.call("GET", f"{_API}/unmatched", answer=UnmatchedList, params={"limit": limit})

    async def rematch(self, dataset: UUID) -> Rematched:
        """Raises ``NotFound`` where the data set is not among the unmatched."""
        return await self.call("POST", f"{_API}/rematch", body=Rematch(dataset_uid=dataset), answer=Rematched)
