"""How long a pilot takes no jobs since its own disk had no room for the last ones."""

from sluice.backoff import pause_after
from sluice.contracts.pilots import AttemptReport
from sluice.contracts.states import AttemptOutcome, ErrorClass

#: Seconds of the first pause, doubled with each job that finds no room, up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0


class DiskPauses:
    """Pauses after jobs for which the node's disk had no room; a full storage is none of these."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0

    @property
    def lasting(self) -> bool:
        """Return whether no job has ended well since one found no room."""
        return self._failures > 0

    def attempt_ended(self, report: AttemptReport, tick: float) -> None:
        """Begin a pause where the attempt found no room; several at once begin one."""
        if report.outcome is AttemptOutcome.FINISHED:
            self._failures, self._until = 0, 0.0
        elif report.error_class is ErrorClass.NO_ROOM and report.no_room is None:
            if tick >= self._until:
                self._failures += 1
            self._until = tick + pause_after(
                self._failures, first=FIRST_PAUSE, longest=LONGEST_PAUSE
            )

    def most_jobs(self, wanted: int, tick: float) -> int:
        """Return how many of the jobs that the pilot could take it should take: one, as a trial,
        when a pause is over."""
        if tick < self._until:
            return 0
        return min(wanted, 1) if self.lasting else wanted
