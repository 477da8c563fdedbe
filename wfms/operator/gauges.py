"""The gauges of the operator service."""

from collections.abc import Callable

from sluice.contracts.messaging.queue_status import QueueStatus
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Measurement, Rows
from sluice.servicekit.messages.queue_admin import QueueAdmin


def declare_gauges(queues: QueueAdmin) -> list[Measurement]:
    """Return the declarations of the gauges, which keep their values while the broker is down."""

    def measure(name: str, meaning: str, number: Callable[[QueueStatus], int]) -> Measurement:
        async def read(_: Database) -> Rows:
            return [(queue.name, number(queue)) for queue in (await queues.queues()).queues]

        return Measurement(name, meaning, read, ("queue",))

    return [
        measure(
            "sluice_queue_waiting",
            "Messages that wait in the queue.",
            lambda queue: queue.waiting,
        ),
        measure(
            "sluice_queue_dead",
            "Dead letters of the queue.",
            lambda queue: queue.dead,
        ),
    ]
