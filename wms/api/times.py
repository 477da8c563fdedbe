"""Routes of the times of jobs and the timelines of chains."""

from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Query

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.base import Timestamp
from sluice.contracts.common.bounds import NewText
from sluice.contracts.common.problems import NotFound
from sluice.contracts.jobs.times import Timeline, WorkTimes
from sluice.servicekit.access.policy import VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wms.api.dependencies import Context
from wms.db.times.times import TimesPeriod
from wms.usecases.times.get_chain_times import get_chain_times
from wms.usecases.times.get_period_times import get_period_times
from wms.usecases.times.get_timeline import get_timeline

#: The default length of a period.
_DEFAULT_PERIOD = timedelta(days=1)
#: The earliest end of a period of this length.
_EARLIEST = datetime.min.replace(tzinfo=UTC) + _DEFAULT_PERIOD


router = api_router("/api/v1", tags=["times"])


@router.get("/times", operation_id="get_times", openapi_extra=client_hints(seconds=60))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def get_times_route(
    context: Context,
    visibility: CallerVisibility,
    *,
    chain_uid: Annotated[
        list[UUID] | None,
        Query(max_length=100, description="Only these chains. May be repeated."),
    ] = None,
    template: NewText | None = None,
    since: Timestamp | None = None,
    until: Timestamp | None = None,
) -> WorkTimes:
    """Return how long jobs waited and ran, by step and in total.

    With `chain_uid`, of these chains, while they run and afterwards. Without, of the tasks (of
    `template`, if given) that were created between `since` and `until`: by default on the last
    day.
    """
    if chain_uid:
        return await get_chain_times(context, chain_uid, visibility)
    now = datetime.now(UTC)
    end = until or now
    period = TimesPeriod(template, since or max(end, _EARLIEST) - _DEFAULT_PERIOD, end)
    return await get_period_times(context, period, visibility)


@router.get(
    "/chains/{uid}/timeline",
    operation_id="get_timeline",
    openapi_extra=client_hints(seconds=60),
    responses=errors(NotFound),
)
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def get_timeline_route(context: Context, uid: UUID) -> Timeline:
    """Return which pilot worked when on a chain, and how many jobs waited."""
    return await get_timeline(context, uid)
