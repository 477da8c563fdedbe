"""Content of a pilot's heartbeat, and the leases that its answer renews."""

from collections.abc import Iterable, Iterator, Mapping

from pilot.domain.assigned_jobs import AssignedJob, token_of
from pilot.domain.model import HeartbeatAnswered, Progress, StopReason, Token
from pilot.domain.slots import Slots
from sluice.contracts.pilots.pilots import Heartbeat, JobToken

#: Seconds that a job has to run before a heartbeat is sent early for it.
LONG_ENOUGH = 0.5


def heartbeat_of(
    jobs: Iterable[AssignedJob],
    slots: Slots,
    *,
    confirmed: Iterable[Token],
    progress: Mapping[Token, Progress],
) -> Heartbeat:
    """Return a heartbeat with every job that the pilot still wants and the commands carried out.

    ``progress`` need not name every job.
    """
    running, waiting = [], []
    for assigned in jobs:
        if assigned.stopping in {StopReason.ABANDON, StopReason.LEASE}:
            continue
        slot = None if assigned.slot is None else slots[assigned.slot]
        if slot is not None and slot.queue[0] is assigned and slot.started is not None:
            running.append(assigned.started_job(slot.started, progress.get(assigned.token)))
        else:
            waiting.append(JobToken(id=assigned.job.id, attempt=assigned.job.attempt))
    done = [JobToken(id=token[0], attempt=token[1]) for token in confirmed]
    return Heartbeat(running=running, waiting=waiting, confirmed=done)


def has_untold_start(told: Heartbeat, slots: Slots, *, boot_time: float) -> bool:
    """Return whether the heartbeat ``told`` misses a job that has run for ``LONG_ENOUGH`` seconds.

    ``told`` is the last heartbeat. A job that ends sooner is reported before anybody looks.
    """
    known = {token_of(job) for job in told.running}
    return any(
        slot.queue[0].token not in known and boot_time - slot.since >= LONG_ENOUGH
        for slot in slots
        if slot.queue and slot.started is not None
    )


def renewed(event: HeartbeatAnswered, jobs: Mapping[Token, AssignedJob]) -> Iterator[AssignedJob]:
    """Yield the jobs of a heartbeat that this pilot still has to run."""
    taken = {token_of(command.job) for command in event.answer.commands}
    for named in [*event.heartbeat.running, *event.heartbeat.waiting]:
        assigned = jobs.get(token_of(named))
        if (
            assigned is not None
            and assigned.stopping is not StopReason.LEASE
            and assigned.token not in taken
        ):
            yield assigned
