"""Fake chain service, WMS, DMS and intake: their routes over rows that a test prepares."""

from fastapi import FastAPI

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all
from tests.integration.operator.fakes.chain_rows import chain_routers
from tests.integration.operator.fakes.dataset_rows import dataset_routers
from tests.integration.operator.fakes.intake_rows import intake_routes
from tests.integration.operator.fakes.log_files import log_routes
from tests.integration.operator.fakes.pilot_rows import pilot_routes
from tests.integration.operator.fakes.rows import Rows
from tests.integration.operator.fakes.work_rows import (
    limit_routes,
    step_routes,
    times_routes,
    work_routes,
)


class Neighbours(Rows):
    """``apps`` maps a service's name to its application, for ``ProcessLinks``."""

    @property
    def apps(self) -> dict[str, FastAPI]:
        routers = {
            "wfms.chains": chain_routers(self),
            "wms": [
                work_routes(self),
                step_routes(self),
                limit_routes(self),
                times_routes(self),
                pilot_routes(self.pilots),
            ],
            "dms": [*dataset_routers(self), log_routes(self.storages)],
            "wfms.intake": [intake_routes(self)],
        }
        return {
            name: create_app(
                name, [*map(open_to_all, routes)], health=Health({}), metrics=ServiceMetrics()
            )
            for name, routes in routers.items()
        }
