"""Metrics of the WMS in addition to those of every service."""

from prometheus_client import Counter, Histogram

from sluice.contracts.common.states import TaskState
from sluice.servicekit.metrics import ServiceMetrics


class WmsMetrics(ServiceMetrics):
    """The metrics of the WMS."""

    def __init__(self) -> None:
        super().__init__()
        self.leased = Counter(
            "sluice_jobs_leased_total", "Jobs leased to pilots.", registry=self.registry
        )
        self.attempts = Counter(
            "sluice_attempts_total", "Ended attempts.", ["outcome", "error"], registry=self.registry
        )
        self.stale = Counter(
            "sluice_reports_stale_total",
            "Reports of attempts that are no longer the current ones of their jobs.",
            registry=self.registry,
        )
        self.duplicate_attempts = Counter(
            "sluice_duplicate_attempts_total",
            "Duplicate attempts of stragglers.",
            registry=self.registry,
        )
        self.expired = Counter(
            "sluice_leases_expired_total", "Expired leases.", registry=self.registry
        )
        self.tasks_ended = Counter(
            "sluice_tasks_ended_total", "Ended tasks.", ["state"], registry=self.registry
        )
        for state in TaskState:
            if state.final:
                # Start at 0: Prometheus would not see a first value of 1 as an increase.
                self.tasks_ended.labels(state)
        self.lease_seconds = Histogram(
            "sluice_lease_seconds",
            "Time to answer a request for jobs.",
            registry=self.registry,
            buckets=(0.002, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0, 60.0),
        )
