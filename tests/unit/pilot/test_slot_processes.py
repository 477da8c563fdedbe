"""Tests of how the pilot replaces slots that are lost or that do not obey."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from pilot.domain.core import PilotCore
from pilot.domain.model import HeartbeatAnswered, LeaseGranted, PilotStarted
from pilot.domain.prefetch import PrefetchPolicy
from pilot.folders.run_folder import RunFolder
from pilot.loops.deadlines import watch_deadlines
from pilot.reports.outbox import Outbox
from pilot.runner.protocol import RunnerSettings
from pilot.runtime import PilotRuntime, now
from pilot.slot_processes import SlotProcesses
from sluice.contracts.common.states import AttemptOutcome, AttemptPhase
from sluice.contracts.jobs.needs import Needs, Resources
from sluice.contracts.pilots.heartbeats import Command, HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken, Lease
from sluice.scheduling.fit import NodeCapacity
from tests.unit.pilot.builders import (
    SHA,
    answer_without_secrets,
    make_file_remover,
    make_job,
    make_task,
    make_tool,
    write_input,
)
from tests.unit.pilot.slot_runner import has_ended
from tests.waiting import Gate, eventually


class BrokenSlots(SlotProcesses):
    """Slot processes whose first two starts fail, as if the server had just died."""

    def __init__(self) -> None:
        self.request_count = 0
        self.started = asyncio.Event()

    async def start_slot(self, slot: int) -> None:
        self.request_count += 1
        if self.request_count < 3:
            raise BrokenPipeError(32, "Broken pipe")
        self.started.set()


async def test_start_of_a_slot_is_retried_after_an_error(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.make()
    slot_processes = BrokenSlots()
    agent = PilotRuntime(
        PilotCore(1),
        slot_processes,
        Outbox(run.journals, make_file_remover()),
        run,
        request_secrets=answer_without_secrets,
    )
    agent.tell(PilotStarted())
    async with asyncio.timeout(20):
        await slot_processes.started.wait()
    assert slot_processes.request_count == 3


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.make()
    return run


@pytest.fixture
def outbox(run: RunFolder) -> Outbox:
    return Outbox(run.journals, make_file_remover())


@pytest.fixture
async def agent(run: RunFolder, outbox: Outbox) -> AsyncIterator[PilotRuntime]:
    """Start a pilot with real slots, of which one always stays, and with short timeouts."""
    settings = RunnerSettings(pilot="tester", run_folder=str(run.path), grace=0.2)
    slot_processes = SlotProcesses(settings, environment=[], inherit=[], reap=False)
    policy = PrefetchPolicy(grace=0.2, patience=0.5, return_after=600.0, keep_idle=0.3)
    core = PilotCore(2, policy, NodeCapacity.of(1.0, 8000))
    agent = PilotRuntime(core, slot_processes, outbox, run, request_secrets=answer_without_secrets)
    await agent.start()
    watching = asyncio.create_task(watch_deadlines(agent))
    yield agent
    watching.cancel()
    slots = list_slots(run)
    await slot_processes.stop()
    for slot in slots:
        with suppress(psutil.NoSuchProcess):  # The slot has ended as it should.
            slot.kill()


@pytest.mark.in_the_open("its tool waits at a gate that no sandbox shows")
async def test_slot_that_ignores_a_stop_is_replaced_and_runs_the_next_job(
    agent: PilotRuntime, outbox: Outbox, run: RunFolder, root: Path
) -> None:
    gate = Gate(run.path / "go")
    stuck, after = make_task(root, make_tool(["cat", str(gate)])), make_task(root, SHA)
    file = write_input(root / "in" / "a.dat")
    jobs = [make_job(stuck, [file], job_id=1), make_job(after, [file], job_id=2)]
    agent.tell(LeaseGranted(now().boot_time, Lease(seconds=600.0, jobs=jobs, tasks=[stuck, after])))
    await eventually(lambda: get_phase(agent) is AttemptPhase.RUN)
    (slot,) = list_slots(run)
    slot.suspend()
    cancel = Command(kind="cancel", job=JobToken(id=1, attempt=1))
    answer = HeartbeatAnswer(lease=600.0, commands=[cancel])
    agent.tell(HeartbeatAnswered(now().boot_time, agent.heartbeat(), answer))
    await eventually(lambda: has_ended(slot.pid), what="the slot that does not obey is gone")
    await eventually(lambda: agent.core.idle)
    await eventually(lambda: len(outbox.next_batch()) == 2)
    gate.open()
    first, second = sorted(outbox.next_batch(), key=lambda report: report.id)
    assert "did not stop it when it was told to, and was killed" in first.message
    assert second.outcome is AttemptOutcome.FINISHED, second.message


async def test_slots_start_on_demand_and_are_removed_when_idle(
    agent: PilotRuntime, outbox: Outbox, run: RunFolder, root: Path
) -> None:
    half = Needs(resources=Resources(cores=0.5))
    small = make_task(root, SHA).model_copy(update={"needs": half})
    file = write_input(root / "in" / "a.dat")
    jobs = [make_job(small, [file], job_id=number) for number in (1, 2)]
    await eventually(lambda: len(list_slots(run)) == 1)
    for reported in (2, 4):  # The number of a removed slot is used again.
        agent.tell(LeaseGranted(now().boot_time, Lease(seconds=600.0, jobs=jobs, tasks=[small])))
        assert len(agent.core.slots) == 2
        await eventually(partial(has_reported, outbox, reported))
        await eventually(lambda: len(list_slots(run)) == 1)
        await eventually(lambda: len(agent.core.slots) == 1)
        jobs = [one.model_copy(update={"attempt": 2}) for one in jobs]
    assert {report.outcome for report in outbox.next_batch()} == {AttemptOutcome.FINISHED}
    (remaining_slot,) = list_slots(run)
    folders = {path.name.partition("-")[0] for path in run.slots.iterdir()}
    assert (
        folders
        == {str(remaining_slot.pid)}
        == {path.name for path in run.phase_file(0).parent.iterdir()}
    )


def has_reported(outbox: Outbox, number: int) -> bool:
    return len(outbox.next_batch()) == number


def get_phase(agent: PilotRuntime) -> AttemptPhase | None:
    """Return the phase of the job that runs."""
    return next((running.phase for running in agent.heartbeat().running), None)


def list_slots(run: RunFolder) -> list[psutil.Process]:
    """Return the slots that the server of this pilot has forked."""
    children = []
    for server in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # Another server has ended.
            # The command line of a process that is ending is empty.
            if any(str(run.path) in argument for argument in server.cmdline()):
                children += server.children()
    return children
