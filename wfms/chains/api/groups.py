"""REST routes: how many chains groups may have at a time."""

from fastapi import APIRouter

from sluice.contracts.access import CallingService
from sluice.contracts.groups import GroupChainsList, SetGroupChains
from sluice.contracts.owners import GroupName
from sluice.servicekit.access.asking import Seen
from sluice.servicekit.access.policy import allow
from sluice.servicekit.database import Database
from sluice.servicekit.http import api_router
from wfms.chains.usecases.group_chains import list_group_chains, set_group_chains


def groups_router(database: Database) -> APIRouter:
    router = api_router("/api/v1/groups", tags=["groups"])

    @router.get("")
    @allow(CallingService.OPERATOR)
    async def groups(sight: Seen) -> GroupChainsList:
        """Lists groups that have chains which have not ended, or a quota."""
        return await list_group_chains(database, sight)

    @router.put("/{group}", status_code=204)
    @allow(CallingService.OPERATOR)
    async def set_(group: GroupName, new: SetGroupChains) -> None:
        """Sets how many chains of a group may be under way at a time: one more that a person asks
        for is refused, one that would begin by itself waits. Repeating it is fine."""
        await set_group_chains(database, group, new)

    return router
