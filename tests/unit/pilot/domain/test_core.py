"""Tests of the decisions of the pilot's core: events go in, instructions come out."""

from uuid import UUID, uuid4

import pytest

from pilot.domain.core import PilotCore
from pilot.domain.model import (
    DescribeTask,
    DrainRequested,
    ForgetTask,
    HeartbeatAnswered,
    LeaseGranted,
    PilotStarted,
    ReportDeadSlot,
    RunJob,
    SendReport,
    ShutdownRequested,
    SlotLost,
    SlotReady,
    StartSlot,
    StopReason,
    TimePassed,
)
from pilot.domain.prefetch import PrefetchPolicy, count_spare_jobs
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.data.storage_space import FullStorage
from sluice.contracts.pilots.heartbeats import Command, Heartbeat, HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken, PilotTask
from tests.unit.pilot.domain.cores import (
    grant_lease,
    list_reports,
    list_runs,
    list_stops,
    make_attempt_ended,
    make_core,
    make_lease,
    make_task,
    make_time,
    send_command,
)

# --- The number of jobs ---


def test_no_jobs_are_requested_before_a_slot_is_ready() -> None:
    core = PilotCore(2, min_slots=2)
    assert core.handle(PilotStarted(), make_time(0)) == [StartSlot(0), StartSlot(1)]
    assert core.count_jobs_to_request(make_time(0)) == 0
    core.handle(SlotReady(1), make_time(0))
    assert core.count_jobs_to_request(make_time(0)) == 1


def test_one_job_per_slot_is_requested_while_durations_are_unknown() -> None:
    core = make_core(4)
    assert core.count_jobs_to_request(make_time(0)) == 4
    grant_lease(core, 1, 2, 3, 4)
    assert core.count_jobs_to_request(make_time(0)) == 0


@pytest.mark.parametrize(
    ("expected", "spare"),
    [(None, 0), (0.001, 128), (0.01, 128), (0.1, 15), (0.5, 3), (0.75, 0), (60.0, 0)],
)
def test_number_of_spare_jobs_covers_the_prefetch_horizon(
    expected: float | None, spare: int
) -> None:
    assert (
        count_spare_jobs(
            PrefetchPolicy(horizon=0.75, max_per_slot=64), slots=2, expected_seconds=expected
        )
        == spare
    )


def test_short_jobs_are_prefetched_and_long_jobs_are_not() -> None:
    core = make_core(2)
    grant_lease(core, 1, 2)
    core.handle(make_attempt_ended(1, seconds=0.05), make_time(0.05))
    assert core.count_jobs_to_request(make_time(0.05)) == 2 + 30 - 1
    slow = make_core(2)
    grant_lease(slow, 1, 2)
    slow.handle(make_attempt_ended(1, seconds=30.0), make_time(30))
    assert slow.count_jobs_to_request(make_time(30)) == 1


def test_long_running_job_ends_prefetching() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    core.handle(make_attempt_ended(1, seconds=0.01), make_time(0))
    grant_lease(core, 2, boot_time=1.0)
    assert core.count_jobs_to_request(make_time(1.0)) > 10
    assert core.count_jobs_to_request(make_time(3.0)) == 0


def test_small_refills_are_postponed_while_jobs_are_queued() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    core.handle(make_attempt_ended(1, seconds=0.05), make_time(0))
    grant_lease(core, *range(2, 17))
    core.handle(make_attempt_ended(2, seconds=0.05), make_time(0))
    assert core.count_jobs_to_request(make_time(0)) == 0
    for job_id in range(3, 8):
        core.handle(make_attempt_ended(job_id, seconds=0.05), make_time(0))
    assert core.count_jobs_to_request(make_time(0)) > 0


# --- The choice of the slot ---


