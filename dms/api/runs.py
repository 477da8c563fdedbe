"""Routes of periods, runs and frames."""

from typing import Annotated

from fastapi import Query, Response

from dms.api.dependencies import Context
from dms.db.periods import PERIODS, RUNS
from dms.usecases.runs.end_span import end_span
from dms.usecases.runs.get_run import get_run
from dms.usecases.runs.list_frames import list_frames
from dms.usecases.runs.list_periods import list_periods
from dms.usecases.runs.list_runs import list_runs
from dms.usecases.runs.register_frames import register_frames
from dms.usecases.runs.register_period import register_period
from dms.usecases.runs.register_run import register_run
from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.datasets import RegistrationCounts
from sluice.contracts.data.runs import EndTime, Frame, NewFrames, NewPeriod, NewRun, Period, Run
from sluice.servicekit.access.policy import SUBMITTERS, VIEWERS, allow
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints

router = api_router("/api/v1", tags=["periods and runs"])


@router.post(
    "/periods",
    operation_id="register_period",
    status_code=201,
    responses={200: {"model": Period}, **errors(Conflict, NotAvailable)},
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, gateway=SUBMITTERS)
async def register_period_route(context: Context, new: NewPeriod, response: Response) -> Period:
    """Register a period: 201; 200 with the first one for the same request again."""
    period, created = await register_period(context.database, new)
    response.status_code = 201 if created else 200
    return period


@router.get("/periods", operation_id="list_periods", responses=errors(NotAvailable))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def list_periods_route(context: Context) -> list[Period]:
    """List all periods by name."""
    return await list_periods(context.database)


@router.patch(
    "/periods/{name}",
    operation_id="end_period",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Unprocessable, NotAvailable),
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, gateway=SUBMITTERS)
async def end_period_route(context: Context, name: str, end: EndTime) -> Period:
    """Set the end of a period; null removes it."""
    return await end_span(context.database, PERIODS, name, end.ended_at)


@router.post(
    "/runs",
    operation_id="register_run",
    status_code=201,
    responses={200: {"model": Run}, **errors(Conflict, Unprocessable, NotAvailable)},
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, gateway=SUBMITTERS)
async def register_run_route(context: Context, new: NewRun, response: Response) -> Run:
    """Register a run of a period: 201; 200 with the first one for the same request again."""
    run, created = await register_run(context.database, new)
    response.status_code = 201 if created else 200
    return run


@router.get("/runs", operation_id="list_runs", responses=errors(NotFound, NotAvailable))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def list_runs_route(context: Context, period: str | None = None) -> list[Run]:
    """List all runs, or those of a period, by number."""
    return await list_runs(context.database, period)


@router.get("/runs/{number}", operation_id="get_run", responses=errors(NotFound, NotAvailable))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def get_run_route(context: Context, number: int) -> Run:
    """Return a run."""
    return await get_run(context.database, number)


@router.patch(
    "/runs/{number}",
    operation_id="end_run",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Unprocessable, NotAvailable),
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, gateway=SUBMITTERS)
async def end_run_route(context: Context, number: int, end: EndTime) -> Run:
    """Set the end of a run; null removes it."""
    return await end_span(context.database, RUNS, number, end.ended_at)


@router.post(
    "/runs/{number}/frames",
    operation_id="register_frames",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Conflict, Unprocessable, NotAvailable),
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, gateway=SUBMITTERS)
async def register_frames_route(
    context: Context, number: int, request: NewFrames
) -> RegistrationCounts:
    """Add frames to a run, all of them or none.

    Registered frames that are equal count as known.
    """
    return await register_frames(context.database, number, request.frames)


@router.get(
    "/runs/{number}/frames",
    operation_id="list_frames",
    responses=errors(NotFound, NotAvailable),
)
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def list_frames_route(
    context: Context,
    number: int,
    after: Annotated[int, Query(description="Only frames with numbers above this.")] = -1,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> list[Frame]:
    """List the frames of a run by number."""
    return await list_frames(context.database, number, after=after, limit=limit)
