"""The report of a run: faults, recoveries, the longest stall, and findings of the checker."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sluice.contracts.common.states import AttemptOutcome
from tests.faults.checker.checks import Finding
from tests.faults.checker.snapshot import Row, Snapshot
from tests.faults.injector import InjectedFault
from tests.faults.progress import Progress


@dataclass(frozen=True, slots=True)
class Report:
    """Seconds are those of the work and of coming to rest.

    ``recoveries`` are seconds from each fault to the next progress; None means that the work was
    over. ``outcomes`` and ``errors`` count attempts, ``failures`` are the messages of failed
    attempts, ``duplicates`` the outcomes of duplicate attempts, ``jobs_of_sites`` finished
    attempts by site. ``restarts`` maps processes to starts and exits.
    """

    seed: int
    injected: Sequence[InjectedFault]
    recoveries: Sequence[float | None]
    stall: tuple[float, float]
    work_seconds: float
    rest_seconds: float
    jobs: int
    feeder_repeats: int
    outcomes: Mapping[str, int]
    errors: Mapping[str, int]
    failures: Sequence[str]
    duplicates: Mapping[str, int]
    jobs_of_sites: Mapping[str, int]
    restarts: Mapping[str, Any]
    findings: Sequence[Finding]

    @property
    def list_failed_faults(self) -> list[InjectedFault]:
        """Return the faults that were not possible or that went wrong."""
        return [one for one in self.injected if one.failed]

    @property
    def is_good(self) -> bool:
        return not self.findings and not self.list_failed_faults

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=2, default=str) + "\n")

    def format_lines(self) -> list[str]:
        kinds = Counter(one.fault.kind.value for one in self.injected if not one.failed)
        recovery_times = [seconds for seconds in self.recoveries if seconds is not None]
        at, stall = self.stall
        return [
            (
                f"seed {self.seed}: {len(self.injected)} faults, {self.jobs} jobs,"
                f" {self.work_seconds:.0f} s of work"
            ),
            *(
                self._format_fault(one, recovery)
                for one, recovery in zip(self.injected, self.recoveries, strict=True)
            ),
            "kinds: " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())),
            "attempts: "
            + ", ".join(f"{outcome} {count}" for outcome, count in sorted(self.outcomes.items())),
            "errors: "
            + ", ".join(f"{error} {count}" for error, count in sorted(self.errors.items())),
            *(f"  failed: {message}" for message in self.failures),
            "duplicate attempts: "
            + (
                ", ".join(f"{end} {count}" for end, count in sorted(self.duplicates.items()))
                or "none"
            ),
            "finished by pilots of sites: "
            + (
                ", ".join(f"{name} {count}" for name, count in self.jobs_of_sites.items()) or "none"
            ),
            (
                "next progress after a fault:"
                f" median {_compute_median(recovery_times):.2f} s, longest"
                f" {max(recovery_times, default=0.0):.2f} s"
            ),
            f"longest stall: {stall:.2f} s, from {at:.1f} s on",
            (
                f"at rest {self.rest_seconds:.0f} s after the last chain had ended; the feeder"
                f" repeated {self.feeder_repeats} calls"
            ),
            *(
                f"FAILED: {one.fault.kind} at {one.fault.target}: {one.failed}"
                for one in self.list_failed_faults
            ),
            *(f"FOUND: {finding.check}: {finding.what}" for finding in self.findings),
            f"seed {self.seed}: "
            + ("nothing lost, nothing twice" if self.is_good else f"{len(self.findings)} findings"),
        ]

    @staticmethod
    def _format_fault(one: InjectedFault, recovery: float | None) -> str:
        after = "the work was over" if recovery is None else f"progress after {recovery:.2f} s"
        return (
            f"  {one.began:7.2f} to {one.ended:7.2f} s  {one.fault.kind:<26}"
            f" {one.what or one.failed}; {after}"
        )


def compute_recoveries(injected: Sequence[InjectedFault], progress: Progress) -> list[float | None]:
    return [progress.find_next_change(one.began) for one in injected]


def count_duplicates(attempts: Sequence[Row]) -> Counter[str]:
    """Count the outcomes of duplicate attempts."""
    by_job: dict[int, list[Row]] = defaultdict(list)
    for row in attempts:
        by_job[row["job_id"]].append(row)
    return Counter(
        row["outcome"]
        for rows in by_job.values()
        for row in rows
        if any(
            other["attempt"] < row["attempt"] and other["ended_at"] > row["leased_at"]
            for other in rows
        )
    )


def count_jobs_of_sites(state: Snapshot) -> Counter[str]:
    names = {row["uid"]: row["name"] for row in state.rows("wms", "sites")}
    sites = {row["uid"]: row["site"] for row in state.rows("wms", "pilots") if row["site"]}
    return Counter(
        names[sites[row["pilot"]]]
        for row in state.rows("wms", "attempts")
        if row["pilot"] in sites and row["outcome"] == AttemptOutcome.FINISHED
    )


def _compute_median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0
