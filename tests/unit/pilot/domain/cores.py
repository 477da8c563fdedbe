"""Drive the core of a pilot with events, without processes or a network."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from pilot.domain.core import PilotCore
from pilot.domain.model import (
    AttemptEnded,
    CurrentTime,
    HeartbeatAnswered,
    Instruction,
    LeaseGranted,
    PilotStarted,
    RunJob,
    SendReport,
    SlotReady,
    StopJob,
    StopReason,
)
from pilot.domain.prefetch import PrefetchPolicy
from sluice.contracts.common.states import AttemptOutcome, DeviceType, TaskMode
from sluice.contracts.data.storage_space import FullStorage
from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.contracts.jobs.needs import Needs, Resources
from sluice.contracts.pilots.heartbeats import HeartbeatAnswer
from sluice.contracts.pilots.leases import Lease, LeasedJob, PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from sluice.scheduling.fit import BOUNDLESS, NodeCapacity

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
TASK = uuid4()


def make_time(boot_time: float) -> CurrentTime:
    return CurrentTime(boot_time, EPOCH + timedelta(seconds=boot_time))


def make_task(
    uid: UUID = TASK, resources: Resources | None = None, gpu: GpuNeeds | None = None
) -> PilotTask:
    device = DeviceType.CPU if gpu is None else DeviceType.GPU
    return PilotTask(
        uid=uid,
        chain_uid=uuid4(),
        step="s",
        executable={},
        args={},
        mode=TaskMode.MAP,
        dat_in_port="f",
        outputs=[],
        log_out_uid=uuid4(),
        log_out_url="file:///logs",
        needs=Needs(resources=resources or Resources(), device_type=device, gpu=gpu),
    )


def make_lease(
    *ids: int, uid: UUID = TASK, seconds: float = 60.0, tasks: list[PilotTask] | None = None
) -> Lease:
    jobs = [LeasedJob(id=job_id, attempt=1, task_uid=uid, seq=job_id, inputs=[]) for job_id in ids]
    return Lease(seconds=seconds, jobs=jobs, tasks=[make_task(uid)] if tasks is None else tasks)


def make_attempt_ended(
    job_id: int,
    *,
    slot: int = 0,
    seconds: float = 1.0,
    outcome: AttemptOutcome = AttemptOutcome.FINISHED,
    no_space: FullStorage | None = None,
) -> AttemptEnded:
    report = AttemptReport(id=job_id, attempt=1, outcome=outcome, ended_at=EPOCH, no_space=no_space)
    return AttemptEnded(slot=slot, report=report, seconds=seconds)


def make_core(
    slots: int = 1,
    *,
    policy: PrefetchPolicy | None = None,
    node: NodeCapacity = BOUNDLESS,
) -> PilotCore:
    """Return a core whose slots are all ready."""
    core = PilotCore(slots, policy, node, min_slots=slots)
    core.handle(PilotStarted(), make_time(0))
    for slot in range(slots):
        core.handle(SlotReady(slot), make_time(0))
    return core


def grant_lease(
    core: PilotCore, *ids: int, boot_time: float = 0.0, seconds: float = 60.0
) -> list[Instruction]:
    return core.handle(
        LeaseGranted(boot_time, make_lease(*ids, seconds=seconds)), make_time(boot_time)
    )


def send_command(
    core: PilotCore, kind: str, job_id: int, *, boot_time: float = 1.0
) -> list[Instruction]:
    answer = HeartbeatAnswer.model_validate(
        {"lease": 60.0, "commands": [{"kind": kind, "job": {"id": job_id, "attempt": 1}}]}
    )
    return core.handle(HeartbeatAnswered(boot_time, core.heartbeat(), answer), make_time(boot_time))


def list_runs(instructions: list[Instruction]) -> list[tuple[int, int]]:
    return [
        (instruction.slot, instruction.job.id)
        for instruction in instructions
        if isinstance(instruction, RunJob)
    ]


def list_reports(instructions: list[Instruction]) -> list[AttemptReport]:
    return [
        instruction.report for instruction in instructions if isinstance(instruction, SendReport)
    ]


def list_stops(instructions: list[Instruction]) -> list[tuple[int, StopReason]]:
    return [
        (instruction.token[0], instruction.reason)
        for instruction in instructions
        if isinstance(instruction, StopJob)
    ]
