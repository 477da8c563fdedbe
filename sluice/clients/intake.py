"""Client of the intake."""

from uuid import UUID

from sluice.clients.base import API
from sluice.clients.unmatched_calls import SharedUnmatchedCalls
from sluice.contracts.chains.intake import (
    UnmatchedList,
    WaitingHandover,
)
from sluice.contracts.data.append_only import ScheduleList, ScheduleState, TriggerDepth


class IntakeClient(SharedUnmatchedCalls):
    """Client of the intake."""

    service = "wfms.intake"

    async def list_unmatched(self, *, limit: int | None = None) -> UnmatchedList:
        """Return unmatched data sets, newest first."""
        return await self.call(
            "GET", f"{API}/unmatched", answer=UnmatchedList, params={"limit": limit}
        )

    async def explain_waiting_chain(self, dataset: UUID) -> str | None:
        """Return why the chain of a data set waits, or None if none does."""
        path, params = f"{API}/handovers", {"dataset_uid": dataset}
        return (await self.call("GET", path, params=params, answer=WaitingHandover)).reason

    async def get_schedule(self, template: str) -> ScheduleState | None:
        """Return the state of a template's schedule, or None if it has none or is not yet known."""
        path, params = f"{API}/schedules", {"template": template}
        schedules = (await self.call("GET", path, params=params, answer=ScheduleList)).schedules
        return schedules[0] if schedules else None

    async def get_max_generations(self) -> int:
        """Return the maximum number of generations of chains in a trigger cycle."""
        return (await self.call("GET", f"{API}/generations", answer=TriggerDepth)).most
