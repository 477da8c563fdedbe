"""Routes for operators: how much data groups have, and may have."""

from fastapi import APIRouter

from dms.usecases.group_data import list_group_data, set_group_data
from sluice.contracts.access import CallingService
from sluice.contracts.groups import GroupDataList, SetGroupData
from sluice.contracts.owners import GroupName
from sluice.contracts.problems import NotAvailable
from sluice.servicekit.access.asking import Seen
from sluice.servicekit.access.policy import allow
from sluice.servicekit.database import Database
from sluice.servicekit.http import api_router, errors


def groups_router(database: Database) -> APIRouter:
    router = api_router("/api/v1/groups", tags=["groups"])

    @router.get("", responses=errors(NotAvailable))
    @allow(CallingService.OPERATOR)
    async def groups(sight: Seen) -> GroupDataList:
        """Lists groups that have data, or a quota."""
        return await list_group_data(database, sight)

    @router.put("/{group}", status_code=204, responses=errors(NotAvailable))
    @allow(CallingService.OPERATOR)
    async def set_(group: GroupName, new: SetGroupData) -> None:
        """Sets how much data people of a group may bring in, by what the group has then. What its
        chains write is counted, and never refused. Repeating it is fine."""
        await set_group_data(database, group, new)

    return router
