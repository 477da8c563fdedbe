"""Invariants 2, 3, 5 and 7 hold with two instances and several pilots in any order of events."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import (
    AttemptOutcome,
    ErrorClass,
    JobState,
    PilotState,
    ReportAnswer,
    TaskState,
)
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.leases import JobToken
from sluice.contracts.templates.plan import Boundary
from sluice.servicekit.database import Database
from tests.draws import count_examples
from tests.integration.wms.conftest import RULES
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.context import WmsContext
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.reports.retry_task import retry_task
from wms.usecases.tasks.cancel_task import cancel_task

PILOTS = 3
BOUNDARIES = [
    Boundary(),
    Boundary(minimum=0.5, sufficient=0.8),
    Boundary(minimum=0.0, sufficient=1.0),
    Boundary(minimum=0.9, sufficient=0.9),
]
ERRORS = [
    ErrorClass.TOOL_FAILED,
    ErrorClass.TOOL_REFUSED,
    ErrorClass.STAGE_IN_FAILED,
    ErrorClass.INTERNAL,
]

at = st.integers(0, 1)
pilots = st.integers(0, PILOTS - 1)
picks = st.lists(st.integers(0, 1000), min_size=1, max_size=4)
outcomes = st.sampled_from(
    [
        AttemptOutcome.FINISHED,
        AttemptOutcome.FINISHED,
        AttemptOutcome.FAILED,
        AttemptOutcome.CANCELED,
    ]
)
errors = st.sampled_from(ERRORS)


class Interleaving(RuleBasedStateMachine):
    """``history`` has every job that a pilot was given, for late and repeated reports."""

    runner: asyncio.Runner
    instances: Sequence[WmsFixture]

    def __init__(self) -> None:
        super().__init__()
        self.tasks: list[Task] = []
        self.ended: dict[UUID, TaskState] = {}
        self.pilots: list[UUID] = []
        self.history: dict[int, list[ClaimedJob]] = {number: [] for number in range(PILOTS)}
        self.winners: Counter[tuple[UUID, int]] = Counter()

    def run_concurrently(self, *work: Awaitable[Any]) -> list[Any]:
        """Run the coroutines concurrently. They may fail with a conflict, as a route may."""

        async def run_all() -> list[Any]:
            return await asyncio.gather(*work, return_exceptions=True)

        results = self.runner.run(run_all())
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, Conflict):
                raise result
        return results

    @initialize()
    def start_instances(self) -> None:
        wms = self.instances[0]
        self.run_concurrently(
            wms.execute(
                "TRUNCATE tasks, jobs, attempts, duplicate_attempts, storage_waits, pilots, outbox,"
                " inbox"
            )
        )
        self.pilots = self.run_concurrently(*(wms.add_pilot() for _ in range(PILOTS)))

    @rule(
        jobs=st.integers(1, 6),
        boundary=st.sampled_from(BOUNDARIES),
        retry=st.integers(1, 2),
        rank=st.integers(0, 2),
    )
    def add_task(self, jobs: int, boundary: Boundary, retry: int, rank: int) -> None:
        task = make_task(boundary=boundary, retry=retry, rank=rank)
        self.tasks += self.run_concurrently(self.instances[0].add_task(task, jobs=jobs))

    @rule(at=at, pilot=pilots, jobs=st.integers(1, 5))
    def lease(self, at: int, pilot: int, jobs: int) -> None:
        (leased_jobs,) = self.run_concurrently(self.instances[at].lease(self.pilots[pilot], jobs))
        self.history[pilot] += leased_jobs

    @rule(at=at, pilot=pilots, picks=picks)
    def start_duplicate(self, at: int, pilot: int, picks: list[int]) -> None:
        """Begin duplicate attempts at jobs that another pilot runs."""
        other, wms = (pilot + 1) % PILOTS, self.instances[at]
        jobs = self._pick(other, picks)
        self.run_concurrently(wms.send_heartbeat(self.pilots[other], running=jobs))
        leased_jobs = self.run_concurrently(
            *(wms.start_duplicate(self.pilots[pilot], job) for job in jobs)
        )
        self.history[pilot] += [job for job in leased_jobs if job is not None]

    @rule(jobs=st.integers(1, 5))
    def lease_all_at_once(self, jobs: int) -> None:
        leased_jobs = self.run_concurrently(
            *(self.instances[n % 2].lease(pilot, jobs) for n, pilot in enumerate(self.pilots))
        )
        ids = [(job.id, job.attempt) for part in leased_jobs for job in part]
        assert len(ids) == len(set(ids))
        for pilot, part in enumerate(leased_jobs):
            self.history[pilot] += part

    @rule(at=at, pilot=pilots, picks=picks, outcome=outcomes, error=errors, times=st.integers(1, 3))
    def report(  # any job of its history, perhaps concurrently
        self,
        *,
        at: int,
        pilot: int,
        picks: list[int],
        outcome: AttemptOutcome,
        error: ErrorClass,
        times: int,
    ) -> None:
        jobs = self._pick(pilot, picks)
        reports = [
            self.instances[0].make_report(
                job, outcome, error=error if outcome is AttemptOutcome.FAILED else None
            )
            for job in jobs
        ]
        if not jobs:
            return
        answers = self.run_concurrently(
            *(
                self.instances[(at + n) % 2].report(self.pilots[pilot], *reports)
                for n in range(times)
            )
        )
        for number, job in enumerate(jobs):
            accepted = sum(answer[number] is ReportAnswer.ACCEPTED for answer in answers)
            assert accepted <= 1
            if accepted and outcome is AttemptOutcome.FINISHED:
                self.winners[job.task_uid, job.seq] += 1

    @rule(at=at, pilot=pilots, picks=picks)
    def report_foreign_jobs(self, at: int, pilot: int, picks: list[int]) -> None:
        other = (pilot + 1) % PILOTS
        jobs = self._pick(pilot, picks)
        if jobs:
            (answers,) = self.run_concurrently(self.instances[at].finish(self.pilots[other], *jobs))
            assert set(answers) <= {ReportAnswer.STALE}

    @rule(at=at, pilot=pilots, picks=picks)
    def heartbeat(self, at: int, pilot: int, picks: list[int]) -> None:
        self.run_concurrently(
            self.instances[at].send_heartbeat(self.pilots[pilot], running=self._pick(pilot, picks))
        )

    @rule(pilot=pilots, picks=picks)
    def leases_run_out(self, pilot: int, picks: list[int]) -> None:
        if jobs := self._pick(pilot, picks):
            self.run_concurrently(self.instances[0].backdate_leases(*jobs))
            self.run_concurrently(*(wms.expire_leases() for wms in self.instances))

    @rule(at=at, pilot=pilots, picks=picks)
    def return_jobs(self, at: int, pilot: int, picks: list[int]) -> None:
        tokens = [JobToken(id=job.id, attempt=job.attempt) for job in self._pick(pilot, picks)]
        self.run_concurrently(
            sign_off_pilot(self.instances[at].context, self.pilots[pilot], tokens)
        )
        self.run_concurrently(
            self.instances[at].execute("UPDATE pilots SET state = $1", PilotState.ACTIVE)
        )

    @precondition(lambda self: self.tasks)
    @rule(at=at, which=st.integers(0, 1000), pilot=pilots, picks=picks)
    def cancel_while_reporting(self, at: int, which: int, pilot: int, picks: list[int]) -> None:
        task = self.tasks[which % len(self.tasks)]
        jobs = self._pick(pilot, picks)
        work: list[Awaitable[Any]] = [cancel_task(self.instances[at].context, task.uid)]
        if jobs:
            work.append(self.instances[1 - at].finish(self.pilots[pilot], *jobs))
        results = self.run_concurrently(*work)
        for job, answer in zip(jobs, results[1] if jobs else [], strict=True):
            self.winners[job.task_uid, job.seq] += answer is ReportAnswer.ACCEPTED

    @precondition(lambda self: self.tasks)
    @rule(at=at, which=st.integers(0, 1000))
    def retry_jobs(self, at: int, which: int) -> None:
        self.run_concurrently(
            retry_task(self.instances[at].context, self.tasks[which % len(self.tasks)].uid)
        )

    def _pick(self, pilot: int, picks: list[int]) -> list[ClaimedJob]:
        """Return some jobs of the pilot's history, with a preference for the latest."""
        history = self.history[pilot]
        return (
            list(
                {
                    history[-1 - pick % len(history)].id: history[-1 - pick % len(history)]
                    for pick in picks
                }.values()
            )
            if history
            else []
        )

    @invariant()
    def check_all_databases(self) -> None:
        if self.pilots:
            self.runner.run(self._check_databases())

    async def _check_databases(self) -> None:
        wms = self.instances[0]
        sent = await wms.sent_messages()
        events = Counter(event.uid for event in sent.ended)
        assert await wms.count_orphaned_duplicates() == 0
        for task in self.tasks:
            status, states = await wms.status(task), await wms.states(task)
            assert {
                state: getattr(status, state) for state in JobState if getattr(status, state)
            } == dict(states)
            assert status.total == states.total()
            seqs = [seq for seq, _ in sent.files.get(task.main_output.dat_out_uid, [])]
            assert (
                len(seqs)
                == len(set(seqs))
                == status.finished
                == sum(self.winners[task.uid, seq] for seq in range(6))
            )
            if not status.state.final:
                assert task.uid not in self.ended
                assert task.main_output.dat_out_uid not in sent.close_at
                continue
            assert self.ended.setdefault(task.uid, status.state) is status.state
            assert events[task.uid] == 1
            assert status.ready + status.leased + status.running + status.quarantined == 0
            for dataset in (task.main_output.dat_out_uid, task.log_out_uid):
                assert sent.close_at[dataset] == [len(sent.files.get(dataset, []))]


@pytest.mark.hypothesis
def test_invariants_hold_under_any_interleaving(database_url: str) -> None:
    """Invariants 2, 3, 5 and 7: counts match states, and each job's outputs are sent once."""
    with asyncio.Runner() as runner:
        databases = [Database(database_url, source="wms") for _ in range(2)]

        async def start() -> None:
            for database in databases:
                await database.start()

        async def stop() -> None:
            for database in databases:
                await database.stop()

        runner.run(start())
        tasks: dict[UUID, Task] = {}
        instances = [
            WmsFixture(WmsContext(database, rules=RULES), tasks=tasks) for database in databases
        ]
        machine = type("Machine", (Interleaving,), {"runner": runner, "instances": instances})
        try:
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=count_examples(30),
                    stateful_step_count=40,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(stop())
