"""Services read gauges from their tables and show them on the page of their metrics."""

from uuid import uuid4

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sluice.contracts.access.services import SERVICES
from sluice.contracts.common.states import TaskState
from sluice.contracts.messaging.messages import DMS_DELETIONS, DeleteDataset
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import OUTBOX_AGE, Gauges, Measurement, Report, read_rows
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.running.service_modules import build_function, settings_class
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory
from tests.waiting import eventually
from wms.metrics import WmsMetrics


def parse_metrics(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return the values of a page of metrics by metric and labels."""
    figures: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            figures.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return figures


@pytest.mark.parametrize("name", SERVICES)
async def test_every_gauge_of_a_service_can_be_read_from_its_tables(
    name: str, make_database: DatabaseFactory
) -> None:
    url = await make_database()
    transport = open_transport(await make_database(), sluice_topology())
    links = ProcessLinks()
    settings = settings_class(name)(database_url=url, broker_url=url)
    service = build_function(name)(settings, links=links, transport=transport)
    links.apps[name] = service.app
    [gauges] = [component for component in service.components if isinstance(component, Gauges)]
    async with running(transport, links, service):

        async def read() -> bool:
            page = parse_metrics((await links.http(name).get("/metrics")).text)
            return page.get("sluice_dependency_up", {}).get((("dependency", "database"),)) == 1

        await eventually(read, what="the first reading")
        await gauges.read()
        page = parse_metrics((await links.http(name).get("/metrics")).text)
    assert page["sluice_loop_failures_total"][("loop", "gauges"),] == 0
    for measurement in gauges.measurements:
        labels = {frozenset(key for key, _ in sample) for sample in page.get(measurement.name, {})}
        assert labels <= {frozenset(measurement.labels)}, measurement.name
        assert labels or measurement.labels, f"{measurement.name} is missing from the page"


async def test_outbox_age_gauge_is_the_waiting_time_of_the_oldest_message(
    database_url: str,
) -> None:
    database, metrics = Database(database_url, source="test"), ServiceMetrics()
    await Migrator(database_url, "wfms.intake.db.migrations").start()
    async with running(database):
        assert (await OUTBOX_AGE.read(database))[0][0] == 0
        async with database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=uuid4()))
        async with database.connection() as connection:
            await connection.execute("UPDATE outbox SET created_at = now() - interval '5 minutes'")
        assert 300 <= float((await OUTBOX_AGE.read(database))[0][0]) < 400
        async with running(Gauges(database, metrics, health=make_health_report("ok"))):

            async def is_shown() -> bool:
                return (
                    parse_metrics(metrics.render().decode())["sluice_outbox_oldest_seconds"][()]
                    >= 300
                )

            await eventually(is_shown, what="the age on the page")


async def test_labels_without_rows_disappear_and_an_unavailable_dependency_is_zero(
    database_url: str,
) -> None:
    database, metrics = Database(database_url, source="test"), ServiceMetrics()
    measurement = Measurement(
        "sluice_test", "For this test.", read_rows("SELECT kind, number FROM things"), ("kind",)
    )
    async with running(database):
        async with database.connection() as connection:
            await connection.execute(
                "CREATE TABLE outbox (created_at timestamptz, sent_at timestamptz)"
            )
            await connection.execute("CREATE TABLE things (kind text, number integer)")
            await connection.execute("INSERT INTO things VALUES ('a', 1), ('b', 2)")
        gauges = Gauges(
            database, metrics, [measurement], health=make_health_report("OSError: no route")
        )
        await gauges.read()
        assert parse_metrics(metrics.render().decode())["sluice_test"] == {
            (("kind", "a"),): 1,
            (("kind", "b"),): 2,
        }
        async with database.connection() as connection:
            await connection.execute("DELETE FROM things WHERE kind = 'a'")
        await gauges.read()
    page = parse_metrics(metrics.render().decode())
    assert page["sluice_test"] == {(("kind", "b"),): 2}
    assert page["sluice_dependency_up"] == {(("dependency", "broker"),): 0}
    assert page["sluice_database_connections_limit"][()] == 8


async def test_connections_in_use_are_counted(database_url: str) -> None:
    database = Database(database_url, source="test")
    async with running(database):
        before = database.connections().used
        async with database.connection():
            assert database.connections().used == before + 1
        assert database.connections().used == before


def make_health_report(answer: str) -> Report:
    async def report() -> dict[str, str]:
        return {"broker": answer}

    return report


def test_counters_of_alerts_start_at_zero() -> None:
    """Prometheus sees no increase if the first value of a counter is 1, so no alert would fire."""
    page = parse_metrics(WmsMetrics().render().decode())
    assert page["sluice_tasks_ended_total"] == {
        (("state", state),): 0 for state in TaskState if state.final
    }
