"""Times and the timeline of a chain as SVG images. Their JSON is forwarded from the WMS."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.bounds import NewText
from sluice.contracts.common.problems import NotAvailable, NotFound, Unprocessable
from sluice.servicekit.access.policy import VIEWERS
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route, RouteResponse
from wfms.operator.web.domain.times_drawing import draw_times
from wfms.operator.web.usecases.draw_chain_timeline import draw_chain_timeline

#: The images contain their own styles and load nothing.
_POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
#: Maximum number of chains in one request.
_MAX_CHAINS = 100


class PictureQuery(Contract):
    """The query of a picture that changes while a chain runs."""

    t: NewText | None = Field(
        None, description="Any text. A browser loads the picture again when it changes."
    )


class TimesPictureQuery(PictureQuery):
    """Which work is drawn.

    Without ``chain_uid``: the work that began after ``since`` (by default in the last day), of
    ``template`` or of all templates.
    """

    chain_uid: list[UUID] = Field(
        [], max_length=_MAX_CHAINS, description="Only these chains. May be repeated."
    )
    template: NewText | None = None
    since: Timestamp | None = Field(default=None)


class TimesRoutes:
    """The routes of the images of times and timelines."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/times.svg", "draw_times", self.picture, VIEWERS,
                  "Return the times as a picture (SVG).",
                  media="image/svg+xml", query=TimesPictureQuery,
                  errors=(Unprocessable, NotAvailable)),
            Route("GET", "/chains/<uuid:uid>/timeline.svg", "draw_timeline",
                  self.timeline_picture, VIEWERS,
                  "Return the timeline as a picture (SVG).",
                  media="image/svg+xml", forwarded_query=PictureQuery,
                  errors=(NotFound, NotAvailable)),
        ]  # fmt: skip

    async def picture(self, query: TimesPictureQuery) -> RouteResponse:
        """Return the times as an SVG image."""
        times = await self._context.wms.get_times(
            chain_uid=query.chain_uid, template=query.template, since=query.since
        )
        title = query.template or ("Times" if query.chain_uid else "All templates")
        return _respond_with_picture(draw_times(times, title=title))

    async def timeline_picture(self, uid: UUID) -> RouteResponse:
        """Return the timeline of a chain as an SVG image."""
        svg = await draw_chain_timeline(self._context, uid)
        return _respond_with_picture(svg)


def _respond_with_picture(svg: str) -> RouteResponse:
    return RouteResponse(svg.encode(), content_type="image/svg+xml", headers=_POLICY)
