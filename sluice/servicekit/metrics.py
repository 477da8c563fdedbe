"""Metrics that every service has. Each service has a registry, so one process can run several."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class ServiceMetrics:
    """Prometheus metrics of one service, all named ``sluice_*``.

    The metrics do not name the service; the address that they are read from does.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "sluice_http_request_seconds",
            "Time to answer a request.",
            ["method", "route", "status"],
            registry=self.registry,
            buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0),
        )
        self.refused_requests = Counter(
            "sluice_http_refused_total",
            "Requests and connections refused before the service saw them.",
            ["status"],
            registry=self.registry,
        )
        self.messages = Counter(
            "sluice_messages_total",
            "Messages processed.",
            ["queue", "outcome"],
            registry=self.registry,
        )
        self.consumer_failures = Counter(
            "sluice_consumer_failures_total",
            "Failures of the consumer of a queue, after which it started again.",
            ["queue"],
            registry=self.registry,
        )
        self.loop_failures = Counter(
            "sluice_loop_failures_total",
            "Failed rounds of a loop.",
            ["loop"],
            registry=self.registry,
        )
        self.outbox_waiting = Gauge(
            "sluice_outbox_waiting", "Messages in the outbox.", registry=self.registry
        )
        self.sent_messages = Counter(
            "sluice_messages_sent_total", "Messages sent from the outbox.", registry=self.registry
        )

    def render(self) -> bytes:
        """Return the metrics in the text format that Prometheus scrapes."""
        return generate_latest(self.registry)
