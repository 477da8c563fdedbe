"""Routes for the links to the page of a step."""

from urllib.parse import quote
from uuid import UUID

from fastapi import status

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.human_tasks.supervision import AskLink, AskLinks, NewLink
from sluice.servicekit.access.policy import SUBMITTERS, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wfms.ask.api.dependencies import Address, Context
from wfms.ask.api.places import STEP, CallerName, Place
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.usecases.create_link import create_link
from wfms.ask.usecases.end_link import end_link
from wfms.ask.usecases.find_place import find_place
from wfms.ask.usecases.list_links import list_links
from wfms.ask.usecases.require_step import require_step

router = api_router("/api/v1/asking", tags=["human tasks"])


@router.post(
    f"{STEP}/links",
    operation_id="create_ask_link",
    openapi_extra=client_hints(retry=False),
    status_code=status.HTTP_201_CREATED,
    responses=errors(NotFound, Conflict),
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, gateway=SUBMITTERS)
async def create_ask_link_route(
    context: Context, address: Address, *, where: Place, new: NewLink, by: CallerName
) -> AskLink:
    """Create a link to the page of a human task. Its key is returned only this once."""
    new_link, key = await create_link(context, where, new, by=by)
    return new_link.model_copy(update={"url": page_address(address.url, where, key)})


@router.get(f"{STEP}/links", operation_id="list_ask_links", responses=errors(NotFound))
@allow(Role.SUBMITTER, CallingService.OPERATOR, gateway=SUBMITTERS)
async def list_ask_links_route(context: Context, where: Place) -> AskLinks:
    """List the links to the page of a human task, newest first, without their keys."""
    await require_step(context, where)
    return AskLinks(links=await list_links(context, where))


@router.delete(
    "/links/{uid}",
    operation_id="end_ask_link",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=errors(NotFound, Conflict),
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, gateway=SUBMITTERS)
async def end_ask_link_route(context: Context, uid: UUID, visibility: CallerVisibility) -> None:
    """End a link. Browsers that used it are no longer admitted."""
    where = await find_place(context, link=uid)
    if where is None or not visibility.is_member(where.group):
        raise NotFound(f"there is no link {uid}")
    await end_link(context, uid)


def page_address(address: str, place: HumanStepPlace, key: str) -> str:
    """Return the URL of the page with the key of a link."""
    return f"{address}/ask/{quote(place.template, safe='')}/{quote(place.step, safe='')}?key={key}"
