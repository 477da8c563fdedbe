"""The loop that counts waiting messages and dead letters of all queues for ``/metrics``."""

from prometheus_client import Gauge

from sluice.servicekit.messages.queue_admin import QueueAdmin
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop

#: Seconds between two rounds; Prometheus reads about as often.
PERIOD = 15.0


def queue_gauges(desk: QueueAdmin, metrics: ServiceMetrics, *, period: float = PERIOD) -> Loop:
    """Return the loop. While the broker does not answer, the gauges keep their values."""
    waiting = Gauge(
        "sluice_queue_waiting",
        "Messages that wait in the queue.",
        ["queue"],
        registry=metrics.registry,
    )
    dead = Gauge(
        "sluice_queue_dead",
        "Messages nobody could handle, kept for a person.",
        ["queue"],
        registry=metrics.registry,
    )

    async def measure() -> bool:
        for queue in (await desk.queues()).queues:
            waiting.labels(queue.name).set(queue.waiting)
            dead.labels(queue.name).set(queue.dead)
        return False

    return Loop("queues.measure", measure, period=period, metrics=metrics)
