"""Calls of wfms.intake, generated from its OpenAPI document by `make docs`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from sluice.clients.base import API, ServiceClient

if TYPE_CHECKING:
    from sluice.contracts.chains.intake import (
        Dismissed,
        Rematched,
        RematchedAll,
        TieList,
        UnmatchedList,
    )
    from sluice.contracts.data.append_only import ScheduleState


class ForwardedIntakeCalls(ServiceClient):
    """Calls that the operator service forwards."""

    async def rematch(self, *, dataset_uid: UUID) -> Rematched:
        """Match an unmatched data set again, after a template was added or changed.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.intake import Rematch, Rematched

        return await self.call(
            "POST", f"{API}/rematch", body=Rematch(dataset_uid=dataset_uid), answer=Rematched
        )

    async def rematch_all(self) -> RematchedAll:
        """Match all unmatched data sets again, and remove deleted ones."""
        from sluice.contracts.chains.intake import RematchedAll

        return await self.call("POST", f"{API}/rematch-all", seconds=300, answer=RematchedAll)

    async def dismiss_all_unmatched(self, *, until: datetime) -> Dismissed:
        """Remove all data sets that were unmatched at `until` from the list.

        The data sets themselves stay.
        """
        from sluice.contracts.chains.intake import Dismissed

        return await self.call(
            "DELETE", f"{API}/unmatched", params={"until": until}, seconds=300, answer=Dismissed
        )

    async def dismiss_unmatched(self, uid: UUID) -> None:
        """Remove a data set from the list of unmatched data sets.

        The data set itself stays.

        It can raise ``NotFound``.
        """
        await self.call("DELETE", f"{API}/unmatched/{uid}")


class IntakeCalls(ForwardedIntakeCalls):
    """All calls."""

    async def get_max_generations(self) -> int:
        """Return how many chains start one after the other in a trigger cycle."""
        from sluice.contracts.data.append_only import TriggerDepth

        return (await self.call("GET", f"{API}/generations", answer=TriggerDepth)).most

    async def get_waiting_handover(self, *, dataset_uid: UUID) -> str | None:
        """Return why the chain of a data set has not started although a template takes it."""
        from sluice.contracts.chains.intake import WaitingHandover

        return (
            await self.call(
                "GET",
                f"{API}/handovers",
                params={"dataset_uid": dataset_uid},
                answer=WaitingHandover,
            )
        ).reason

    async def list_schedules(self, *, template: str | None = None) -> list[ScheduleState]:
        """List templates with a schedule, with the last time that each was started for."""
        from sluice.contracts.data.append_only import ScheduleList

        return (
            await self.call(
                "GET", f"{API}/schedules", params={"template": template}, answer=ScheduleList
            )
        ).schedules

    async def list_ties(self, *, limit: int | None = None) -> TieList:
        """List templates of one priority that matched the same data sets, the latest first."""
        from sluice.contracts.chains.intake import TieList

        return await self.call("GET", f"{API}/ties", params={"limit": limit}, answer=TieList)

    async def list_unmatched(self, *, limit: int | None = None) -> UnmatchedList:
        """List data sets that no chain carries, with the reasons; newest first."""
        from sluice.contracts.chains.intake import UnmatchedList

        return await self.call(
            "GET", f"{API}/unmatched", params={"limit": limit}, answer=UnmatchedList
        )
