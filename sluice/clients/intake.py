"""Client of the intake."""

from datetime import datetime
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.chains.intake import (
    Dismissed,
    Rematch,
    Rematched,
    RematchedAll,
    TieList,
    UnmatchedList,
    WaitingHandover,
)
from sluice.contracts.data.append_only import ScheduleList, ScheduleState, TriggerDepth


class IntakeClient(ServiceClient):
    """Client of the intake."""

    service = "wfms.intake"

    async def unmatched(self, *, limit: int | None = None) -> UnmatchedList:
        """Return unmatched data sets, newest first."""
        return await self.call(
            "GET", f"{API}/unmatched", answer=UnmatchedList, params={"limit": limit}
        )

    async def why_chain_waits(self, dataset: UUID) -> str | None:
        """Return why the chain of a data set waits, or None if none does."""
        path, params = f"{API}/handovers", {"dataset_uid": dataset}
        return (await self.call("GET", path, params=params, answer=WaitingHandover)).reason

    async def schedule(self, template: str) -> ScheduleState | None:
        """Return the state of a template's schedule, or None if it has none or is not yet known."""
        path, params = f"{API}/schedules", {"template": template}
        found = (await self.call("GET", path, params=params, answer=ScheduleList)).schedules
        return found[0] if found else None

    async def generations(self) -> int:
        """Return the maximum number of generations of chains in a trigger cycle."""
        return (await self.call("GET", f"{API}/generations", answer=TriggerDepth)).most

    async def ties(self) -> TieList:
        """Return templates of equal priority that matched the same data sets, the latest first."""
        return await self.call("GET", f"{API}/ties", answer=TieList)

    async def dismiss(self, dataset: UUID) -> None:
        """Remove a data set from the list of unmatched ones.

        Raises:
            NotFound: It is not in the list.
        """
        await self.call("DELETE", f"{API}/unmatched/{dataset}")

    async def dismiss_all(self, *, until: datetime) -> Dismissed:
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
