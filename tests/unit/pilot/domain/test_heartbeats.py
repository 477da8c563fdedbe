"""Tests of the content of heartbeats and of how the core handles their answers."""

from pilot.domain.heartbeats import has_unreported_start
from pilot.domain.model import (
    HeartbeatAnswered,
    Progress,
    Renew,
    RunJob,
    StopReason,
)
from sluice.contracts.common.states import AttemptOutcome, AttemptPhase, ErrorClass
from sluice.contracts.pilots.heartbeats import HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken
from tests.unit.pilot.domain.cores import (
    grant_lease,
    list_reports,
    list_stops,
    make_attempt_ended,
    make_core,
    make_time,
    send_command,
)


def test_heartbeat_has_the_phases_of_running_jobs() -> None:
    core = make_core(1)
    grant_lease(core, 1, 2)
    progress = {
        (1, 1): Progress(AttemptPhase.STAGE_OUT, 17),
        (2, 1): Progress(AttemptPhase.RUN),
        (7, 1): Progress(AttemptPhase.RUN),
    }
    (running,) = core.heartbeat(progress).running
    assert (running.id, running.phase, running.bytes) == (1, AttemptPhase.STAGE_OUT, 17)
    (plain,) = core.heartbeat().running
    assert (plain.phase, plain.bytes) == (None, None)


def test_job_that_started_after_the_last_heartbeat_causes_another_heartbeat() -> None:
    core = make_core(2)
    empty = core.heartbeat()
    grant_lease(core, 1, boot_time=5.0)
    assert not has_unreported_start(empty, core.slots, boot_time=5.4), (
        "a job that has just started may end at any moment"
    )
    assert has_unreported_start(empty, core.slots, boot_time=5.5)
    heartbeat = core.heartbeat()
    assert not has_unreported_start(heartbeat, core.slots, boot_time=9)
    grant_lease(core, 2, boot_time=9.0)
    assert has_unreported_start(heartbeat, core.slots, boot_time=10)


def test_slots_get_the_deadlines_of_their_jobs() -> None:
    core = make_core(1)
    [run] = [move for move in grant_lease(core, 1, 2) if isinstance(move, RunJob)]
    assert run.deadline == 60.0 - core.policy.margin(60.0)
    answer = HeartbeatAnswer(lease=80.0)
    instructions = core.handle(HeartbeatAnswered(10.0, core.heartbeat(), answer), make_time(12))
    later = 90.0 - core.policy.margin(80.0)
    assert instructions == [Renew(0, (1, 1), later)]
    [run] = [
        move
        for move in core.handle(make_attempt_ended(1), make_time(13))
        if isinstance(move, RunJob)
    ]
    assert (run.job.id, run.deadline) == (2, later)
    commands = [{"kind": "cancel", "job": {"id": 2, "attempt": 1}}]
    answer = HeartbeatAnswer.model_validate({"lease": 80.0, "commands": commands})
    instructions = core.handle(HeartbeatAnswered(20.0, core.heartbeat(), answer), make_time(22))
    assert not any(isinstance(move, Renew) for move in instructions)


def test_heartbeat_lists_running_and_waiting_jobs() -> None:
    core = make_core(1)
    grant_lease(core, 1, 2, boot_time=5.0)
    heartbeat = core.heartbeat()
    assert [(job.id, job.started_at) for job in heartbeat.running] == [(1, make_time(5.0).wall)]
    assert heartbeat.waiting == [JobToken(id=2, attempt=1)]


def test_cancel_of_a_running_job_is_confirmed_once_it_has_ended() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    send_command(core, "cancel", 1)
    assert core.heartbeat().confirmed == []
    assert list_stops(send_command(core, "cancel", 1)) == []
    (report,) = list_reports(
        core.handle(make_attempt_ended(1, outcome=AttemptOutcome.CANCELED), make_time(2))
    )
    assert report.outcome is AttemptOutcome.CANCELED
    heartbeat = core.heartbeat()
    assert heartbeat.confirmed == [JobToken(id=1, attempt=1)]
    core.handle(HeartbeatAnswered(3.0, heartbeat, HeartbeatAnswer(lease=60.0)), make_time(3))
    assert core.heartbeat().confirmed == []


def test_canceled_waiting_job_is_reported_and_confirmed_at_once() -> None:
    core = make_core(1)
    grant_lease(core, 1, 2)
    (report,) = list_reports(send_command(core, "cancel", 2))
    assert (report.id, report.outcome, report.error_class) == (
        2,
        AttemptOutcome.CANCELED,
        ErrorClass.CANCELED,
    )
    assert core.heartbeat().confirmed == [JobToken(id=2, attempt=1)]


def test_abandoned_jobs_are_not_reported() -> None:
    core = make_core(1)
    grant_lease(core, 1, 2)
    assert list_reports(send_command(core, "abandon", 2)) == []
    assert list_stops(send_command(core, "abandon", 1)) == [(1, StopReason.ABANDON)]
    assert core.heartbeat().running == []
    assert core.handle(make_attempt_ended(1, outcome=AttemptOutcome.RETURNED), make_time(2)) == []
    assert core.idle


def test_command_for_an_unknown_job_is_confirmed() -> None:
    core = make_core(1)
    send_command(core, "cancel", 99)
    send_command(core, "cancel", 99)
    assert core.heartbeat().confirmed == [JobToken(id=99, attempt=1)]
    core.handle(HeartbeatAnswered(1.0, core.heartbeat(), HeartbeatAnswer(lease=60.0)), make_time(1))
    assert core.heartbeat().confirmed == []
