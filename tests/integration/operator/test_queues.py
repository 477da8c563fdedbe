"""Queues and dead letters: REST, client, pages, metrics."""

import re

import pytest

from sluice.contracts.chains.attention import Notice, NoticeSeverity
from sluice.contracts.common.problems import NotAvailable, NotFound, Unprocessable
from sluice.contracts.messaging.messages import DMS_FILES, WMS_TASKS
from sluice.contracts.messaging.queue_status import ChooseMessages, QueueStatus
from sluice.contracts.messaging.queues import QUEUES
from sluice.servicekit.database import Database
from sluice.servicekit.messages.queue_admin import QueueAdmin
from sluice.servicekit.transport.base import Message
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.sluice_command import Command
from tests.waiting import eventually
from wfms.operator.gauges import declare_gauges

LONG = b'{"note": "' + b"<b>" * 3000 + b'"}'


async def kill(operator: Operator, *ids: str, body: bytes = b"{}") -> None:
    """Make the messages dead letters of ``wms.tasks``."""
    await operator.transport.send([Message(message_id, WMS_TASKS, body) for message_id in ids])
    stream = operator.transport.consume(WMS_TASKS, prefetch=len(ids))
    left = len(ids)
    async for batch in stream:
        for delivery in batch:
            await delivery.reject(f"{delivery.message_id} is <no> task")
        left -= len(batch)
        if not left:
            break
    await stream.aclose()


async def test_every_queue_is_listed_with_waiting_and_dead_messages(operator: Operator) -> None:
    await operator.transport.send([Message("a", DMS_FILES, b"{}"), Message("b", DMS_FILES, b"{}")])
    await kill(operator, "x")
    queues = {queue.name: queue for queue in (await operator.client.list_queues()).queues}
    assert queues.keys() == QUEUES.keys()
    assert queues[DMS_FILES] == QueueStatus(name=DMS_FILES, consumer="dms", waiting=2, dead=0)
    assert queues[WMS_TASKS] == QueueStatus(name=WMS_TASKS, consumer="wms", waiting=0, dead=1)


async def test_dead_message_is_shown_with_its_reason_and_its_beginning(
    operator: Operator,
) -> None:
    await kill(operator, "x", "y", body=LONG)
    messages = await operator.client.list_dead_messages(WMS_TASKS, limit=1)
    assert (messages.dead, len(messages.messages)) == (2, 1)
    [message] = messages.messages
    assert (message.id, message.reason, message.size) == ("x", "x is <no> task", len(LONG))
    assert message.body == LONG[:4000].decode() + "…"
    assert message.died_at is not None


async def test_full_body_of_a_long_dead_message_can_be_downloaded(
    operator: Operator, sluice: Command
) -> None:
    await kill(operator, "long", body=LONG)
    await kill(operator, "short", body=b"{}")
    page = (await operator.http.get(f"/queues/{WMS_TASKS}")).text
    assert f"first 4\u202f000 of {len(LONG):_} bytes".replace("_", "\u202f") in page
    assert page.count("Download all of it") == 1
    [address] = re.findall(r'<a href="(/api[^"]+)" download', page)
    whole = await operator.http.get(address)
    assert (whole.content, whole.headers["content-type"]) == (LONG, "application/octet-stream")
    assert whole.headers["x-content-type-options"] == "nosniff"
    shown = await sluice("queue", "show", WMS_TASKS, "--bodies")
    assert (
        f"the first 4000 of its {len(LONG)} bytes; all: sluice queue body wms.tasks long" in shown
    )
    assert "queue body wms.tasks short" not in shown
    with pytest.raises(NotFound, match="message 'gone'"):
        await operator.client.get_dead_body(WMS_TASKS, "gone")


async def test_dead_messages_need_attention_until_they_are_gone(operator: Operator) -> None:
    await kill(operator, "x", "y")
    notices: list[Notice] = []

    async def is_told() -> bool:
        """A measurement of the loop that began earlier may end after this one."""
        await operator.client.list_queues()  # The loop also calls this, and the numbers are cached.
        notices[:] = [
            shown
            for shown in (await operator.client.list_notices()).notices
            if shown.page == "queues"
        ]
        return bool(notices)

    await eventually(is_told, what="the notice")
    [notice] = notices
    assert "Queue wms.tasks has 2 dead messages" in notice.text
    assert (notice.severity, notice.id) == (NoticeSeverity.ERROR, None)
    page = (await operator.http.get("/")).text
    assert notice.text in page
    assert '<a href="/queues">Show<span class="hidden"> them' in page
    await operator.client.requeue(WMS_TASKS, ChooseMessages(ids="all"))

    async def is_gone() -> bool:
        await operator.client.list_queues()
        return "dead message" not in (await operator.http.get("/")).text

    await eventually(is_gone, what="the end of the notice")


