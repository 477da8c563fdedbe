"""Closes data sets as soon as they are complete."""

from functools import partial

from dms.settings import DmsSettings
from dms.usecases.close_dataset import close_complete
from sluice.servicekit.database import Database
from sluice.servicekit.loop import Loop
from sluice.servicekit.metrics import ServiceMetrics


def closer(database: Database, settings: DmsSettings, metrics: ServiceMetrics) -> Loop:
    return Loop("dms.closer", partial(close_complete, database), period=settings.poll_seconds, metrics=metrics)
