"""Queue ``wms.tasks``: new tasks from the WfMS; queue ``wms.readers``: how many tasks read what
they read; queue ``wms.wake``: data sets that were closed."""

from collections.abc import Callable

from sluice.contracts.messages import WMS_READERS, WMS_TASKS, WMS_WAKE, InputReaders
from sluice.contracts.tasks import Task
from sluice.servicekit.consumer import QueueConsumer, WakeConsumer
from sluice.servicekit.database import Transaction
from sluice.servicekit.transport.base import Transport
from wms.usecases.accept_task import accept_readers, accept_task
from wms.usecases.context import WmsContext


def task_consumers(
    context: WmsContext, transport: Transport, *, on_applied: Callable[[], None]
) -> list[QueueConsumer]:
    """``on_applied``: as of a consumer, after new tasks."""
    return [
        _task_consumer(context, transport, on_applied=on_applied),
        _readers_consumer(context, transport),
    ]


def _task_consumer(
    context: WmsContext, transport: Transport, *, on_applied: Callable[[], None]
) -> QueueConsumer:
    async def handle(transaction: Transaction, task: Task) -> None:
        await accept_task(transaction, task)

    return QueueConsumer(
        transport=transport,
        database=context.database,
        metrics=context.metrics,
        queue=WMS_TASKS,
        handlers={WMS_TASKS: handle},
        on_applied=on_applied,
    )


def _readers_consumer(context: WmsContext, transport: Transport) -> QueueConsumer:
    async def handle(transaction: Transaction, told: InputReaders) -> None:
        await accept_readers(transaction, told)

    return QueueConsumer(
        transport=transport,
        database=context.database,
        metrics=context.metrics,
        queue=WMS_READERS,
        handlers={WMS_READERS: handle},
    )


def wake_consumer(
    context: WmsContext, transport: Transport, *, wake: Callable[[], None]
) -> WakeConsumer:
    return WakeConsumer(transport=transport, metrics=context.metrics, queue=WMS_WAKE, wake=wake)
