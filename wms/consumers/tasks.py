"""Consumers of new tasks, numbers of downstream tasks, and closed data sets.

Queue ``wms.tasks`` has new tasks from the WfMS. Queue ``wms.downstream-counts`` has the numbers of
tasks that read the inputs of a task. Queue ``wms.wake`` has data sets that were closed.
"""

from collections.abc import Callable
from functools import partial

from sluice.contracts.messaging.messages import WMS_DOWNSTREAM_COUNTS, WMS_TASKS
from sluice.contracts.messaging.queues import WMS_WAKE
from sluice.servicekit.messages.consumer import QueueConsumer, WakeConsumer
from sluice.servicekit.transport.base import Transport
from wms.usecases.context import WmsContext
from wms.usecases.tasks.accept_downstream_counts import accept_downstream_counts
from wms.usecases.tasks.accept_task import accept_task


def task_consumers(
    context: WmsContext, transport: Transport, *, on_applied: Callable[[], None]
) -> list[QueueConsumer]:
    """Return the consumers of tasks and of numbers of downstream tasks.

    ``on_applied`` is called after new tasks.
    """
    consumer = partial(
        QueueConsumer, transport=transport, database=context.database, metrics=context.metrics
    )
    return [
        consumer(queue=WMS_TASKS, handlers={WMS_TASKS: accept_task}, on_applied=on_applied),
        consumer(
            queue=WMS_DOWNSTREAM_COUNTS, handlers={WMS_DOWNSTREAM_COUNTS: accept_downstream_counts}
        ),
    ]


def wake_consumer(
    context: WmsContext, transport: Transport, *, wake: Callable[[], None]
) -> WakeConsumer:
    """Return the consumer that wakes the splitting when a data set was closed."""
    return WakeConsumer(transport=transport, metrics=context.metrics, queue=WMS_WAKE, wake=wake)
