"""Fake chain service, WMS, DMS and intake: their routes over rows that a test prepares."""

from fastapi import FastAPI

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


class Neighbours(Rows):
    """``apps`` maps a service's name to its application, for ``ProcessLinks``."""

    @property
    def apps(self) -> dict[str, FastAPI]:
        routers = {
            "wfms.chains": make_chain_routers(self),
            "wms": [
                make_work_routes(self),
                make_step_routes(self),
                make_limit_routes(self),
                make_times_routes(self),
                make_pilot_routes(self.pilots),
            ],
            "dms": [*make_dataset_routers(self), make_log_routes(self.storages)],
            "wfms.intake": [make_intake_routes(self)],
        }
        return {
            name: create_app(
                name, [*map(open_to_all, routes)], health=Health({}), metrics=ServiceMetrics()
            )
            for name, routes in routers.items()
        }
