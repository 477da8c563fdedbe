"""Routes for people who watch human tasks."""

from uuid import UUID

from fastapi.responses import StreamingResponse

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.human_tasks.supervision import (
    AskBrowser,
    AskBrowsers,
    HumanStepList,
    SetBrowserState,
)
from sluice.servicekit.access.policy import SHIFT, VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from wfms.ask.api.dependencies import Context
from wfms.ask.api.places import STEP, CallerName, Place
from wfms.ask.usecases.export_answers import export_answers
from wfms.ask.usecases.find_place import find_place
from wfms.ask.usecases.list_browsers import list_browsers
from wfms.ask.usecases.list_human_steps import list_human_steps
from wfms.ask.usecases.override_browser_state import override_browser_state
from wfms.ask.usecases.require_step import require_step

_LINES = {"content": {"application/jsonl": {"schema": {"type": "string"}}}}


router = api_router("/api/v1/asking", tags=["human tasks"])


@router.get("/steps", operation_id="list_human_steps")
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def list_human_steps_route(context: Context, visibility: CallerVisibility) -> HumanStepList:
    """List the progress of human tasks of the last 30 days, by step."""
    return HumanStepList(steps=await list_human_steps(context, visibility))


@router.get(f"{STEP}/browsers", operation_id="list_ask_browsers", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def list_ask_browsers_route(context: Context, where: Place) -> AskBrowsers:
    """List the browsers of annotators.

    Those that seem to answer without looking come first.
    """
    await require_step(context, where)
    return AskBrowsers(browsers=await list_browsers(context, where))


@router.put(
    "/browsers/{uid}/state",
    operation_id="set_browser_state",
    responses=errors(NotFound, Conflict),
)
@allow(Role.SHIFT, CallingService.OPERATOR, gateway=SHIFT)
async def set_browser_state_route(
    context: Context,
    *,
    uid: UUID,
    new: SetBrowserState,
    visibility: CallerVisibility,
    by: CallerName,
) -> AskBrowser:
    """Exclude a browser and revoke its annotations, or admit it again."""
    where = await find_place(context, browser=uid)
    if where is None or not visibility.is_member(where.group):
        raise NotFound(f"there is no browser {uid}")
    await override_browser_state(context, uid, new.state, reason=new.reason, by=by)
    [browser] = await list_browsers(context, where, browser=uid)
    return browser


@router.get(
    f"{STEP}/answers",
    operation_id="export_answers",
    responses={**errors(NotFound), 200: _LINES},
    response_class=StreamingResponse,
)
@allow(Role.VIEWER, CallingService.OPERATOR)
async def export_answers_route(context: Context, where: Place) -> StreamingResponse:
    """Return all answers to a step as JSON Lines, also those that do not count."""
    await require_step(context, where)
    return StreamingResponse(export_answers(context, where), media_type="application/jsonl")
