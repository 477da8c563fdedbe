"""Tests of how jobs are stopped and how their ends are confirmed to the WMS."""

import pytest

from pilot.domain.core import PilotCore
from pilot.domain.model import (
    HeartbeatAnswered,
    KillSlot,
    ReportDeadSlot,
    ShutdownRequested,
    SlotLost,
    SlotReady,
    StartSlot,
    StopReason,
    TimePassed,
)
from pilot.domain.prefetch import PrefetchPolicy
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.pilots.heartbeats import Command, Heartbeat, HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken
from tests.unit.pilot.domain.cores import (
    grant_lease,
    list_reports,
    list_runs,
    list_stops,
    make_attempt_ended,
    make_core,
    make_time,
    send_command,
)


def make_token(job_id: int) -> JobToken:
    return JobToken(id=job_id, attempt=1)


def list_reported_jobs(core: PilotCore) -> list[int]:
    heartbeat = core.heartbeat()
    return [job.id for job in [*heartbeat.running, *heartbeat.waiting]]


def list_overdue_stops(core: PilotCore) -> list[tuple[int, StopReason]]:
    check = core.next_check()
    assert check is not None
    return list_stops(core.handle(TimePassed(), make_time(check)))


def test_abandoned_and_overdue_jobs_are_not_renewed() -> None:
    core = make_core(2, policy=PrefetchPolicy(patience=1000.0))
    grant_lease(core, 1, 2)
    assert list_stops(send_command(core, "abandon", 1)) == [(1, StopReason.ABANDON)]
    assert list_reported_jobs(core) == [2]
    assert list_overdue_stops(core) + list_overdue_stops(core) == [
        (1, StopReason.LEASE),
        (2, StopReason.LEASE),
    ]
    assert list_reported_jobs(core) == []


def test_abandoned_job_is_confirmed_after_it_has_ended() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    send_command(core, "abandon", 1)
    assert core.heartbeat().confirmed == []
    core.handle(make_attempt_ended(1, outcome=AttemptOutcome.CANCELED), make_time(2))
    assert core.heartbeat().confirmed == [make_token(1)]


def test_stop_is_sent_once_and_abandon_overrides_cancel() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    assert list_stops(send_command(core, "cancel", 1)) == [(1, StopReason.CANCEL)]
    assert list_stops(send_command(core, "cancel", 1)) == []
    assert list_stops(send_command(core, "abandon", 1)) == [(1, StopReason.ABANDON)]
    assert list_stops(send_command(core, "cancel", 1)) == []
    assert list_stops(core.handle(ShutdownRequested(), make_time(3))) == []


def test_repeated_command_for_an_unknown_job_is_confirmed_once() -> None:
    core = make_core(1)
    answer = HeartbeatAnswer(lease=60.0, commands=[Command(kind="cancel", job=make_token(99))])
    for _ in range(2):
        core.handle(HeartbeatAnswered(1.0, Heartbeat(), answer), make_time(1))
    assert core.heartbeat().confirmed == [make_token(99)]


def test_late_heartbeat_answer_does_not_shorten_the_lease() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    heartbeat = core.heartbeat()
    core.handle(HeartbeatAnswered(40.0, heartbeat, HeartbeatAnswer(lease=60.0)), make_time(40))
    check = core.next_check()
    core.handle(HeartbeatAnswered(10.0, heartbeat, HeartbeatAnswer(lease=60.0)), make_time(41))
    assert core.next_check() == check


def test_job_that_was_stopped_at_the_end_of_its_lease_is_not_returned() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    assert list_overdue_stops(core) == [(1, StopReason.LEASE)]
    core.handle(make_attempt_ended(1, outcome=AttemptOutcome.RETURNED), make_time(60))
    assert (core.returned_tokens, core.idle) == ([], True)