async def test_dead_messages_are_requeued_or_dropped(operator: Operator) -> None:
    await kill(operator, "a", "b", "c", "d")
    moved = await operator.client.requeue(WMS_TASKS, ChooseMessages(ids=["b", "never was"]))
    assert (moved.moved, moved.dead) == (1, 3)
    assert (await operator.client.drop(WMS_TASKS, ChooseMessages(ids=["a"]))).dead == 2
    assert (await operator.client.requeue(WMS_TASKS, ChooseMessages(ids="all"))).moved == 2
    assert await operator.transport.depth(WMS_TASKS) == 3
    assert (await operator.client.drop(WMS_TASKS, ChooseMessages(ids="all"))).moved == 0


async def test_unknown_queue_message_or_choice_is_refused(operator: Operator) -> None:
    await kill(operator, "a")
    with pytest.raises(NotFound, match=r"no queue 'wms\.task'; there are wms\.tasks"):
        await operator.client.list_dead_messages("wms.task")
    with pytest.raises(NotFound, match="message 'z'"):
        await operator.client.drop(WMS_TASKS, ChooseMessages(ids=["z"]))
    for body in ("{}", '{"ids": null}', '{"ids": "a"}', '{"ids": ["a"], "all": true}'):
        answer = await operator.http.post(f"/api/v1/queues/{WMS_TASKS}/drop", content=body)
        assert answer.status_code == Unprocessable.status, body
    assert (await operator.client.drop(WMS_TASKS, ChooseMessages(ids=[]))).moved == 0
    assert await operator.transport.count_dead(WMS_TASKS) == 1


async def test_unreachable_broker_is_reported(operator: Operator) -> None:
    await operator.transport.stop()
    with pytest.raises(NotAvailable, match="broker"):
        await operator.client.list_queues()
    assert (await operator.http.get("/queues")).status_code == 503
    assert (await operator.http.get("/templates")).status_code == 200


async def test_pages_requeue_and_drop_dead_messages(operator: Operator) -> None:
    await kill(operator, "a", "b", "c", "d")
    assert re.search(r'state failed">4<', (await operator.http.get("/queues")).text)
    page = await operator.http.get(f"/queues/{WMS_TASKS}")
    assert "a is &lt;no&gt; task" in page.text
    form = {"csrf_token": read_token(page)}
    for action, choice, dead, message in (
        ("requeue", {"id": "a"}, 3, "1 message put back"),
        ("requeue", {"id": "a"}, 3, "Nothing was put back"),
        ("drop", {"id": "b"}, 2, "1 message dropped"),
        ("drop", {}, 2, "Nothing was chosen"),
        ("requeue", {"all": "yes"}, 0, "2 messages put back"),
    ):
        answer = await operator.http.post(f"/queues/{WMS_TASKS}/{action}", data=form | choice)
        assert answer.status_code == 303
        assert message in (await operator.http.get(f"/queues/{WMS_TASKS}")).text
        assert await operator.transport.count_dead(WMS_TASKS) == dead
    assert "No dead message" in (await operator.http.get(f"/queues/{WMS_TASKS}")).text
    assert (
        await operator.http.post(f"/queues/{WMS_TASKS}/drop", data={"all": "yes"})
    ).status_code == 403
    assert (await operator.http.get("/queues/nowhere")).status_code == 404


async def test_metrics_have_the_waiting_and_dead_messages_of_queues(operator: Operator) -> None:
    await kill(operator, "a")
    await operator.transport.send([Message("b", DMS_FILES, b"{}")])
    waiting, dead = declare_gauges(QueueAdmin(operator.transport))
    unused = Database(operator.database_url, source="test")

    async def has_figures() -> bool:
        messages = {tuple(row) for row in await waiting.read(unused)}
        letters = {tuple(row) for row in await dead.read(unused)}
        return (DMS_FILES, 1) in messages and {(WMS_TASKS, 1), (DMS_FILES, 0)} <= letters

    await eventually(has_figures, what="the queues' metrics")
    assert "sluice_queue_dead" in (await operator.http.get("/metrics")).text
