"""Deadline of a job whose pilot keeps renewing its lease: its own limits plus a grace."""

from dataclasses import dataclass

from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.states import AttemptPhase

#: Seconds that staging may take in addition to the time for its bytes, and the lowest rate of a
#: storage in bytes per second.
STAGING = 60.0
STAGING_RATE = 1e6
#: Seconds to get the container images of a job to the node.
IMAGES = 1800.0

_DOING = {
    AttemptPhase.STAGE_IN: "was fetching its inputs",
    AttemptPhase.RUN: "was running its tool",
    AttemptPhase.STAGE_OUT: "was storing its outputs",
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a job of a task may take.

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
        phase: What the pilot reports to do with it.
    """

    started: bool
    seconds: float
    bytes: int = 0
    phase: AttemptPhase | None = None


def too_long(kept: AttemptDuration, allowed: Allowance) -> str | None:
    """Return why the job is taken from its pilot, or None if it may go on.

    The reason is the end of a sentence whose subject is the pilot.
    """
    if not kept.started:
        if kept.seconds <= allowed.grace:
            return None
        return f"kept it for {kept.seconds:.0f} s without starting it"
    if not allowed.time_limit:
        return None
    staging = STAGING + kept.bytes / STAGING_RATE + (IMAGES if allowed.in_container else 0.0)
    if kept.seconds <= allowed.time_limit * allowed.entries + staging + allowed.grace:
        return None
    times = f" for each of {allowed.entries} entries" if allowed.entries > 1 else ""
    doing = f"; it {_DOING[kept.phase]}" if kept.phase is not None else ""
    return (
        f"kept it for {kept.seconds:.0f} s, beyond its time limit of {in_full(allowed.time_limit)}"
        f" s{times}, {staging:.0f} s for its files and {allowed.grace:g} s of grace{doing}"
    )
