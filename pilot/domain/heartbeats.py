"""Content of a pilot's heartbeat, and the leases that its answer renews."""

from collections.abc import Iterable, Iterator, Mapping

from pilot.domain.assigned_jobs import AssignedJob, get_token
from pilot.domain.model import HeartbeatAnswered, Progress, StopReason, Token
from pilot.domain.slots import Slots
from sluice.contracts.pilots.heartbeats import Heartbeat
from sluice.contracts.pilots.leases import JobToken

#: Seconds that a job has to run before a heartbeat is sent early for it.
LONG_ENOUGH = 0.5


def build_heartbeat(
    jobs: Iterable[AssignedJob],
    slots: Slots,
    *,
    confirmed_tokens: Iterable[Token],
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
    tokens = [JobToken(id=token[0], attempt=token[1]) for token in confirmed_tokens]
    return Heartbeat(running=running, waiting=waiting, confirmed=tokens)


def has_unreported_start(last_heartbeat: Heartbeat, slots: Slots, *, boot_time: float) -> bool:
    """Return whether the last heartbeat misses a job that has run for ``LONG_ENOUGH`` seconds.

    A job that ends sooner is reported before anybody looks.
    """
    reported = {get_token(job) for job in last_heartbeat.running}
    return any(
        slot.queue[0].token not in reported and boot_time - slot.since >= LONG_ENOUGH
        for slot in slots
        if slot.queue and slot.started is not None
    )


def select_renewed_jobs(
    event: HeartbeatAnswered, jobs: Mapping[Token, AssignedJob]
) -> Iterator[AssignedJob]:
    """Yield the jobs of a heartbeat that this pilot still has to run."""
    commanded = {get_token(command.job) for command in event.answer.commands}
    for job in [*event.heartbeat.running, *event.heartbeat.waiting]:
        assigned = jobs.get(get_token(job))
        if (
            assigned is not None
            and assigned.stopping is not StopReason.LEASE
            and assigned.token not in commanded
        ):
            yield assigned
