"""Routes for people who watch what is asked."""

from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Path, status
from fastapi.responses import StreamingResponse

from sluice.contracts.access import CallingService, Role
from sluice.contracts.asking_watch import (
    AskDevice,
    AskDevices,
    AskingSteps,
    AskLink,
    AskLinks,
    NewLink,
    SetStanding,
)
from sluice.contracts.owners import Sight
from sluice.contracts.problems import Conflict, NotFound
from sluice.servicekit.access.asking import Asking, Seen
from sluice.servicekit.access.policy import allow
from sluice.servicekit.http import api_router, errors
from wfms.ask.db.devices import AskingPlace
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.make_link import close_link, links_to, make_link
from wfms.ask.usecases.read_progress import export_answers, place_of, read_devices, read_steps
from wfms.ask.usecases.set_standing import set_standing_by_hand

Named = Annotated[str, Path(min_length=1, max_length=300)]
#: Who asks where nobody has to say who he is.
_NOBODY = "somebody"
_LINES = {"content": {"application/jsonl": {"schema": {"type": "string"}}}}
_STEP = "/steps/{group}/{template}/{step}"


def watching_router(context: AskContext, *, address: str) -> APIRouter:
    """``address``: what links begin with."""
    router = api_router("/api/v1/asking", tags=["asking"])

    def place(group: str, template: str, step: str, sight: Sight) -> AskingPlace:
        found = AskingPlace(template, step, group)
        _require_seen(found, sight)
        return found

    @router.get("/steps")
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def steps(sight: Seen) -> AskingSteps:
        """Lists steps that ask people now, or did within 30 days: how far they are."""
        return AskingSteps(steps=await read_steps(context, sight))

    @router.post(
        f"{_STEP}/links", status_code=status.HTTP_201_CREATED, responses=errors(NotFound, Conflict)
    )
    @allow(Role.SUBMITTER, CallingService.OPERATOR)
    async def link(
        group: Named, template: Named, step: Named, new: NewLink, sight: Seen, person: Asking
    ) -> AskLink:
        """Makes a link by which the step's page is opened; its key is told once."""
        by = _NOBODY if person is None else person.name
        where = place(group, template, step, sight)
        made, key = await make_link(context, where, new, by=by)
        return made.model_copy(update={"url": page_address(address, where, key)})

    @router.get(f"{_STEP}/links", responses=errors(NotFound))
    @allow(Role.SUBMITTER, CallingService.OPERATOR)
    async def links(group: Named, template: Named, step: Named, sight: Seen) -> AskLinks:
        """Lists links to the step's page, newest first, without their keys."""
        return AskLinks(links=await links_to(context, place(group, template, step, sight)))

    @router.delete(
        "/links/{uid}",
        status_code=status.HTTP_204_NO_CONTENT,
        responses=errors(NotFound, Conflict),
    )
    @allow(Role.SUBMITTER, CallingService.OPERATOR)
    async def end(uid: UUID, sight: Seen) -> None:
        """Ends a link: browsers that came by it are not let in any more."""
        _seen_place(await place_of(context, link=uid), sight, f"there is no link {uid}")
        await close_link(context, uid)

    @router.get(f"{_STEP}/devices", responses=errors(NotFound))
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def devices(group: Named, template: Named, step: Named, sight: Seen) -> AskDevices:
        """Lists browsers that answered, those first that seem to answer without looking."""
        where = place(group, template, step, sight)
        return AskDevices(devices=await read_devices(context, where))

    @router.put("/devices/{uid}/standing", responses=errors(NotFound, Conflict))
    @allow(Role.SHIFT, CallingService.OPERATOR)
    async def standing(uid: UUID, new: SetStanding, sight: Seen, person: Asking) -> AskDevice:
        """Takes back all that a browser answered, or has it count again."""
        found = await place_of(context, device=uid)
        where = _seen_place(found, sight, f"there is no device {uid}")
        by = _NOBODY if person is None else person.name
        await set_standing_by_hand(context, uid, new.standing, reason=new.reason, by=by)
        [device] = await read_devices(context, where, device=uid)
        return device

    @router.get(
        f"{_STEP}/answers",
        responses={**errors(NotFound), 200: _LINES},
        response_class=StreamingResponse,
    )
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def answers(group: Named, template: Named, step: Named, sight: Seen) -> StreamingResponse:
        """Every answer to the step, as JSON Lines, those that do not count among them."""
        where = place(group, template, step, sight)
        return StreamingResponse(export_answers(context, where), media_type="application/jsonl")

    return router


def _require_seen(place: AskingPlace, sight: Sight) -> None:
    if not sight.is_member(place.group):
        raise NotFound(f"step {place.step} of {place.template} asks nothing of {place.group}")


def _seen_place(place: AskingPlace | None, sight: Sight, missing: str) -> AskingPlace:
    if place is None or not sight.is_member(place.group):
        raise NotFound(missing)
    return place


def page_address(address: str, place: AskingPlace, key: str) -> str:
    """With the key of a link."""
    return f"{address}/ask/{quote(place.template, safe='')}/{quote(place.step, safe='')}?key={key}"
