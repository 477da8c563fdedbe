"""The server of the small web, where each site has its own address and all share one port."""

import asyncio
from collections.abc import Callable
from email.utils import formatdate, parsedate_to_datetime
from typing import Any

from masstimes.small_web.asgi import Exchange, make_exchange, now
from masstimes.small_web.dioceses import diocese_pages
from masstimes.small_web.pages_of_site import Site, SmallPage
from masstimes.small_web.parishes import SERVICE
from masstimes.small_web.places import Places
from masstimes.small_web.trap_answers import answer_trap
from masstimes.small_web.traps import PLACE, Dead, Trap
from masstimes.small_web.web import SmallWeb

_ROBOTS = f"User-agent: *\nDisallow: {PLACE}robots/prywatne/\n"
_NOBODY = "User-agent: *\nDisallow: /\n"
#: The modification time of pages, in seconds since 1970. Each change of a site adds a day.
_MODIFIED = 1_500_000_000


class Application:
    """The ASGI application.

    ``log`` gets each request when it is over. Its end is just before the last byte of the answer.
    The client of an answer without an end stopped reading at an unknown time, so that the end is
    then the start of the answer, or of the request if there is no answer. ``changed`` is called
    after the web has changed.
    """

    def __init__(
        self,
        web: SmallWeb,
        places: Places,
        *,
        log: Callable[[dict[str, Any]], None],
        on_change: Callable[[], None],
    ) -> None:
        self._web, self._places = web, places
        self._log, self._on_change = log, on_change
        self._dioceses = diocese_pages(web.parishes)
        self._requested: set[str] = set()
        self._modified: dict[str, int] = {}

    async def __call__(self, scope: dict[str, Any], receive: object, send: object) -> None:
        """Answer a request, and log it."""
        if scope["type"] != "http":
            return
        request, start = make_exchange(scope, receive, send), now()
        try:
            if scope["server"][0].startswith("127."):
                await self._answer(request)
            else:
                await request.answer(421, b"for this machine alone")
        finally:
            self._log(
                {
                    "host": request.host,
                    "path": request.target,
                    "start": start,
                    "answered": request.answer_time,
                    "end": request.end_time or request.answer_time or start,
                    "whole": request.end_time > 0,
                    "status": request.status,
                    "bytes": request.sent_bytes,
                    "conditional": bool(
                        {"if-none-match", "if-modified-since"} & {*request.headers}
                    ),
                    "user_agent": request.headers.get("user-agent", ""),
                }
            )

    async def _answer(self, request: Exchange) -> None:
        if request.host == SERVICE:
            await self._answer_service(request)
        elif (pages := self._dioceses.get(request.host)) is not None:
            await self._answer_diocese(request, pages)
        elif (site := self._web.sites.get(request.host)) is not None:
            await self._answer_site(request, site)
        else:
            await request.answer(404)

    async def _answer_service(self, request: Exchange) -> None:
        match request.method, request.path:
            case "GET", "/places/textsearch/json":
                hits = self._places.search(request.parameter("query"), request.parameter("key"))
                await request.json(hits)
            case "GET", "/places/details/json":
                place = request.parameter("place_id")
                await request.json(self._places.details(place, request.parameter("key")))
            case "POST", "/change":
                changed = self._web.change(int(request.parameter("sites") or 10))
                for parish in changed:
                    self._modified[parish.host] = self._modified.get(parish.host, 0) + 1
                self._on_change()
                await request.json([parish.id for parish in changed])
            case _:
                await request.answer(404)

    def _is_first_request(self, request: Exchange) -> bool:
        key = f"{request.host}{request.target}"
        if key in self._requested:
            return False
        self._requested.add(key)
        return True

    async def _answer_diocese(self, request: Exchange, pages: dict[str, bytes]) -> None:
        """Answer with a page of a diocese. All but the first page answer 503 at first."""
        page = pages.get(request.path)
        if page is None:
            await request.answer(404)
        elif request.path != "/parafie.html" and self._is_first_request(request):
            await request.answer(503, headers=[("retry-after", "1")])
        else:
            await request.answer(200, page, [("content-type", "text/html; charset=utf-8")])

    async def _answer_site(self, request: Exchange, site: Site) -> None:
        if site.dead is not None:
            await _answer_dead_site(request, site.dead)
        elif request.path == "/robots.txt":
            text = _ROBOTS if site.trap is Trap.ROBOTS else None
            await request.answer(200 if text else 404, (text or "").encode())
        elif site.trap is not None and request.path.startswith(f"{PLACE}{site.trap}/"):
            await answer_trap(site.trap, request)
        elif (page := site.pages.get(request.target)) is None:
            await request.answer(404, b"<h1>404</h1>", [("content-type", "text/html")])
        elif page.fails_first and self._is_first_request(request):
            await request.answer(503)
        else:
            await self._answer_page(
                request, page, _MODIFIED + 86400 * self._modified.get(request.host, 0)
            )

    async def _answer_page(self, request: Exchange, page: SmallPage, modified_at: int) -> None:
        if page.latency:
            await asyncio.sleep(page.latency)
        headers, is_known = [("content-type", page.content_type)], False
        if page.validator == "etag":
            headers.append(("etag", page.etag))
            is_known = request.headers.get("if-none-match") == page.etag
        elif page.validator == "modified":
            headers.append(("last-modified", formatdate(modified_at, usegmt=True)))
            is_known = _is_since(request.headers.get("if-modified-since"), modified_at)
        if is_known:
            await request.start(304, headers)
            await request.part(b"", more=False)
        else:
            await request.answer(200, page.body, headers)


def _is_since(header: str | None, modified_at: int) -> bool:
    return header is not None and parsedate_to_datetime(header).timestamp() >= modified_at


async def _answer_dead_site(request: Exchange, dead: Dead) -> None:
    match dead:
        case Dead.SILENT:
            await request.wait_for_disconnect()
        case Dead.ERRORS:
            await request.answer(500)
        case Dead.FORBIDDEN if request.path == "/robots.txt":
            await request.answer(200, _NOBODY.encode())
        case Dead.FORBIDDEN:
            await request.page("<p>msza 7:00</p>")
