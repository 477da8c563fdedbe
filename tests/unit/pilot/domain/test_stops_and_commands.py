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
from sluice.contracts.pilots.pilots import Command, Heartbeat, HeartbeatAnswer, JobToken
from tests.unit.pilot.domain.cores import at, command, ended, granted, pilot, reports, runs, stops


def one(job_id: int) -> JobToken:
    return JobToken(id=job_id, attempt=1)


def named(core: PilotCore) -> list[int]:
    heartbeat = core.heartbeat()
    return [job.id for job in [*heartbeat.running, *heartbeat.waiting]]


def overdue(core: PilotCore) -> list[tuple[int, StopReason]]:
    check = core.next_check()
    assert check is not None
    return stops(core.handle(TimePassed(), at(check)))


def test_abandoned_and_overdue_jobs_are_not_renewed() -> None:
    core = pilot(2, policy=PrefetchPolicy(patience=1000.0))
    granted(core, 1, 2)
    assert stops(command(core, "abandon", 1)) == [(1, StopReason.ABANDON)]
    assert named(core) == [2]
    assert overdue(core) + overdue(core) == [(1, StopReason.LEASE), (2, StopReason.LEASE)]
    assert named(core) == []


def test_abandoned_job_is_confirmed_after_it_has_ended() -> None:
    core = pilot(1)
    granted(core, 1)
    command(core, "abandon", 1)
    assert core.heartbeat().confirmed == []
    core.handle(ended(1, outcome=AttemptOutcome.CANCELED), at(2))
    assert core.heartbeat().confirmed == [one(1)]


def test_stop_is_sent_once_and_abandon_overrides_cancel() -> None:
    core = pilot(1)
    granted(core, 1)
    assert stops(command(core, "cancel", 1)) == [(1, StopReason.CANCEL)]
    assert stops(command(core, "cancel", 1)) == []
    assert stops(command(core, "abandon", 1)) == [(1, StopReason.ABANDON)]
    assert stops(command(core, "cancel", 1)) == []
    assert stops(core.handle(ShutdownRequested(), at(3))) == []


def test_repeated_command_for_an_unknown_job_is_confirmed_once() -> None:
    core = pilot(1)
    answer = HeartbeatAnswer(lease=60.0, commands=[Command(kind="cancel", job=one(99))])
    for _ in range(2):
        core.handle(HeartbeatAnswered(1.0, Heartbeat(), answer), at(1))
    assert core.heartbeat().confirmed == [one(99)]


def test_late_heartbeat_answer_does_not_shorten_the_lease() -> None:
    core = pilot(1)
    granted(core, 1)
    heartbeat = core.heartbeat()
    core.handle(HeartbeatAnswered(40.0, heartbeat, HeartbeatAnswer(lease=60.0)), at(40))
    check = core.next_check()
    core.handle(HeartbeatAnswered(10.0, heartbeat, HeartbeatAnswer(lease=60.0)), at(41))
    assert core.next_check() == check


def test_job_that_was_stopped_at_the_end_of_its_lease_is_not_returned() -> None:
    core = pilot(1)
    granted(core, 1)
    assert overdue(core) == [(1, StopReason.LEASE)]
    core.handle(ended(1, outcome=AttemptOutcome.RETURNED), at(60))
    assert (core.returned_tokens, core.idle) == ([], True)


@pytest.mark.parametrize("why", ["cancel", "abandon", "shutdown"])
def test_stop_of_a_queued_job_survives_the_loss_of_its_slot(why: str) -> None:
    core = pilot(2)
    granted(core, 1, 2)
    core.handle(ended(1, slot=0, seconds=0.01), at(0))
    granted(core, 3, 4)
    instructions = (
        core.handle(ShutdownRequested(), at(1)) if why == "shutdown" else command(core, why, 4)
    )
    assert 4 in [job_id for job_id, _ in stops(instructions)]
    left = core.handle(SlotLost(0, "ended"), at(2))
    assert 4 not in [job_id for _, job_id in runs(left)]
    assert (4, 1) not in core.tokens
    assert [report.outcome for report in reports(left)] == (
        [AttemptOutcome.CANCELED] if why == "cancel" else []
    )
    assert (one(4) in core.heartbeat().confirmed) is (why != "shutdown")
    assert (one(4) in core.returned_tokens) is (why == "shutdown")


# --- Slots that do not obey ---

PATIENT = PrefetchPolicy(grace=2.0, patience=10.0)


def ends(core: PilotCore, boot_time: float) -> list[int]:
    """Return the slots that are killed at this time."""
    moves = core.handle(TimePassed(), at(boot_time))
    return [move.slot for move in moves if isinstance(move, KillSlot)]


@pytest.mark.parametrize("why", ["cancel", "abandon", "shutdown", "lease"])
def test_slot_that_does_not_stop_its_job_is_killed_once(why: str) -> None:
    core = pilot(1, policy=PATIENT)
    granted(core, 1)
    command_time = 1.0
    if why == "shutdown":
        core.handle(ShutdownRequested(), at(command_time))
    elif why == "lease":
        command_time = core.next_check() or 0.0
        core.handle(TimePassed(), at(command_time))
    else:
        command(core, why, 1, boot_time=command_time)
    assert core.next_check() == command_time + 12.0
    assert ends(core, command_time + 11.9) == []
    assert ends(core, command_time + 12.0) == [0]
    assert ends(core, command_time + 13.0) == []
    assert granted(core, 2, boot_time=command_time + 13.0) == []
    lost = core.handle(SlotLost(0, "was killed"), at(command_time + 14.0))
    assert [move.report.id for move in lost if isinstance(move, ReportDeadSlot)] == [1]
    assert StartSlot(0) in lost
    assert runs(core.handle(SlotReady(0), at(command_time + 15.0))) == [(0, 2)]


def test_slot_whose_job_stops_in_time_is_kept() -> None:
    core = pilot(1, policy=PATIENT)
    granted(core, 1)
    command(core, "cancel", 1)
    core.handle(ended(1, outcome=AttemptOutcome.CANCELED), at(5))
    assert core.next_check() is None
    assert ends(core, 20.0) == []
    assert runs(granted(core, 2, boot_time=20.0)) == [(0, 2)]


def test_second_stop_does_not_extend_the_time_to_stop() -> None:
    core = pilot(1, policy=PATIENT)
    granted(core, 1)
    command(core, "cancel", 1, boot_time=1.0)
    command(core, "abandon", 1, boot_time=9.0)
    assert ends(core, 13.0) == [0]


def test_time_to_stop_a_queued_job_starts_when_the_job_runs() -> None:
    core = pilot(1, policy=PATIENT)
    granted(core, 1)
    core.handle(ended(1, seconds=0.01), at(0))
    granted(core, 2, 3)
    command(core, "cancel", 3, boot_time=1.0)
    assert ends(core, 20.0) == []
    core.handle(ended(2, seconds=20.0), at(20.0))
    assert ends(core, 31.9) == []
    assert ends(core, 32.0) == [0]
