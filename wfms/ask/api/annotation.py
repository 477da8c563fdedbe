"""The page for annotators, and the routes that it uses.

A link admits a browser. From then on a cookie identifies it.
"""

import hashlib
from mimetypes import guess_type
from pathlib import Path as FilePath
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import Depends, Header, Path, Request, Response, status
from fastapi.responses import FileResponse, RedirectResponse

from sluice.contracts.common.problems import Forbidden, NotFound, ServiceError, Unauthenticated
from sluice.contracts.human_tasks.annotation import (
    AnnotatorItem,
    AskNext,
    AskPage,
    NextItems,
    UndoAnswer,
)
from sluice.contracts.human_tasks.ask import MAX_LINK_DAYS
from sluice.servicekit.access.delegation import client_address
from sluice.servicekit.access.policy import Other, allow
from sluice.servicekit.web.http import api_router, errors
from wfms.ask.api.browser_rate import RequestRateExceeded
from wfms.ask.api.dependencies import Address, Context, Rate
from wfms.ask.domain.errors import LinkExpired
from wfms.ask.usecases.admit_browser import BrowserOrigin, admit_browser
from wfms.ask.usecases.annotator_session import AnnotatorSession
from wfms.ask.usecases.answer_and_ask import answer_and_ask
from wfms.ask.usecases.authenticate_annotator import authenticate_annotator
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.get_image import get_image
from wfms.ask.usecases.get_page import get_page
from wfms.ask.usecases.undo_answer import undo_answer

PathName = Annotated[str, Path(min_length=1, max_length=300)]
#: A header that a page of another site cannot send.
OwnPage = Annotated[str | None, Header(alias="Sluice-Ask")]

#: The page and its static files.
_PAGE = FilePath(__file__).parent / "page"
_FILES = {path.name: path for path in sorted(_PAGE.iterdir()) if path.is_file()}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)
_SAFE = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
#: Browsers ask again each time, so that all files are of one version.
_FRESH = {"Cache-Control": "no-cache"}
#: Headers that tell browsers behind one address apart, and that stay when cookies are deleted.
_TRAITS = ("accept-language", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform")
_STEP = "/{template}/{step}"
#: Seconds for which the cookie lasts: a browser may come by several links, one after the other.
_COOKIE_SECONDS = MAX_LINK_DAYS * 86_400
_REFUSALS = errors(NotFound, LinkExpired, RequestRateExceeded)
_AN_IMAGE = {"content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}}


router = api_router("/ask", tags=["annotation"])


@router.get("/-/{file}", include_in_schema=False)
@allow(Other.EVERYBODY)
async def page_file_route(file: str) -> Response:
    """Send a static file of the page."""
    if file not in _FILES:
        raise NotFound(f"there is no {file}")
    kind = guess_type(file)[0] or "application/octet-stream"
    return FileResponse(_FILES[file], media_type=kind, headers=_SAFE | _FRESH)


@router.get(_STEP, include_in_schema=False)
@allow(Other.EVERYBODY)
async def page_route(
    context: Context,
    rate: Rate,
    address: Address,
    *,
    request: Request,
    template: PathName,
    step: PathName,
    key: str | None = None,
) -> Response:
    """Send the page.

    With a link's ``key``, admit the browser and redirect it to the address without the key. If
    it is not admitted, the page says why.
    """
    if key is None:
        return FileResponse(_FILES["page.html"], headers=_SAFE | _FRESH)
    try:
        await rate.require_address(client_address(request.scope))
        return await _admit(context, request, (template, step), key, secure=address.is_secure)
    except (Unauthenticated, LinkExpired, RequestRateExceeded) as refusal:
        return _respond_to_refusal(request, refusal, _FILES["page.html"])


async def _authenticate(
    context: Context, rate: Rate, *, request: Request, template: PathName, step: PathName
) -> AnnotatorSession:
    token = request.cookies.get(cookie_name(template, step))
    if token:
        await rate.require_browser(token)
    return await authenticate_annotator(context, token, template, step)


# FastAPI resolves this before it validates the body.
Session = Annotated[AnnotatorSession, Depends(_authenticate)]


@router.get(
    f"{_STEP}/about",
    operation_id="describe_step",
    responses=_REFUSALS,
)
@allow(Other.LINK)
async def describe_step_route(context: Context, session: Session) -> AskPage:
    """Return the question and the possible answers."""
    return await get_page(context, session)


@router.post(
    f"{_STEP}/next",
    operation_id="answer_items",
    responses=_REFUSALS,
)
@allow(Other.LINK)
async def answer_items_route(
    context: Context, session: Session, request: AskNext, own_page: OwnPage = None
) -> NextItems:
    """Store answers and return the next items."""
    _require_own(own_page)
    return await answer_and_ask(context, session, request)


@router.post(
    f"{_STEP}/undo",
    operation_id="undo_answer",
    responses=_REFUSALS,
)
@allow(Other.LINK)
async def undo_answer_route(
    context: Context, session: Session, undo_request: UndoAnswer, own_page: OwnPage = None
) -> AnnotatorItem:
    """Take an answer back and return its item, which is shown again."""
    _require_own(own_page)
    return await undo_answer(context, session, undo_request.item)


@router.get(
    f"{_STEP}/items/{{item}}/image",
    operation_id="get_image",
    responses={**_REFUSALS, 200: _AN_IMAGE},
    response_class=Response,
)
@allow(Other.LINK)
async def get_image_route(context: Context, session: Session, item: UUID) -> Response:
    """Return the image of an item that this browser was shown."""
    data, kind = await get_image(context, session, item)
    caching = {"Cache-Control": "private, max-age=3600"}
    return Response(data, media_type=kind, headers={**_SAFE, **caching})


async def _admit(
    context: AskContext, request: Request, step: tuple[str, str], key: str, *, secure: bool
) -> Response:
    cookie = cookie_name(*step)
    admission = await admit_browser(
        context,
        key,
        earlier_token=request.cookies.get(cookie),
        origin=_origin(request),
    )
    place = admission.place
    path = f"/ask/{quote(place.template, safe='')}/{quote(place.step, safe='')}"
    answer = RedirectResponse(path, status_code=status.HTTP_303_SEE_OTHER)
    if admission.token is not None:
        answer.set_cookie(
            cookie_name(place.template, place.step),
            admission.token,
            max_age=_COOKIE_SECONDS,
            path=path,
            httponly=True,
            secure=secure,
            samesite="lax",
        )
    return answer


def _origin(request: Request) -> BrowserOrigin:
    traits = (request.headers.get(name, "") for name in _TRAITS)
    return BrowserOrigin(
        client_address(request.scope), request.headers.get("user-agent", ""), tuple(traits)
    )


def _respond_to_refusal(request: Request, refusal: ServiceError, page: FilePath) -> Response:
    """Answer a browser with the page, which asks for the reason itself, and raise it otherwise."""
    if "text/html" not in request.headers.get("accept", ""):
        raise refusal
    return FileResponse(page, refusal.status, headers=_SAFE | _FRESH)


def cookie_name(template: str, step: str) -> str:
    """Return the name of the cookie; each step has its own."""
    digest = hashlib.sha256(f"{template}\0{step}".encode()).hexdigest()
    return f"sluice_ask_{digest[:16]}"


def _require_own(header: str | None) -> None:
    if header is None:
        raise Forbidden("the request does not come from the page: it has no header Sluice-Ask")
