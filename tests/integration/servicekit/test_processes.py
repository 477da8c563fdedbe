"""Service processes start before their dependencies and stop at any moment."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import UUID

import pytest
from pydantic import TypeAdapter

from sluice.contracts.common.problems import Problem
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot
from stack.ports import free_ports
from tests.conftest import DatabaseFactory
from tests.integration.servicekit.process import COMMAND, MODULE, ServiceProcess
from tests.servers.forwarder import Forwarder
from tests.servers.network_postgres import NetworkPostgres, make_network_postgres
from tests.servers.rabbitmq import RabbitServer
from tests.waiting import eventually

NOWHERE = "postgresql://nobody:nothing@127.0.0.1:1/nothing"

Start = Callable[..., ServiceProcess]


@pytest.fixture
async def postgres() -> AsyncIterator[NetworkPostgres]:
    server = await asyncio.to_thread(make_network_postgres)
    yield server
    await server.remove()


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Return a function that starts a command, with settings such as ``database_url=…``."""
    processes: list[ServiceProcess] = []

    def begin(command: list[str], **settings: str) -> ServiceProcess:
        prefix = f"SLUICE_{command[-1].removeprefix('wfms.').upper()}_"
        folder = tmp_path / str(len(processes))
        folder.mkdir()
        process = ServiceProcess(
            command, folder, {f"{prefix}{name.upper()}": value for name, value in settings.items()}
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        await process.clean_up()


@pytest.mark.parametrize(
    "command", [[*MODULE, "wms"], [*COMMAND, "wms"]], ids=["module", "command"]
)
async def test_service_starts_before_its_broker_and_database_and_reports_the_wait(
    start: Start, command: list[str], postgres: NetworkPostgres, rabbitmq_server: RabbitServer
) -> None:
    (broker_port,) = free_ports(1)
    vhost = f"late-{broker_port}"
    process = start(
        command,
        database_url=postgres.url("late", "secret", "late"),
        broker_url=f"amqp://guest:guest@127.0.0.1:{broker_port}/{vhost}",
    )
    await process.answers()
    await process.waits_for("transport", "refused")
    answer = await process.http.get("/api/v1/tasks")
    assert answer.status_code == 503
    assert "waits for: transport" in TypeAdapter(Problem).validate_json(answer.content).detail
    for host, status in (("evil.example", 421), ("127.0.0.1", 200), ("localhost", 200)):
        assert (await process.http.get("/healthz", headers={"host": host})).status_code == status

    forwarder = Forwarder(port=broker_port, target=rabbitmq_server.amqp_port)
    await forwarder.open()
    try:
        await process.waits_for("transport", vhost, "OpenOk")
        rabbitmq_server.add_vhost(vhost)
        await process.waits_for("database", "refused", "reset")
        await postgres.start()
        await process.waits_for("database", "password authentication failed")
        await postgres.execute("CREATE ROLE late LOGIN PASSWORD 'secret'")
        reason = await process.waits_for("database", 'database "late" does not exist')
        assert "secret" not in reason
        await postgres.execute("CREATE DATABASE late OWNER late")
        assert await process.is_ready() == {"database": "ok", "transport": "ok"}
        assert (await process.http.get("/api/v1/tasks")).json() == {"tasks": []}
        assert (
            'sluice_http_refused_total{status="421"} 1.0'
            in (await process.http.get("/metrics")).text
        )

        await postgres.stop()
        await process.waits_for("database", "refused", "Error")
        assert (await process.http.get("/api/v1/tasks")).status_code == 503
        await postgres.start()
        await process.is_ready()
        assert await process.stop() == 0
    finally:
        await forwarder.close()
    rabbitmq_server.delete_vhost(vhost)
    lines = [json.loads(line) for line in process.log.read_text().splitlines()]
    waits = [(line["what"], line["reason"]) for line in lines if line["event"] == "service.waiting"]
    assert len(waits) == len(set(waits)) >= 4, "a reason was logged twice"
    assert "secret" not in process.log.read_text()


async def test_service_stops_at_once_while_it_waits_for_its_broker(start: Start) -> None:
    process = start([*MODULE, "wfms.chains"], database_url=NOWHERE, broker_url=NOWHERE)
    await process.answers()
    await process.waits_for("transport", "refused")
    assert await process.stop() == 0
    assert "service.stopped" in process.log.read_text()


@pytest.mark.parametrize("service", ["dms", "wfms.operator", "wfms.intake", "wfms.watcher"])
async def test_every_service_starts_and_stops_as_a_process(
    start: Start, make_database: DatabaseFactory, service: str
) -> None:
    process = start(
        [*MODULE, service], database_url=await make_database(), broker_url=await make_database()
    )
    await process.answers()
    assert set((await process.is_ready()).values()) == {"ok"}
    assert await process.stop() == 0


async def test_instances_that_start_together_create_the_database_once(
    start: Start, make_database: DatabaseFactory
) -> None:
    database, broker = await make_database(), await make_database()
    processes = [
        start([*MODULE, "wfms.chains"], database_url=database, broker_url=broker) for _ in range(3)
    ]
    for process in processes:
        await process.answers()
        await process.is_ready()
    assert [await process.stop() for process in processes] == [0, 0, 0]
    logs = "".join(process.log.read_text() for process in processes)
    assert logs.count('"database.made"') + logs.count('"database.migrated"') == 1
    assert "Traceback" not in logs


async def test_waiting_lease_request_is_answered_when_the_process_stops(
    start: Start, make_database: DatabaseFactory
) -> None:
    """Otherwise the server would wait until its own time limit and then cut the request off."""
    process = start(
        [*MODULE, "wms"],
        database_url=await make_database(),
        broker_url=await make_database(),
        poll_period="3600",
    )
    await process.answers()
    await process.is_ready()
    uid = UUID(int=1)
    resources = NodeResources(cores=1, ram=1000, disk=1000)
    pilot = RegisterPilot(uid=uid, name="p", host="h", slots=1, version="1", resources=resources)
    registered = await process.http.post("/api/v1/pilots", json=pilot.model_dump(mode="json"))
    assert registered.status_code == 200, registered.text
    before = (await process.http.get("/api/v1/pilots")).json()["pilots"][0]
    poll = asyncio.create_task(
        process.http.post(f"/api/v1/pilots/{uid}/lease", json={"jobs": 1, "wait": 50})
    )

    async def is_seen() -> bool:
        return bool((await process.http.get("/api/v1/pilots")).json()["pilots"][0] != before)

    await eventually(is_seen, what="the request for work has arrived")
    process.process.send_signal(signal.SIGTERM)
    answer = await poll
    assert (answer.status_code, answer.json()["jobs"]) == (200, [])
    assert await process.ended() == 0
    assert "exceeded" not in process.log.read_text()


async def test_wrong_settings_end_the_process_with_a_plain_message(start: Start) -> None:
    process = start([*COMMAND, "intake"], broker_url=NOWHERE, page="many")
    assert await process.ended() == 2
    log = process.log.read_text()
    assert "SLUICE_INTAKE_DATABASE_URL is not set" in log
    assert "SLUICE_INTAKE_PAGE (in the environment): Input should be a valid integer" in log
    assert "Traceback" not in log


async def test_port_in_use_ends_the_process(start: Start) -> None:
    first = start([*MODULE, "dms"], database_url=NOWHERE, broker_url=NOWHERE)
    await first.answers()
    second = ServiceProcess(
        [*MODULE, "wfms.intake"],
        first.folder,
        {
            "SLUICE_INTAKE_DATABASE_URL": NOWHERE,
            "SLUICE_INTAKE_BROKER_URL": NOWHERE,
        },
        port=first.port,
    )
    assert await second.ended() == 1
    assert f"cannot listen on 127.0.0.1:{first.port}" in second.log.read_text()
    await second.clean_up()
