"""Fake chain service, WMS, DMS and intake: their routes over rows that a test prepares."""

from contextvars import ContextVar
from functools import cache
from typing import cast

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send
from werkzeug.local import LocalProxy

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all
from tests.integration.operator.fakes.chain_rows import make_chain_routers
from tests.integration.operator.fakes.dataset_rows import make_dataset_routers
from tests.integration.operator.fakes.intake_rows import make_intake_routes
from tests.integration.operator.fakes.log_files import make_log_routes
from tests.integration.operator.fakes.pilot_rows import make_pilot_routes
from tests.integration.operator.fakes.rows import Rows
from tests.integration.operator.fakes.work_rows import (
    make_limit_routes,
    make_step_routes,
    make_times_routes,
    make_work_routes,
)

_rows_of_request: ContextVar[Rows] = ContextVar("rows_of_request")


class Neighbours(Rows):
    """``apps`` maps a service's name to its application, for ``ProcessLinks``."""

    @property
    def apps(self) -> dict[str, ASGIApp]:
        return {name: self._answer_with(app) for name, app in _shared_apps().items()}

    def _answer_with(self, app: ASGIApp) -> ASGIApp:
        """Return an application that answers with these rows."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            _rows_of_request.set(self)
            await app(scope, receive, send)

        return answer


@cache
def _shared_apps() -> dict[str, FastAPI]:
    """Return the applications of all tests of this process; FastAPI builds them slowly."""
    rows = cast(Rows, LocalProxy(_rows_of_request))
    routers = {
        "wfms.chains": make_chain_routers(rows),
        "wms": [
            make_work_routes(rows),
            make_step_routes(rows),
            make_limit_routes(rows),
            make_times_routes(rows),
            make_pilot_routes(rows),
        ],
        "dms": [*make_dataset_routers(rows), make_log_routes(rows)],
        "wfms.intake": [make_intake_routes(rows)],
    }
    return {
        name: create_app(
            name, [*map(open_to_all, routes)], health=Health({}), metrics=ServiceMetrics()
        )
        for name, routes in routers.items()
    }