@pytest.mark.parametrize("reason", ["cancel", "abandon", "shutdown"])
def test_stop_of_a_queued_job_survives_the_loss_of_its_slot(reason: str) -> None:
    core = make_core(2)
    grant_lease(core, 1, 2)
    core.handle(make_attempt_ended(1, slot=0, seconds=0.01), make_time(0))
    grant_lease(core, 3, 4)
    instructions = (
        core.handle(ShutdownRequested(), make_time(1))
        if reason == "shutdown"
        else send_command(core, reason, 4)
    )
    assert 4 in [job_id for job_id, _ in list_stops(instructions)]
    instructions_after_loss = core.handle(SlotLost(0, "ended"), make_time(2))
    assert 4 not in [job_id for _, job_id in list_runs(instructions_after_loss)]
    assert (4, 1) not in core.tokens
    assert [report.outcome for report in list_reports(instructions_after_loss)] == (
        [AttemptOutcome.CANCELED] if reason == "cancel" else []
    )
    assert (make_token(4) in core.heartbeat().confirmed) is (reason != "shutdown")
    assert (make_token(4) in core.returned_tokens) is (reason == "shutdown")


# --- Slots that do not obey ---

PATIENT = PrefetchPolicy(grace=2.0, patience=10.0)


def list_killed_slots(core: PilotCore, boot_time: float) -> list[int]:
    """Return the slots that are killed at this time."""
    moves = core.handle(TimePassed(), make_time(boot_time))
    return [move.slot for move in moves if isinstance(move, KillSlot)]


@pytest.mark.parametrize("reason", ["cancel", "abandon", "shutdown", "lease"])
def test_slot_that_does_not_stop_its_job_is_killed_once(reason: str) -> None:
    core = make_core(1, policy=PATIENT)
    grant_lease(core, 1)
    command_time = 1.0
    if reason == "shutdown":
        core.handle(ShutdownRequested(), make_time(command_time))
    elif reason == "lease":
        command_time = core.next_check() or 0.0
        core.handle(TimePassed(), make_time(command_time))
    else:
        send_command(core, reason, 1, boot_time=command_time)
    assert core.next_check() == command_time + 12.0
    assert list_killed_slots(core, command_time + 11.9) == []
    assert list_killed_slots(core, command_time + 12.0) == [0]
    assert list_killed_slots(core, command_time + 13.0) == []
    assert grant_lease(core, 2, boot_time=command_time + 13.0) == []
    instructions_after_kill = core.handle(SlotLost(0, "was killed"), make_time(command_time + 14.0))
    assert [
        move.report.id for move in instructions_after_kill if isinstance(move, ReportDeadSlot)
    ] == [1]
    assert StartSlot(0) in instructions_after_kill
    assert list_runs(core.handle(SlotReady(0), make_time(command_time + 15.0))) == [(0, 2)]


def test_slot_whose_job_stops_in_time_is_kept() -> None:
    core = make_core(1, policy=PATIENT)
    grant_lease(core, 1)
    send_command(core, "cancel", 1)
    core.handle(make_attempt_ended(1, outcome=AttemptOutcome.CANCELED), make_time(5))
    assert core.next_check() is None
    assert list_killed_slots(core, 20.0) == []
    assert list_runs(grant_lease(core, 2, boot_time=20.0)) == [(0, 2)]


def test_second_stop_does_not_extend_the_time_to_stop() -> None:
    core = make_core(1, policy=PATIENT)
    grant_lease(core, 1)
    send_command(core, "cancel", 1, boot_time=1.0)
    send_command(core, "abandon", 1, boot_time=9.0)
    assert list_killed_slots(core, 13.0) == [0]


def test_time_to_stop_a_queued_job_starts_when_the_job_runs() -> None:
    core = make_core(1, policy=PATIENT)
    grant_lease(core, 1)
    core.handle(make_attempt_ended(1, seconds=0.01), make_time(0))
    grant_lease(core, 2, 3)
    send_command(core, "cancel", 3, boot_time=1.0)
    assert list_killed_slots(core, 20.0) == []
    core.handle(make_attempt_ended(2, seconds=20.0), make_time(20.0))
    assert list_killed_slots(core, 31.9) == []
    assert list_killed_slots(core, 32.0) == [0]