def test_each_slot_gets_the_task_once_before_its_first_job() -> None:
    core = make_core(2)
    first = grant_lease(core, 1, 2)
    assert [type(instruction) for instruction in first] == [
        DescribeTask,
        RunJob,
        DescribeTask,
        RunJob,
    ]
    assert [type(instruction) for instruction in grant_lease(core, 3)] == []
    assert [
        type(instruction) for instruction in core.handle(make_attempt_ended(1), make_time(1))
    ] == [
        SendReport,
        RunJob,
    ]


def test_short_jobs_are_queued_in_a_busy_slot() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    core.handle(make_attempt_ended(1, seconds=0.01), make_time(0))
    assert list_runs(grant_lease(core, 2, 3, 4)) == [(0, 2), (0, 3)]
    slow = make_core(1)
    grant_lease(slow, 1)
    slow.handle(make_attempt_ended(1, seconds=10.0), make_time(10))
    assert list_runs(grant_lease(slow, 2, 3, 4, boot_time=10)) == [(0, 2)]


def test_jobs_run_in_the_order_of_their_leases() -> None:
    core = make_core(1)
    order = list_runs(grant_lease(core, 5, 3, 9))
    for job_id in (5, 3):
        order += list_runs(core.handle(make_attempt_ended(job_id, seconds=9.0), make_time(1)))
    assert [job_id for _, job_id in order] == [5, 3, 9]


def test_jobs_of_later_steps_run_before_earlier_steps_of_the_same_chain() -> None:
    core, chain = make_core(1), uuid4()
    first, last, other = (
        make_task(uuid4()).model_copy(update={"chain_uid": of, "depth": depth})
        for of, depth in ((chain, 0), (chain, 2), (uuid4(), 1))
    )

    def lease_jobs(of: PilotTask, *jobs: int) -> list[tuple[int, int]]:
        return list_runs(
            core.handle(LeaseGranted(0, make_lease(*jobs, uid=of.uid, tasks=[of])), make_time(0))
        )

    order = (
        lease_jobs(first, 1, 2)
        + lease_jobs(other, 3)
        + lease_jobs(first, 4, 5)
        + lease_jobs(last, 6, 7)
    )
    for job_id in (1, 2, 3, 6, 7, 4):
        order += list_runs(core.handle(make_attempt_ended(job_id, seconds=9.0), make_time(1)))
    assert [job_id for _, job_id in order] == [1, 2, 3, 6, 7, 4, 5]


def test_job_that_is_leased_twice_runs_once() -> None:
    core = make_core(2)
    grant_lease(core, 1)
    assert list_runs(grant_lease(core, 1)) == []


def test_job_without_its_task_is_reported_as_an_internal_error() -> None:
    core = make_core(1)
    (report,) = list_reports(core.handle(LeaseGranted(0.0, make_lease(1, tasks=[])), make_time(0)))
    assert report.error_class is ErrorClass.INTERNAL
    assert core.idle


def test_oldest_unused_tasks_are_forgotten() -> None:
    core = make_core(1, policy=PrefetchPolicy(max_tasks=2))
    uids = [uuid4() for _ in range(4)]
    forgotten: list[UUID] = []
    for number, uid in enumerate(uids):
        instructions = core.handle(LeaseGranted(0.0, make_lease(number, uid=uid)), make_time(0))
        instructions += core.handle(make_attempt_ended(number), make_time(0))
        forgotten += [
            instruction.uid for instruction in instructions if isinstance(instruction, ForgetTask)
        ]
    assert forgotten == uids[:2]
    assert core.known_tasks == uids[2:]


# --- Leases (invariant 6: a pilot stops a job before its lease ends) ---


def test_running_job_is_stopped_before_its_lease_ends() -> None:
    core = make_core(1)
    grant_lease(core, 1, boot_time=100.0, seconds=60.0)
    check = core.next_check()
    assert check is not None
    assert 100.0 < check <= 160.0 - 5.0
    assert list_stops(core.handle(TimePassed(), make_time(check - 0.001))) == []
    assert list_stops(core.handle(TimePassed(), make_time(check))) == [(1, StopReason.LEASE)]
    assert list_stops(core.handle(TimePassed(), make_time(check + 1))) == []


