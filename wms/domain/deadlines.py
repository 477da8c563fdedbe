"""How long a pilot may keep a job that it renews again and again: as long as the job may take by
its own limits, and a grace."""

from dataclasses import dataclass

from sluice.contracts.numbers import in_full
from sluice.contracts.states import AttemptPhase

#: Seconds that staging may take beside its bytes, and bytes a second that storages are trusted with
#: at the least.
STAGING = 60.0
STAGING_RATE = 1e6
#: Seconds until the images of a job's containers are on the node.
IMAGES = 1800.0

_DOING = {
    AttemptPhase.STAGE_IN: "was fetching its inputs",
    AttemptPhase.RUN: "was running its tool",
    AttemptPhase.STAGE_OUT: "was storing its outputs",
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a job of a task may take. ``time_limit``: seconds for each of at most ``entries`` runs
    of its tool, 0: none. ``grace``: seconds beyond all; so long may a pilot have it unstarted, too.
    """

    time_limit: float
    entries: int
    in_container: bool
    grace: float


@dataclass(frozen=True, slots=True)
class HoldTime:
    """``seconds`` since the job was started, or, where it was not, since it was leased. ``bytes``:
    of its files, as far as they are known. ``phase``: what its pilot says that it does with it."""

    started: bool
    seconds: float
    bytes: int = 0
    phase: AttemptPhase | None = None


def too_long(kept: HoldTime, allowed: Allowance) -> str | None:
    """Why the job is taken from its pilot, as the end of a sentence that begins with the pilot;
    None: it may go on."""
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
