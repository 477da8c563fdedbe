"""Routes for operators: how long work waits and takes, and what was done when."""

from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.contracts.access import CallingService, Role
from sluice.contracts.base import Timestamp
from sluice.contracts.problems import NotFound
from sluice.contracts.times import Timeline, WorkTimes
from sluice.servicekit.access.asking import Seen
from sluice.servicekit.access.policy import allow
from sluice.servicekit.http import api_router, errors
from wms.db.times import TimesPeriod
from wms.usecases.context import WmsContext
from wms.usecases.read_timeline import read_timeline
from wms.usecases.read_times import read_chain_times, read_period_times

#: Where nobody says since when.
_LATELY = timedelta(days=1)
#: Before which no day is.
_EARLIEST = datetime.min.replace(tzinfo=UTC) + _LATELY


def times_router(context: WmsContext) -> APIRouter:
    router = api_router("/api/v1", tags=["times"])

    @router.get("/times")
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def times(
        visibility: Seen,
        *,
        chain_uid: Annotated[list[UUID] | None, Query(max_length=100)] = None,
        template: str | None = None,
        since: Timestamp | None = None,
        until: Timestamp | None = None,
    ) -> WorkTimes:
        """Says how long jobs waited and ran, by step and in all: of chains, live and afterwards;
        without any, of tasks (of a template) that began in a period, by default of the last day."""
        if chain_uid:
            return await read_chain_times(context, chain_uid, visibility)
        now = datetime.now(UTC)
        end = until or now
        period = TimesPeriod(template, since or max(end, _EARLIEST) - _LATELY, end)
        return await read_period_times(context, period, visibility)

    @router.get("/chains/{uid}/timeline", responses=errors(NotFound))
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def timeline(uid: UUID) -> Timeline:
        """Shows a chain over time: which pilot did what when, and how many jobs waited."""
        return await read_timeline(context, uid)

    return router
