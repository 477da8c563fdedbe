"""Gauges of the state of a service for dashboards and alerts, read from its tables periodically."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import Gauge

from sluice.servicekit.database import Database
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop

#: Seconds between two readings. Prometheus scrapes about as often.
PERIOD = 15.0

#: Returns what the service needs → "ok" or the reason for the failure (``http.Health.report``).
Report = Callable[[], Awaitable[dict[str, str]]]
#: One row for each set of labels: the values of the labels, then the number.
Rows = Sequence[Sequence[Any]]

OLDEST_OUTBOX = """
SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0) FROM outbox WHERE sent_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One gauge and the source of its numbers. Labels that a reading omits disappear."""

    name: str
    meaning: str
    read: Callable[[Database], Awaitable[Rows]]
    labels: tuple[str, ...] = ()


def read_rows(statement: str) -> Callable[[Database], Awaitable[Rows]]:
    """Return a reader of a statement whose columns are the labels and then the number."""

    async def read(database: Database) -> Rows:
        async with database.connection() as connection:
            return [tuple(row) for row in await connection.fetch(statement)]

    return read


OUTBOX_AGE = Measurement(
    "sluice_outbox_oldest_seconds",
    "Age of the oldest message in the outbox, or 0.",
    read_rows(OLDEST_OUTBOX),
)


class Gauges:
    """Component that updates the gauges of a service.

    Several instances of a service report the same numbers of their common tables: use the maximum,
    not the sum.
    """

    def __init__(
        self,
        database: Database,
        metrics: ServiceMetrics,
        measurements: Sequence[Measurement] = (),
        *,
        health: Report,
        period: float = PERIOD,
    ) -> None:
        self.metrics = metrics
        self._database = database
        self._health = health
        registry = metrics.registry
        self._dependencies = Gauge(
            "sluice_dependency_up",
            "1 if the dependency answers, else 0.",
            ["dependency"],
            registry=registry,
        )
        self.measurements = (OUTBOX_AGE, *measurements)
        self._gauges = {
            measurement.name: Gauge(
                measurement.name, measurement.meaning, measurement.labels, registry=registry
            )
            for measurement in self.measurements
        }
        used = Gauge(
            "sluice_database_connections_used",
            "Connections to the database in use.",
            registry=registry,
        )
        used.set_function(lambda: database.connections().used)
        limit = Gauge(
            "sluice_database_connections_limit",
            "The maximum number of connections to the database.",
            registry=registry,
        )
        limit.set_function(lambda: database.connections().limit)
        self._loop = Loop("gauges", self._tick, period=period, metrics=metrics)

    async def start(self) -> None:
        """Start the loop."""
        await self._loop.start()

    async def stop(self) -> None:
        """Stop the loop."""
        await self._loop.stop()

    async def read(self) -> None:
        """Read all measurements once."""
        for name, answer in (await self._health()).items():
            self._dependencies.labels(name).set(answer == "ok")
        for measurement in self.measurements:
            _update_gauge(
                self._gauges[measurement.name],
                measurement.labels,
                await measurement.read(self._database),
            )

    async def _tick(self) -> bool:
        await self.read()
        return False


def _update_gauge(gauge: Gauge, labels: tuple[str, ...], rows: Rows) -> None:
    if not labels:
        gauge.set(float(rows[0][-1]))
        return
    gauge.clear()
    for row in rows:
        gauge.labels(*row[:-1]).set(float(row[-1]))
