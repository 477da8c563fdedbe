"""Client of the intake."""

from datetime import datetime
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.intake import (
    Dismissed,
    Rematch,
    Rematched,
    RematchedAll,
    TieList,
    UnmatchedList,
    WaitingHandover,
)
from sluice.contracts.standing import Generations, ScheduleList, ScheduleState


class IntakeClient(ServiceClient):
    service = "wfms.intake"

    async def unmatched(self, *, limit: int | None = None) -> UnmatchedList:
        """Newest first."""
        return await self.call(
            "GET", f"{API}/unmatched", answer=UnmatchedList, params={"limit": limit}
        )

    async def why_chain_waits(self, dataset: UUID) -> str | None:
        """None: no chain of it does. Raises ``NotFound`` where a release before this one
        answers.
        """
        path, params = f"{API}/handovers", {"dataset_uid": dataset}
        return (await self.call("GET", path, params=params, answer=WaitingHandover)).reason

    async def schedule(self, template: str) -> ScheduleState | None:
        """None: it has none, or has not been looked at yet. Raises ``NotFound`` where a release
        before this one answers.
        """
        path, params = f"{API}/schedules", {"template": template}
        found = (await self.call("GET", path, params=params, answer=ScheduleList)).schedules
        return found[0] if found else None

    async def generations(self) -> int:
        """How many chains of a ring of templates begin by themselves one after the other. Raises
        ``NotFound`` where a release before this one answers.
        """
        return (await self.call("GET", f"{API}/generations", answer=Generations)).most

    async def ties(self) -> TieList:
        """Templates of one priority that matched the same data sets, the latest first."""
        return await self.call("GET", f"{API}/ties", answer=TieList)

    async def dismiss(self, dataset: UUID) -> None:
        """The data set is not listed as unmatched any more. Raises ``NotFound`` where it was
        not.
        """
        await self.call("DELETE", f"{API}/unmatched/{dataset}")

    async def dismiss_all(self, *, until: datetime) -> Dismissed:
        """Take all that were unmatched by then off the list."""
        return await self.call(
            "DELETE",
            f"{API}/unmatched",
            answer=Dismissed,
            params={"until": until.isoformat()},
            seconds=300,
        )

    async def rematch_all(self) -> RematchedAll:
        return await self.call("POST", f"{API}/rematch-all", answer=RematchedAll, seconds=300)

    async def rematch(self, dataset: UUID) -> Rematched:
        """Raises ``NotFound`` where the data set is not among the unmatched, ``Conflict`` where it
        was deleted.
        """
        return await self.call(
            "POST", f"{API}/rematch", body=Rematch(dataset_uid=dataset), answer=Rematched
        )
