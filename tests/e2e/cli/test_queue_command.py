"""`sluice queue` shows, requeues and drops dead messages."""

import asyncio
import json

import pytest

from sluice.contracts.messaging.messages import DMS_DELETIONS
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport.base import Message
from sluice.servicekit.transport.open import open_transport
from tests.e2e.commands import run_sluice
from tests.e2e.systems import LiveSystem
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("e2e-command")


async def send_invalid_messages(url: str, *names: str) -> None:
    transport = open_transport(url, sluice_topology())
    async with running(transport):
        await transport.send(
            [Message(name, DMS_DELETIONS, b"no message [at all]") for name in names]
        )


async def wait_for_dead_letters(url: str) -> None:
    transport = open_transport(url, sluice_topology())

    async def has_dead_letters() -> bool:
        return await transport.count_dead(DMS_DELETIONS) == 2 and not await transport.depth(
            DMS_DELETIONS
        )

    async with running(transport):
        await eventually(has_dead_letters, what="two dead messages")


def test_dead_messages_are_shown_requeued_and_dropped(system: LiveSystem) -> None:
    home, transport = ["--home", str(system.home)], system.database_url("transport")
    asyncio.run(send_invalid_messages(transport, "first", "second"))
    asyncio.run(wait_for_dead_letters(transport))

    listed = json.loads(run_sluice("queue", "list", "--json", *home).stdout)
    assert {queue["name"]: queue["dead"] for queue in listed}[DMS_DELETIONS] == 2
    shown = run_sluice("queue", "show", DMS_DELETIONS, "--bodies", *home).stdout
    assert "first" in shown
    assert "not a message as the services send them" in shown
    assert "no message [at all]" in shown

    assert (
        run_sluice("queue", "body", DMS_DELETIONS, "first", *home).stdout == "no message [at all]"
    )
    assert (
        "no dead letter of message 'no'"
        in run_sluice("queue", "body", DMS_DELETIONS, "no", *home, code=1).stderr
    )

    assert "1 put back" in run_sluice("queue", "requeue", DMS_DELETIONS, "first", *home).stdout
    asyncio.run(
        wait_for_dead_letters(transport)
    )  # The message was delivered again, and failed again.
    assert (
        "2 dropped from dms.deletions, 0 dead now"
        in run_sluice("queue", "drop", DMS_DELETIONS, "--all", "--yes", *home).stdout
    )
    assert "no dead message" in run_sluice("queue", "show", DMS_DELETIONS, *home).stdout
    assert (
        "give the ids of messages, or --all"
        in run_sluice("queue", "drop", DMS_DELETIONS, "--yes", *home, code=2).stderr
    )
    assert "no.such" in run_sluice("queue", "show", "no.such", *home, code=1).stderr
