"""A plausible afternoon at a detector: chains that run, wait, failed or finished."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sluice.contracts.chains.chains import Chain, ChainDataset, ChainStep
from sluice.contracts.common.states import (
    AttemptOutcome,
    ChainDatasetStatus,
    ChainState,
    DatasetState,
    DatasetType,
    ErrorClass,
    JobState,
    PilotState,
    SandboxKind,
    StepState,
    StorageType,
    TaskMode,
    TaskState,
)
from sluice.contracts.data.datasets import Dataset, Storage
from sluice.contracts.jobs.tasks import Attempt, Job, TaskStatus
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.contracts.templates.plan import PlanStep
from sluice.contracts.templates.templates import Template
from tests.integration.operator.fakes.neighbours import Neighbours

#: The log of the refused job; its markup must stay text.
LOG = (
    "spd-decode: frame 17 is damaged: CRC 0x1f2e3d4c, expected 0x9a8b7c6d\n"
    "<script>document.title = 'taken'</script>\n"
)
LATER = (StepState.PENDING, StepState.STARTING)
#: State of the last step that began, by the state of its chain; otherwise the step finished.
LAST_STEP = {
    ChainState.IN_PROGRESS: StepState.IN_PROGRESS,
    ChainState.FAILED: StepState.FAILED,
}


@dataclass(frozen=True)
class Counts:
    finished: int = 0
    failed: int = 0
    running: int = 0
    ready: int = 0
    quarantined: int = 0
    total: int = 0


@dataclass
class Scene:
    neighbours: Neighbours
    template: Template
    folder: Path
    now: datetime

    def add_rows(self) -> None:
        """Prepare the whole scene."""
        self._storages()
        self._pilots()
        steps = [step.name for step in self.template.plan.steps]
        done = [
            Counts(finished=59, failed=1, total=60),
            *[Counts(finished=59, total=59)] * (len(steps) - 1),
        ]
        self.chain(
            "run-0312-frames",
            4,
            [done[0], Counts(finished=31, running=8, ready=20, total=59)],
            ChainState.IN_PROGRESS,
        )
        self.chain(
            "run-0313-frames",
            1,
            [Counts(finished=12, failed=1, quarantined=1, running=4, ready=62, total=80)],
            ChainState.IN_PROGRESS,
        )
        self.chain("run-0311-frames", 9, done, ChainState.UPLOADING)
        self.chain("run-0310-frames", 34, done, ChainState.FINISHED)
        self.chain("run-0309-frames", 51, done, ChainState.FINISHED)
        reason = (
            "step decode: 9 of 60 jobs failed permanently, the boundary allows 6 (9 × tool refused)"
        )
        self.chain(
            "run-0308-frames",
            62,
            [Counts(finished=51, failed=9, total=60)],
            ChainState.FAILED,
            reason=reason,
        )

    def chain(
        self,
        dataset: str,
        minutes: float,
        counts: list[Counts],
        state: ChainState,
        *,
        reason: str = "",
    ) -> Chain:
        """Add a chain; ``counts`` has an entry for each step that began."""
        start = self.now - timedelta(minutes=minutes)
        uid = uuid4()
        source = self.dataset(dataset, DatasetType.INPUT, files=60, size=60 * 8_400_000)
        ready = ChainDatasetStatus.READY
        datasets = [ChainDataset(uid=source.uid, name=dataset, step=None, port=None, state=ready)]
        steps: list[ChainStep] = []
        for number, planned in enumerate(self.template.plan.steps):
            if number >= len(counts):
                steps.append(
                    ChainStep(name=planned.name, state=StepState.PENDING, task_uid=uuid4())
                )
                continue
            outcome = StepState.FINISHED
            if number == len(counts) - 1:
                outcome = LAST_STEP.get(state, outcome)
            started = start + timedelta(seconds=20 * number + 1)
            failure = reason.partition(": ")[2]
            steps.append(
                self._add_started_step(
                    uid, planned, counts[number], started=started, state=outcome, reason=failure
                )
            )
            datasets += self._written(
                dataset,
                planned.name,
                planned.outputs[0].port,
                running=outcome is StepState.IN_PROGRESS,
            )
        ended_at = start + timedelta(minutes=2, seconds=14) if state.final else None
        chain = Chain(
            uid=uid,
            state=state,
            template_id=self.template.id,
            template=self.template.name,
            template_version=self.template.version,
            dataset_uid=source.uid,
            dataset_name=dataset,
            params={"run": 312, "period": "2026-autumn", "time_gap_ns": 110, "min_hits": 6},
            created_at=start,
            ended_at=ended_at,
            reason=reason,
            steps=steps,
            datasets=datasets,
        )
        self.neighbours.chains[uid] = chain
        return chain

    def _add_started_step(
        self,
        chain: UUID,
        planned: PlanStep,
        counts: Counts,
        *,
        started: datetime,
        state: StepState,
        reason: str,
    ) -> ChainStep:
        ended = None if state is StepState.IN_PROGRESS else started + timedelta(seconds=19)
        task = self.task(
            chain, planned.name, mode=planned.mode, counts=counts, started=started, ended=ended
        )
        return ChainStep(
            name=planned.name,
            state=state,
            task_uid=task.uid,
            started_at=started,
            ended_at=ended,
            reason=reason if state is StepState.FAILED else "",
        )

    def task(
        self,
        chain: UUID,
        step: str,
        *,
        mode: TaskMode,
        counts: Counts,
        started: datetime,
        ended: datetime | None,
    ) -> TaskStatus:
        errors = {ErrorClass.TOOL_REFUSED: counts.failed} if counts.failed else {}
        status = TaskStatus(
            uid=uuid4(),
            chain_uid=chain,
            step=step,
            template=self.template.name,
            mode=mode,
            rank=1.0 + counts.ready / 40,
            state=TaskState.FINISHED if ended else TaskState.ACTIVE,
            total=counts.total,
            ready=counts.ready,
            leased=0,
            running=counts.running,
            finished=counts.finished,
            failed=counts.failed,
            canceled=0,
            quarantined=counts.quarantined,
            failed_attempts=counts.failed + counts.quarantined * 5,
            created_at=started,
            started_at=started,
            ended_at=ended,
            errors=errors,
        )
        self.neighbours.tasks[status.uid] = status
        for seq in range(counts.failed):
            self.job(
                status.uid,
                17 + seq,
                JobState.FAILED,
                error=ErrorClass.TOOL_REFUSED,
                exit_code=65,
                message="the tool refused its input (exit code 65): frame 17 is damaged",
            )
        for seq in range(counts.quarantined):
            self.job(
                status.uid,
                40 + seq,
                JobState.QUARANTINED,
                error=ErrorClass.PILOT_LOST,
                exit_code=None,
                message="five pilots in a row died with it; it waits for a person",
            )
        for seq in range(min(counts.finished, 70)):
            self._well(
                status.uid, 100 + seq, JobState.FINISHED, seconds=0.4 + (seq * 37 % 100) / 10
            )
        for seq in range(counts.running):
            self._well(status.uid, 200 + seq, JobState.RUNNING)
        return status

    def _well(self, task: UUID, seq: int, state: JobState, *, seconds: float | None = None) -> None:
        """Add a job that finished or runs."""
        number = len(self.neighbours.jobs) + 1
        ended = seconds is not None
        self.neighbours.jobs[number] = Job(
            id=number,
            task_uid=task,
            seq=seq,
            state=state,
            inputs=[f"frame-{seq:04d}.raw"],
            attempt=1,
            pilot_name=f"farm-0{7 + seq % 2}",
            started_at=self.now - timedelta(seconds=12),
            seconds=seconds,
            peak_memory=80.0 + seq if ended else None,
            exit_code=0 if ended else None,
        )

    def job(
        self,
        task: UUID,
        seq: int,
        state: JobState,
        *,
        error: ErrorClass,
        exit_code: int | None,
        message: str,
    ) -> Job:
        number = len(self.neighbours.jobs) + 1
        log = self.folder / "logs" / f"{number}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(LOG)
        attempt = Attempt(
            attempt=1,
            pilot_uid="farm-07",
            leased_at=self.now,
            started_at=self.now,
            ended_at=self.now + timedelta(seconds=1.4),
            outcome=AttemptOutcome.FAILED,
            exit_code=exit_code,
            error_class=error,
            message=message,
            peak_memory=84.2,
            cpu_seconds=1.1,
            log_url=f"file://{log}",
        )
        job = Job(
            id=number,
            task_uid=task,
            seq=seq,
            state=state,
            inputs=[f"frame-{seq:04d}.raw"],
            attempt=1,
            error_class=error,
            message=message,
            attempts=[attempt],
            pilot_name=attempt.pilot_uid,
            seconds=1.4,
            peak_memory=84.2,
            exit_code=exit_code,
        )
        self.neighbours.jobs[number] = job
        return job

    def dataset(
        self,
        name: str,
        type_: DatasetType,
        *,
        files: int,
        size: int,
        state: DatasetState = DatasetState.CLOSED,
    ) -> Dataset:
        meta: dict[str, Any] = {"type": "raw", "detector": "spd", "run": 312}
        dataset = Dataset(
            uid=uuid4(),
            name=name,
            type=type_,
            state=state,
            meta=meta,
            count_files=files,
            bytes=size,
            timestamp=self.now,
            run=312,
            closed_at=self.now,
        )
        self.neighbours.datasets[dataset.uid] = dataset
        return dataset

    def _written(self, source: str, step: str, port: str, *, running: bool) -> list[ChainDataset]:
        state = (
            DatasetState.OPEN
            if running
            else DatasetState.DELETED
            if step == "decode"
            else DatasetState.CLOSED
        )
        released = ChainDatasetStatus.FINISHED if step == "decode" else ChainDatasetStatus.READY
        status = ChainDatasetStatus.IN_PROGRESS if running else released
        datasets = []
        for port_, type_ in ((port, DatasetType.INTERMEDIATE), (None, DatasetType.LOGS)):
            name = f"{source}.{step}.{port_ or 'logs'}"
            dataset = self.dataset(name, type_, files=59, size=59 * 3_100_000, state=state)
            datasets.append(
                ChainDataset(uid=dataset.uid, name=name, step=step, port=port_, state=status)
            )
        return datasets

    def _storages(self) -> None:
        url = f"file://{self.folder / 'logs'}"
        self.neighbours.storages.append(
            Storage(id=uuid4(), name="logs", type=StorageType.LOGS, url=url, enabled=True, used=0)
        )

    def _pilots(self) -> None:
        for name, state, sandbox, gpus, running, failed in (
            ("farm-07", PilotState.ACTIVE, SandboxKind.NAMESPACES, ["A2", "A2", "H200"], 8, 1),
            ("farm-08", PilotState.ACTIVE, SandboxKind.NONE, [], 4, 0),
            ("farm-03", PilotState.LOST, SandboxKind.NAMESPACES, [], 0, 2),
        ):
            self.neighbours.pilots.append(
                Pilot(
                    uid=uuid4(),
                    name=name,
                    host=f"{name}.example.org",
                    state=state,
                    sandbox=sandbox,
                    slots=8,
                    version="0.2.0",
                    running=running,
                    finished=412,
                    failed=failed,
                    resources=NodeResources(cores=8, ram=32_768, disk=200_000, gpus=gpus),
                    registered_at=self.now,
                    seen_at=self.now - timedelta(seconds=4 if state is PilotState.ACTIVE else 900),
                )
            )
