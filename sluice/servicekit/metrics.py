"""Metrics that every service has; each service owns a registry, so that several can live in one process."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class ServiceMetrics:
    """Prometheus metrics of one service, all named ``sluice_*`` with a constant label ``service``."""

    def __init__(self, service: str) -> None:
        self.service = service
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "sluice_http_request_seconds",
            "Time to answer a request.",
            ["method", "route", "status"],
            registry=self.registry,
            buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0),
        )
        self.messages = Counter("sluice_messages_total", "Messages handled.", ["queue", "outcome"], registry=self.registry)
        self.loop_failures = Counter(
            "sluice_loop_failures_total", "Ticks of periodic work that raised.", ["loop"], registry=self.registry
        )
        self.outbox_waiting = Gauge("sluice_outbox_waiting", "Messages committed and not yet sent.", registry=self.registry)
        self.sent = Counter("sluice_messages_sent_total", "Messages sent from the outbox.", registry=self.registry)

    def render(self) -> bytes:
        """The text format that Prometheus scrapes."""
        return generate_latest(self.registry)
