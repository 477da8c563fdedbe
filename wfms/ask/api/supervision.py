"""Routes for people who watch human tasks."""

from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.human_tasks.supervision import (
    AskDevice,
    AskDevices,
    HumanStepList,
    SetDeviceState,
)
from sluice.servicekit.access.policy import SHIFT, VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from wfms.ask.api.places import STEP, CallerName, Place
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.read_progress import (
    export_answers,
    find_place,
    read_devices,
    read_steps,
    require_step,
)
from wfms.ask.usecases.set_device_state import set_device_state_by_supervisor

_LINES = {"content": {"application/jsonl": {"schema": {"type": "string"}}}}


def supervision_router(context: AskContext) -> APIRouter:
    """Return the router."""
    router = api_router("/api/v1/asking", tags=["human tasks"])

    @router.get("/steps", operation_id="list_human_steps")
    @allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
    async def steps(visibility: CallerVisibility) -> HumanStepList:
        """List the progress of human tasks of the last 30 days, by step."""
        return HumanStepList(steps=await read_steps(context, visibility))

    @router.get(f"{STEP}/devices", operation_id="list_ask_devices", responses=errors(NotFound))
    @allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
    async def devices(where: Place) -> AskDevices:
        """List the browsers of annotators.

        Those that seem to answer without looking come first.
        """
        await require_step(context, where)
        return AskDevices(devices=await read_devices(context, where))

    @router.put(
        "/devices/{uid}/state",
        operation_id="set_device_state",
        responses=errors(NotFound, Conflict),
    )
    @allow(Role.SHIFT, CallingService.OPERATOR, gateway=SHIFT)
    async def put_device_state(
        uid: UUID, new: SetDeviceState, visibility: CallerVisibility, by: CallerName
    ) -> AskDevice:
        """Exclude a browser and revoke its annotations, or admit it again."""
        where = await find_place(context, device=uid)
        if where is None or not visibility.is_member(where.group):
            raise NotFound(f"there is no device {uid}")
        await set_device_state_by_supervisor(context, uid, new.state, reason=new.reason, by=by)
        [device] = await read_devices(context, where, device=uid)
        return device

    @router.get(
        f"{STEP}/answers",
        operation_id="read_answers",
        responses={**errors(NotFound), 200: _LINES},
        response_class=StreamingResponse,
    )
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def answers(where: Place) -> StreamingResponse:
        """Return all answers to a step as JSON Lines, also those that do not count."""
        await require_step(context, where)
        return StreamingResponse(export_answers(context, where), media_type="application/jsonl")

    return router
