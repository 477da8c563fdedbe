"""`sluice setup broker` creates the virtual host, logins with their rights, and queues."""

import asyncio

import aio_pika
import pytest
from aio_pika.exceptions import ChannelClosed, ProbableAuthenticationError
from typer.testing import CliRunner

from sluice.cli.app import command_line
from sluice.contracts.access.services import SERVICES
from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.contracts.messaging.queues import QUEUES
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport.base import Message
from sluice.setup.broker import set_up_broker
from sluice.setup.logins import ServiceLogin
from stack.ports import free_ports
from tests.integration.setup.broker_logins import Broker, get_login, prepare_logins_for_one_host
from tests.integration.setup.conftest import Logins


@pytest.fixture
def users(logins: Logins) -> list[ServiceLogin]:
    return prepare_logins_for_one_host(logins())


async def test_service_logins_have_only_the_rights_that_they_need(
    broker: Broker, users: list[ServiceLogin]
) -> None:
    assert await set_up_broker(broker.management, users)
    chains, wms = (
        broker.transport(get_login(users, "wfms.chains")),
        broker.transport(get_login(users, "wms")),
    )
    async with running(chains, wms):
        await chains.send([Message("1", "wms.tasks", b"{}")])
        stream = wms.consume("wms.tasks", prefetch=1)
        (delivery,) = await anext(stream)
        await delivery.ack()
        await stream.aclose()
    connection = await aio_pika.connect(broker.url(get_login(users, "wfms.intake")))
    async with connection:
        for queue in ("wms.tasks", "dms.files"):
            channel = await connection.channel()
            with pytest.raises(ChannelClosed, match="ACCESS_REFUSED"):
                await (await channel.get_queue(queue, ensure=False)).get(fail=False)
        channel = await connection.channel()
        with pytest.raises(ChannelClosed, match="ACCESS_REFUSED"):
            await channel.declare_queue("mine")


async def test_repeated_broker_setup_changes_nothing(
    broker: Broker, users: list[ServiceLogin]
) -> None:
    changes = await set_up_broker(broker.management, users)
    assert {f"queues: {queue} made" for queue in QUEUES} <= set(changes)
    before = broker.ask("GET", "definitions")
    assert await set_up_broker(broker.management, users) == []
    assert broker.ask("GET", "definitions") == before


async def test_broker_setup_takes_over_a_new_password_from_the_settings(
    broker: Broker, logins: Logins
) -> None:
    old, new = prepare_logins_for_one_host(logins()), prepare_logins_for_one_host(logins("another"))
    await set_up_broker(broker.management, old)
    changed = [get_login(new, "dms"), *(one for one in old if one.service != "dms")]
    assert await set_up_broker(broker.management, changed) == [
        f"users: {get_login(new, 'dms').user} changed"
    ]
    async with running(broker.transport(get_login(new, "dms"))):
        pass
    with pytest.raises(ProbableAuthenticationError):
        await aio_pika.connect(broker.url(get_login(old, "dms")))


async def test_broker_setup_restores_deleted_queues_and_changed_rights(
    broker: Broker, users: list[ServiceLogin]
) -> None:
    await set_up_broker(broker.management, users)
    vhost, dms = users[0].place, get_login(users, "dms")
    broker.ask("DELETE", f"queues/{vhost}/dms.files.dead")
    broker.ask(
        "PUT", f"permissions/{vhost}/{dms.user}", {"configure": ".*", "write": ".*", "read": ".*"}
    )
    changes = await set_up_broker(broker.management, users)
    assert {f"permissions: {dms.user} changed", "queues: dms.files.dead made"} <= set(changes)
    assert await set_up_broker(broker.management, users) == []


async def test_broker_setup_keeps_waiting_messages(
    broker: Broker, users: list[ServiceLogin]
) -> None:
    await set_up_broker(broker.management, users)
    chains = broker.transport(get_login(users, "wfms.chains"))
    async with running(chains):
        await chains.send([Message("1", "wms.tasks", b"{}")])
        broker.ask("DELETE", f"queues/{users[0].place}/dms.files.dead")
        assert await set_up_broker(broker.management, users)
    wms = broker.transport(get_login(users, "wms"))
    async with running(wms):
        assert await wms.depth("wms.tasks") == 1


async def test_queue_with_other_arguments_is_refused_by_name(
    broker: Broker, users: list[ServiceLogin]
) -> None:
    vhost = users[0].place
    broker.ask("PUT", f"vhosts/{vhost}")
    broker.ask(
        "PUT",
        f"queues/{vhost}/wms.tasks",
        {"durable": True, "arguments": {"x-queue-type": "classic"}},
    )
    with pytest.raises(Conflict, match=r"wms\.tasks in virtual host .* was declared differently"):
        await set_up_broker(broker.management, users)


async def test_wrong_administrator_and_unreachable_broker_are_refused(
    broker: Broker, users: list[ServiceLogin]
) -> None:
    with pytest.raises(NotAvailable, match="rejects the administrator's login"):
        await set_up_broker(broker.management.replace("guest:guest", "guest:wrong"), users)
    (nowhere,) = free_ports(1)
    with pytest.raises(NotAvailable, match="does not answer"):
        await set_up_broker(f"http://guest:guest@127.0.0.1:{nowhere}", users)
    guest = ServiceLogin("dms", "guest", "guest", users[0].place, "SLUICE_DMS_BROKER_URL")
    with pytest.raises(
        Conflict, match="SLUICE_DMS_BROKER_URL: guest is the broker's administrator"
    ):
        await set_up_broker(broker.management, [guest, *users])


async def test_setup_broker_command_reads_the_settings_of_the_services(
    broker: Broker, users: list[ServiceLogin], monkeypatch: pytest.MonkeyPatch
) -> None:
    for service in SERVICES:
        short = service.removeprefix("wfms.")
        monkeypatch.setenv(
            f"SLUICE_{short.upper()}_BROKER_URL", f"amqp://{short}:secret@rabbitmq/{users[0].place}"
        )
    monkeypatch.setenv("SLUICE_SETUP_MANAGEMENT_URL", broker.management)

    async def output() -> str:
        result = await asyncio.to_thread(CliRunner().invoke, command_line(), ["setup", "broker"])
        assert result.exit_code == 0, result.output
        return result.output

    assert "permissions: watcher made" in await output()
    assert "everything is as it has to be" in await output()
