"""Pauses in leasing after jobs for which the node's disk had no space."""

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.pilots.reports import AttemptReport
from sluice.scheduling.backoff import pause_after

#: Seconds of the first pause and of the longest. Each further failure doubles the pause.
FIRST_PAUSE, MAX_PAUSE = 5.0, 300.0


class DiskPauses:
    """Pauses after jobs for which the node's disk had no space.

    A full storage causes no pause.
    """

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0

    @property
    def is_persistent(self) -> bool:
        """Return whether a job has found no space and no job has succeeded since."""
        return self._failures > 0

    def attempt_ended(self, report: AttemptReport, boot_time: float) -> None:
        """Start a pause if the attempt found no space.

        Several failures at the same time count as one.
        """
        if report.outcome is AttemptOutcome.FINISHED:
            self._failures, self._until = 0, 0.0
        elif report.error_class is ErrorClass.NO_SPACE and report.no_space is None:
            if boot_time >= self._until:
                self._failures += 1
            self._until = boot_time + pause_after(
                self._failures, first=FIRST_PAUSE, max_pause=MAX_PAUSE
            )

    def limit_jobs(self, requested_count: int, boot_time: float) -> int:
        """Return how many of the ``requested_count`` jobs the pilot should take.

        Returns:
            0 during a pause, 1 after a pause as a trial, and otherwise ``requested_count``.
        """
        if boot_time < self._until:
            return 0
        return min(requested_count, 1) if self.is_persistent else requested_count
