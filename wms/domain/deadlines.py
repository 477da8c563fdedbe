"""Deadline of a job whose pilot keeps renewing its lease: its own limits plus a grace."""

from dataclasses import dataclass

from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.states import AttemptPhase

#: Seconds that staging may take in addition to the time for its bytes, and the lowest rate of a
#: storage in bytes per second.
STAGING_SECONDS = 60.0
MIN_STORAGE_RATE = 1e6
#: Seconds to get the container images of a job to the node.
IMAGE_SECONDS = 1800.0

_PHASE_DESCRIPTIONS = {
    AttemptPhase.STAGE_IN: "was fetching its inputs",
    AttemptPhase.RUN: "was running its tool",
    AttemptPhase.STAGE_OUT: "was storing its outputs",
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """The time that a job of a task may take.

    Attributes:
        time_limit: Seconds for each of at most ``entries`` runs of its tool; 0 for none.
        grace: Seconds in addition to everything else, and the time that a pilot may have the job
            without starting it.
    """

    time_limit: float
    entries: int
    in_container: bool
    grace: float


@dataclass(frozen=True, slots=True)
class AttemptDuration:
    """How long a pilot has had a job.

    Attributes:
        seconds: Since the job started, or since its lease if it has not started.
        bytes: Size of its files, as far as it is known.
        phase: The phase of the job that the pilot reports.
    """

    started: bool
    seconds: float
    bytes: int = 0
    phase: AttemptPhase | None = None


def describe_overrun(duration: AttemptDuration, allowance: Allowance) -> str | None:
    """Return why the job is taken from its pilot, or None if it may continue.

    The reason is the end of a sentence whose subject is the pilot.
    """
    if not duration.started:
        if duration.seconds <= allowance.grace:
            return None
        return f"kept it for {duration.seconds:.0f} s without starting it"
    if not allowance.time_limit:
        return None
    staging = (
        STAGING_SECONDS
        + duration.bytes / MIN_STORAGE_RATE
        + (IMAGE_SECONDS if allowance.in_container else 0.0)
    )
    if duration.seconds <= allowance.time_limit * allowance.entries + staging + allowance.grace:
        return None
    times = f" for each of {allowance.entries} entries" if allowance.entries > 1 else ""
    doing = f"; it {_PHASE_DESCRIPTIONS[duration.phase]}" if duration.phase is not None else ""
    return (
        f"kept it for {duration.seconds:.0f} s, beyond its time limit of"
        f" {in_full(allowance.time_limit)} s{times}, {staging:.0f} s for its files and"
        f" {allowance.grace:g} s of grace{doing}"
    )
