"""A WMS without HTTP and loops on a real database, for the tests of its use cases."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import orjson

from sluice.contracts.common.naming import log_name, output_name
from sluice.contracts.common.states import (
    AttemptOutcome,
    ContainerEngine,
    ErrorClass,
    JobState,
    ReportAnswer,
    SandboxKind,
    TaskMode,
    TaskState,
)
from sluice.contracts.jobs.gpus import Gpu
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.tasks import Task, TaskStatus
from sluice.contracts.messaging.messages import DMS_FILES, TASK_ENDED, RegisterFiles, TaskEndedEvent
from sluice.contracts.pilots.heartbeats import Heartbeat, HeartbeatAnswer, StartedJob
from sluice.contracts.pilots.leases import JobToken, LeaseRequest
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.output_files import LogFile, OutputFile
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.contracts.pilots.reports import AnsweredReport, AttemptReport
from sluice.contracts.templates.plan import Boundary, MergeGroups
from sluice.scheduling.fit import NOTHING
from sluice.servicekit.database import Database
from tests.task_fields import build_task
from wms.db.jobs.duplicate_attempts import claim_duplicate
from wms.db.jobs.leases import ClaimedJob
from wms.db.jobs.splitting import SplitClaim, SplitPlace, count_page, insert_jobs
from wms.db.pilots.pilot_times import WorkKind
from wms.db.tasks.status import get_task_status
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.context import WmsContext
from wms.usecases.leasing.expire_leases import expire_leases
from wms.usecases.leasing.lease_jobs import LeaseResult, lease_jobs
from wms.usecases.leasing.renew_leases import renew_leases
from wms.usecases.pilots.register_pilot import register_pilot
from wms.usecases.reports.attempt_end_buffer import AttemptEnd
from wms.usecases.reports.report_attempts import report_attempts
from wms.usecases.splitting.claimed_task import CLAIM_DURATION
from wms.usecases.tasks.accept_task import accept_task
from wms.usecases.times.learn_times import learn_times

CHECKSUM = "sha256:" + "0" * 64
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make_task(**changes: Any) -> Task:
    """Return a map task with one output."""
    uid = changes.pop("uid", None) or uuid4()
    plain: dict[str, Any] = {
        "uid": uid,
        "chain_uid": uuid4(),
        "step": "decode",
        "template": "t",
        "executable": {"class": "CommandLineTool"},
        "args": {"threshold": 3},
        "mode": TaskMode.MAP,
        "dat_in_uid": uuid4(),
        "dat_in_port": "frame",
        "dat_out_uid": uuid4(),
        "dat_out_port": "events",
        "dat_stor_url": "file:///store",
        "dat_out_url": f"file:///store/{uid}",
        "log_out_uid": uuid4(),
        "log_stor_url": "file:///logs",
        "log_out_url": f"file:///logs/{uid}",
        "backoff": 0.0,
        "boundary": Boundary(),
        "groups": MergeGroups(),
        "resources": Resources(),
    }
    return build_task(**{**plain, **changes})


def make_input_file(seq: int, *, size: int = 100) -> dict[str, Any]:
    name = f"frame-{seq:04}.raw"
    return {
        "seq": seq,
        "name": name,
        "size": size,
        "checksum": CHECKSUM,
        "url": f"file:///in/{name}",
        "meta": {"frame": seq},
    }


def make_draft(seq: int, files: Sequence[int]) -> JobDraft:
    """Return a job over the files with these sequence numbers."""
    return JobDraft(seq, [InputFile(**make_input_file(number)) for number in files])


@dataclass
class WmsFixture:
    """A WMS and its tasks.

    Methods such as ``lease`` act as the named pilot. ``sent_messages`` keeps the messages.
    """

    context: WmsContext
    tasks: dict[UUID, Task] = field(default_factory=dict)

    @property
    def database(self) -> Database:
        return self.context.database

    async def add_task(self, task: Task, *, jobs: int) -> Task:
        """Add an active task with its jobs by the statements of the product."""
        self.tasks[task.uid] = task
        async with self.database.transaction() as transaction:
            await accept_task(transaction, task)
        drafts = [make_draft(seq, [seq]) for seq in range(jobs)]
        await self.add_page(task, drafts, place=SplitPlace(last_seq=jobs - 1), last=True)
        self.context.signal.ready()
        return task

    async def add_page(
        self, task: Task, drafts: Sequence[JobDraft], *, place: SplitPlace, last: bool
    ) -> None:
        """Add a page of jobs as a splitter that disappears afterwards."""
        claim = SplitClaim(task.uid, uuid4(), datetime.now(UTC), TaskState.SPLITTING, SplitPlace())
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await connection.execute(
                "UPDATE tasks SET state = $2, split_token = $3, split_until = now() WHERE uid = $1",
                task.uid,
                claim.state,
                claim.token,
            )
            assert await count_page(
                connection,
                claim,
                jobs=len(drafts),
                place=place,
                last=last,
                claim_duration=CLAIM_DURATION,
            )
            await insert_jobs(connection, task.uid, drafts)

    async def add_pilot(
        self,
        *,
        name: str = "p",
        cores: float = 8,
        ram: int = 16_000,
        gpus: Sequence[str] = (),
        devices: Sequence[Gpu] = (),
        named: Mapping[str, float] = NOTHING,
        labels: Mapping[str, str] | None = None,
        disk: int = 1_000_000,
        engines: Sequence[ContainerEngine] = (),
        sandbox: SandboxKind = SandboxKind.NONE,
        uid: UUID | None = None,
    ) -> UUID:
        """Register a pilot. ``gpus`` are names of GPUs of which nothing else is known."""
        uid = uid or uuid4()
        node = NodeResources(
            cores=cores,
            ram=ram,
            disk=disk,
            named=dict(named),
            labels=dict(labels or {}),
            gpus=[*gpus, *(device.name for device in devices)],
            devices=list(devices),
        )
        pilot = RegisterPilot(
            uid=uid,
            name=name,
            host="h",
            slots=4,
            resources=node,
            version="1",
            engines=list(engines),
            sandbox=sandbox,
        )
        await register_pilot(self.context, pilot)
        return uid

    async def lease(self, pilot: UUID, jobs: int = 1, *, wait: float = 0.0) -> list[ClaimedJob]:
        return (await self.request_lease(pilot, jobs, wait=wait)).jobs

    async def request_lease(
        self, pilot: UUID, jobs: int = 1, *, wait: float = 0.0, known_tasks: Sequence[UUID] = ()
    ) -> LeaseResult:
        return await lease_jobs(
            self.context, pilot, LeaseRequest(jobs=jobs, wait=wait, known_tasks=list(known_tasks))
        )

    async def start_duplicate(
        self, pilot: UUID, job: ClaimedJob, *, max_attempts: int = 2
    ) -> ClaimedJob | None:
        """Begin a duplicate attempt without the check whether it is worthwhile."""
        async with self.database.connection() as connection:
            return await claim_duplicate(
                connection,
                JobToken(id=job.id, attempt=job.attempt),
                task=job.task_uid,
                pilot=pilot,
                lease=self.context.rules.lease_duration,
                max_attempts=max_attempts,
            )

    async def send_heartbeat(
        self,
        pilot: UUID,
        *,
        running: Sequence[ClaimedJob] = (),
        waiting: Sequence[ClaimedJob] = (),
        **progress: Any,
    ) -> HeartbeatAnswer:
        """Send a heartbeat. ``progress`` has the phase and bytes of the running jobs."""
        heartbeat = Heartbeat(
            running=[
                StartedJob(id=job.id, attempt=job.attempt, started_at=NOW, **progress)
                for job in running
            ],
            waiting=[JobToken(id=job.id, attempt=job.attempt) for job in waiting],
        )
        return await renew_leases(self.context, pilot, heartbeat)

    def make_report(
        self,
        job: ClaimedJob,
        outcome: AttemptOutcome = AttemptOutcome.FINISHED,
        *,
        error: ErrorClass | None = None,
        **changes: Any,
    ) -> AttemptReport:
        """Return a valid report with a log and, if the attempt finished, its outputs."""
        task = self.tasks[job.task_uid]
        log = log_name(job.seq, job.attempt)
        good = outcome is AttemptOutcome.FINISHED
        plain: dict[str, Any] = {
            "id": job.id,
            "attempt": job.attempt,
            "outcome": outcome,
            "started_at": NOW,
            "ended_at": NOW,
            "exit_code": 0 if good else 1,
            "error_class": error if good or error else ErrorClass.TOOL_FAILED,
            "message": "" if good else "exit code 1",
            "outputs": [
                OutputFile(
                    port=o.port, name=file, size=1, checksum=CHECKSUM, url=f"{o.dat_out_url}/{file}"
                )
                for o in task.outputs
                for file in [output_name(job.seq, job.attempt, o.port)]
                if good
            ],
            "log": LogFile(name=log, size=1, checksum=CHECKSUM, url=f"{task.log_out_url}/{log}"),
        }
        return AttemptReport(**{**plain, **changes})

    async def report(self, pilot: UUID, *reports: AttemptReport) -> list[ReportAnswer]:
        answers: list[AnsweredReport] = await report_attempts(self.context, pilot, reports)
        return [answer.answer for answer in answers]

    async def finish(self, pilot: UUID, *jobs: ClaimedJob) -> list[ReportAnswer]:
        return await self.report(pilot, *(self.make_report(job) for job in jobs))

    async def fail(
        self, pilot: UUID, *jobs: ClaimedJob, error: ErrorClass = ErrorClass.TOOL_FAILED
    ) -> list[ReportAnswer]:
        return await self.report(
            pilot, *(self.make_report(job, AttemptOutcome.FAILED, error=error) for job in jobs)
        )

    async def status(self, task: Task) -> TaskStatus:
        async with self.database.connection() as connection:
            return await get_task_status(connection, task.uid)

    async def states(self, task: Task) -> Counter[JobState]:
        async with self.database.connection() as connection:
            rows = await connection.fetch(
                "SELECT state, count(*) AS n FROM jobs WHERE task_uid = $1 GROUP BY state", task.uid
            )
        return Counter({JobState(row["state"]): row["n"] for row in rows})

    async def execute(self, sql: str, *arguments: Any) -> None:
        async with self.database.connection() as connection:
            await connection.execute(sql, *arguments)

    async def is_waiting_for_lock(self) -> bool:
        """Return whether a session of this database waits for a lock."""
        async with self.database.connection() as connection:
            waiting: int = await connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        return waiting > 0

    async def record_durations(
        self, *ends: tuple[UUID, float | None], step: str = "decode"
    ) -> None:
        """Record how long jobs of a step took on pilots. ``None`` means that they failed."""
        work = WorkKind("t", step)
        self.context.ends.add(AttemptEnd(work, pilot, seconds) for pilot, seconds in ends)
        await learn_times(self.context)

    async def backdate_start(self, *jobs: ClaimedJob, seconds: float) -> None:
        """Move the lease and the start of the jobs back by ``seconds``."""
        await self.execute(
            """UPDATE jobs SET leased_at = leased_at - make_interval(secs => $2),
                started_at = started_at - make_interval(secs => $2)
            WHERE id = ANY($1::bigint[])""",
            [job.id for job in jobs],
            seconds,
        )

    async def backdate_leases(self, *jobs: ClaimedJob) -> None:
        """Expire the leases on the jobs without waiting."""
        await self.execute(
            "UPDATE jobs SET lease_until = now() - interval '1 hour' WHERE id = ANY($1::bigint[])"
            " AND lease_until IS NOT NULL",
            [job.id for job in jobs],
        )

        await self.execute(
            """UPDATE duplicate_attempts AS s SET lease_until = now() - interval '1 hour'
            FROM unnest($1::bigint[], $2::int[]) AS n(id, attempt)
            WHERE s.job_id = n.id AND s.attempt = n.attempt AND lease_until IS NOT NULL""",
            [job.id for job in jobs],
            [job.attempt for job in jobs],
        )

    async def count_orphaned_duplicates(self) -> int:
        """Return the number of duplicate attempts at jobs that no pilot has."""
        async with self.database.connection() as connection:
            count: int = await connection.fetchval(
                """SELECT count(*) FROM duplicate_attempts AS s JOIN jobs AS j ON j.id = s.job_id
                WHERE j.lease_until IS NULL"""
            )
        return count

    async def expire_leases(self) -> None:
        while await expire_leases(self.context):
            pass

    async def sent_messages(self) -> "SentMessages":
        """Return all messages in the outbox."""
        async with self.database.connection() as connection:
            rows = await connection.fetch("SELECT destination, body FROM outbox ORDER BY id")
        sent = SentMessages()
        for row in rows:
            data = orjson.loads(row["body"])["data"]
            if row["destination"] == DMS_FILES:
                sent.add(RegisterFiles.model_validate(data))
            elif row["destination"] == TASK_ENDED:
                sent.ended.append(TaskEndedEvent.model_validate(data))
        return sent


@dataclass
class SentMessages:
    """Messages in the outbox.

    ``files`` maps a data set to the number and name of each file, with repetitions. ``close_at``
    maps a data set to all values sent.
    """

    files: dict[UUID, list[tuple[int, str]]] = field(default_factory=dict)
    close_at: dict[UUID, list[int]] = field(default_factory=dict)
    ended: list[TaskEndedEvent] = field(default_factory=list)
    messages: list[RegisterFiles] = field(default_factory=list)

    def add(self, message: RegisterFiles) -> None:
        self.messages.append(message)
        self.files.setdefault(message.dataset_uid, []).extend(
            (file.seq, file.name) for file in message.files
        )
        if message.close_at is not None:
            self.close_at.setdefault(message.dataset_uid, []).append(message.close_at)