@pytest.mark.parametrize("lease_jobs", [0.5, 2.0, 60.0, 3600.0])
def test_margin_is_at_most_half_of_the_lease(lease_jobs: float) -> None:
    assert 0 < PrefetchPolicy().margin(lease_jobs) <= lease_jobs / 2


def test_lease_counts_from_the_time_of_the_request() -> None:
    core = make_core(1)
    core.handle(LeaseGranted(100.0, make_lease(1, seconds=60.0)), make_time(130.0))
    check = core.next_check()
    assert check is not None
    assert check < 160.0


def test_lease_that_arrives_too_late_is_ignored() -> None:
    core = make_core(1)
    assert core.handle(LeaseGranted(0.0, make_lease(1, seconds=60.0)), make_time(58.0)) == []
    assert core.idle


def test_heartbeat_renews_only_listed_jobs_from_the_time_it_was_sent() -> None:
    core = make_core(1)
    grant_lease(core, 1, 2, seconds=60.0)
    heartbeat = Heartbeat(running=core.heartbeat().running)
    core.handle(HeartbeatAnswered(30.0, heartbeat, HeartbeatAnswer(lease=60.0)), make_time(45.0))
    instructions = core.handle(TimePassed(), make_time(59.0))
    assert list_stops(instructions) == []
    assert (2, 1) not in core.tokens
    check = core.next_check()
    assert check is not None
    assert 80.0 < check < 90.0


def test_waiting_job_with_an_expired_lease_is_dropped_without_a_report() -> None:
    core = make_core(1, policy=PrefetchPolicy(return_after=1000.0))
    grant_lease(core, 1, 2)
    core.handle(
        HeartbeatAnswered(
            30.0, Heartbeat(running=core.heartbeat().running), HeartbeatAnswer(lease=60.0)
        ),
        make_time(30.0),
    )
    assert core.handle(TimePassed(), make_time(59.0)) == []
    assert (2, 1) not in core.tokens


def test_canceled_job_is_stopped_again_when_its_lease_ends() -> None:
    core = make_core(1, policy=PrefetchPolicy(patience=1000.0))
    grant_lease(core, 1)
    assert list_stops(send_command(core, "cancel", 1)) == [(1, StopReason.CANCEL)]
    check = core.next_check()
    assert check is not None
    assert list_stops(core.handle(TimePassed(), make_time(check))) == [(1, StopReason.LEASE)]


def test_heartbeat_answer_with_a_command_does_not_renew_the_lease() -> None:
    """Invariant 6: the WMS has not renewed the lease."""
    core = make_core(2)
    grant_lease(core, 1, 2, seconds=60.0)
    check = core.next_check()
    assert check is not None
    answer = HeartbeatAnswer(
        lease=60.0, commands=[Command(kind="cancel", job=JobToken(id=1, attempt=1))]
    )
    assert list_stops(
        core.handle(HeartbeatAnswered(30.0, core.heartbeat(), answer), make_time(30.0))
    ) == [(1, StopReason.CANCEL)]
    assert list_stops(core.handle(TimePassed(), make_time(check))) == [(1, StopReason.LEASE)]
    assert (2, 1) in core.tokens


# --- Lost slots ---


def test_lost_slot_fails_its_job_and_its_queued_job_moves_to_another_slot() -> None:
    core = make_core(2)
    grant_lease(core, 1, 2)
    core.handle(make_attempt_ended(1, slot=0, seconds=0.01), make_time(0))
    grant_lease(core, 3, 4)
    instructions = core.handle(SlotLost(0, "ended unexpectedly"), make_time(1))
    (moved_job,) = [
        instruction for instruction in instructions if isinstance(instruction, ReportDeadSlot)
    ]
    assert (moved_job.report.id, moved_job.report.error_class) == (3, ErrorClass.INTERNAL)
    assert "ended unexpectedly" in moved_job.report.message
    assert StartSlot(0) in instructions
    assert list_runs(instructions) == [(1, 4)]
    grant_lease(core, 5)
    second_start = core.handle(SlotReady(0), make_time(2))
    assert [
        (type(move), move.slot) for move in second_start if isinstance(move, DescribeTask | RunJob)
    ] == [
        (DescribeTask, 0),
        (RunJob, 0),
    ]


