"""A service that starts before the setup waits for its login, database, rights and queues."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from sluice.setup.broker import set_up_broker
from sluice.setup.databases import set_up_databases
from tests.integration.servicekit.process import MODULE, ServiceProcess
from tests.integration.setup.broker_logins import Broker, get_login, prepare_logins_for_one_host
from tests.integration.setup.conftest import Logins
from tests.servers.network_postgres import NetworkPostgres


@pytest.fixture
async def processes() -> AsyncIterator[list[ServiceProcess]]:
    started: list[ServiceProcess] = []
    yield started
    for process in started:
        await process.clean_up()


async def test_services_wait_for_the_setup_and_are_ready_after_it(
    broker: Broker,
    postgres: NetworkPostgres,
    logins: Logins,
    processes: list[ServiceProcess],
    tmp_path: Path,
) -> None:
    owners, users = logins(), prepare_logins_for_one_host(logins())
    for service in ("wms", "wfms.chains"):
        owner, short = get_login(owners, service), service.removeprefix("wfms.").upper()
        user, password, name = (
            httpx.URL(path=part).raw_path.decode()
            for part in (owner.user, owner.password, owner.place)
        )
        settings = {
            f"SLUICE_{short}_DATABASE_URL": postgres.url(user, password.replace(":", "%3A"), name),
            f"SLUICE_{short}_BROKER_URL": broker.url(get_login(users, service)),
            "SLUICE_DECLARE_QUEUES": "false",
        }
        folder = tmp_path / short
        folder.mkdir()
        processes.append(ServiceProcess([*MODULE, service], folder, settings))
    for process in processes:
        await process.answers()
        await process.waits_for("transport", "ACCESS_REFUSED", "uthentication")
    vhost = users[0].place
    broker.ask("PUT", f"vhosts/{vhost}")
    for one in users:
        broker.ask("PUT", f"users/{one.user}", {"password": one.password, "tags": ""})
        broker.ask(
            "PUT",
            f"permissions/{vhost}/{one.user}",
            {"configure": "^$", "write": ".*", "read": ".*"},
        )
    for process in processes:
        await process.waits_for("transport", "NOT_FOUND", "no queue", "no exchange", "declared")
    await set_up_broker(broker.management, users)
    for process in processes:
        await process.waits_for("database", "password authentication failed")
    await set_up_databases(postgres.admin_url, owners)
    for process in processes:
        await process.is_ready()
        assert await process.stop() == 0
