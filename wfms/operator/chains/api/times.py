"""``/api/v1/times``, and the timeline of a chain: as JSON and as SVG images."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.bounds import NewText
from sluice.contracts.common.problems import NotAvailable, NotFound, Unprocessable
from sluice.contracts.jobs.times import Timeline, WorkTimes
from sluice.servicekit.access.policy import VIEWERS
from wfms.operator.chains.domain.times_drawing import draw_times
from wfms.operator.chains.usecases.read_times import draw_chain, read_template_times
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route, RouteResponse

#: The images contain their own styles and load nothing.
_POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
#: Maximum number of chains in one request.
_MAX_CHAINS = 100


class TimesQuery(Contract):
    """Which work is counted.

    Without ``chain_uid``: the work that began after ``since`` (by default in the last day), of
    ``template`` or of all templates.
    """

    chain_uid: list[UUID] = Field(
        [], max_length=_MAX_CHAINS, description="Only these chains. May be repeated."
    )
    template: NewText | None = None
    since: Timestamp | None = Field(default=None)


class PictureQuery(Contract):
    """The query of a picture that changes while a chain runs."""

    t: NewText | None = Field(
        None, description="Any text. A browser loads the picture again when it changes."
    )


class TimesPictureQuery(TimesQuery, PictureQuery):
    """Which work is drawn."""


class TimesRoutes:
    """The routes of times and timelines."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        timeline = "/chains/<uuid:uid>/timeline"
        return [
            Route("GET", "/times", self.times, VIEWERS,
                  "Return how long jobs waited and ran, by step and in total: for chains, live"
                  " and afterwards, or for a template since a time.",
                  answer=WorkTimes, query=TimesQuery, errors=(Unprocessable, NotAvailable)),
            Route("GET", "/times.svg", self.picture, VIEWERS,
                  "Return the times as a picture (SVG).",
                  media="image/svg+xml", query=TimesPictureQuery,
                  errors=(Unprocessable, NotAvailable)),
            Route("GET", timeline, self.timeline, VIEWERS,
                  "Return the time line of a chain: which pilot worked when, and how many jobs"
                  " waited.",
                  answer=Timeline, errors=(NotFound, NotAvailable)),
            Route("GET", f"{timeline}.svg", self.timeline_picture, VIEWERS,
                  "Return the time line as a picture (SVG).",
                  media="image/svg+xml", forwarded_query=PictureQuery,
                  errors=(NotFound, NotAvailable)),
        ]  # fmt: skip

    async def times(self, query: TimesQuery) -> WorkTimes:
        """Return how long jobs waited and ran."""
        if query.chain_uid:
            return await self._context.wms.get_times(query.chain_uid)
        return await read_template_times(self._context, query.template, since=query.since)

    async def picture(self, query: TimesQuery) -> RouteResponse:
        """Return the times as an SVG image."""
        title = query.template or ("Times" if query.chain_uid else "All templates")
        svg = draw_times(await self.times(query), title=title)
        return _respond_with_picture(svg)

    async def timeline(self, uid: UUID) -> Timeline:
        """Return the timeline of a chain."""
        return await self._context.wms.get_timeline(uid)

    async def timeline_picture(self, uid: UUID) -> RouteResponse:
        """Return the timeline of a chain as an SVG image."""
        svg = await draw_chain(self._context, uid)
        return _respond_with_picture(svg)


def _respond_with_picture(svg: str) -> RouteResponse:
    return RouteResponse(svg.encode(), content_type="image/svg+xml", headers=_POLICY)