# --- Drain and shutdown ---


def test_drain_returns_waiting_jobs_and_finishes_running_jobs() -> None:
    core = make_core(1)
    grant_lease(core, 1, 2, 3)
    returned_jobs = list_reports(core.handle(DrainRequested(), make_time(1)))
    assert [(report.id, report.outcome) for report in returned_jobs] == [
        (2, AttemptOutcome.RETURNED),
        (3, AttemptOutcome.RETURNED),
    ]
    assert core.count_jobs_to_request(make_time(1)) == 0
    assert not core.idle
    core.handle(make_attempt_ended(1), make_time(2))
    assert core.idle
    assert core.returned_tokens == []


def test_waiting_jobs_of_a_task_with_a_full_storage_are_returned() -> None:
    core = make_core(1)
    other = uuid4()
    grant_lease(core, 1, 2, 3)
    core.handle(LeaseGranted(0, make_lease(4, uid=other)), make_time(0))
    full = FullStorage(storage="file:///small/set/file", needed=300)
    instructions = core.handle(
        make_attempt_ended(1, outcome=AttemptOutcome.FAILED, no_space=full), make_time(1)
    )
    assert [(report.id, report.outcome) for report in list_reports(instructions)] == [
        (1, AttemptOutcome.FAILED),
        (2, AttemptOutcome.RETURNED),
        (3, AttemptOutcome.RETURNED),
    ]
    assert list_runs(instructions) == [(0, 4)]


def test_jobs_leased_while_the_pilot_drains_are_returned() -> None:
    core = make_core(1)
    core.handle(DrainRequested(), make_time(0))
    assert [report.outcome for report in list_reports(grant_lease(core, 1))] == [
        AttemptOutcome.RETURNED
    ]
    assert core.idle


def test_heartbeat_answer_can_drain_the_pilot() -> None:
    core = make_core(1)
    grant_lease(core, 1, 2)
    answer = HeartbeatAnswer(lease=60.0, drain=True)
    assert [
        report.id
        for report in list_reports(
            core.handle(HeartbeatAnswered(1.0, core.heartbeat(), answer), make_time(1))
        )
    ] == [2]
    assert core.draining


def test_shutdown_stops_running_jobs_and_returns_all_jobs() -> None:
    core = make_core(1)
    grant_lease(core, 1, 2)
    assert list_stops(core.handle(ShutdownRequested(), make_time(1))) == [(1, StopReason.SHUTDOWN)]
    assert core.handle(make_attempt_ended(1, outcome=AttemptOutcome.RETURNED), make_time(2)) == []
    assert core.idle
    assert core.returned_tokens == [JobToken(id=2, attempt=1), JobToken(id=1, attempt=1)]


def test_job_that_finishes_during_the_shutdown_is_reported() -> None:
    core = make_core(1)
    grant_lease(core, 1)
    core.handle(ShutdownRequested(), make_time(1))
    assert [
        report.outcome for report in list_reports(core.handle(make_attempt_ended(1), make_time(1)))
    ] == [AttemptOutcome.FINISHED]
    assert core.returned_tokens == []


def test_jobs_that_wait_too_long_behind_a_long_job_are_returned() -> None:
    core = make_core(1, policy=PrefetchPolicy(return_after=5.0))
    grant_lease(core, 1, 2, 3)
    assert core.handle(TimePassed(), make_time(4.9)) == []
    assert [report.id for report in list_reports(core.handle(TimePassed(), make_time(5.0)))] == [
        2,
        3,
    ]
