"""A scripted WMS for the pilot's protocol: outages, stale answers, lost leases, odd commands.

It speaks the contracts over real HTTP. Its only state is what tests inspect.
"""

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import closing
from uuid import UUID

import uvicorn
from fastapi import APIRouter, FastAPI

from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.common.states import AttemptOutcome, ReportAnswer
from sluice.contracts.pilots.heartbeats import Command, Heartbeat, HeartbeatAnswer
from sluice.contracts.pilots.leases import Lease, LeasedJob, LeaseRequest, PilotTask
from sluice.contracts.pilots.output_files import StorageUrls
from sluice.contracts.pilots.registration import RegisterPilot, Registration, SignOff
from sluice.contracts.pilots.reports import AnsweredReport, AttemptReport, Report, ReportAnswers
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all
from tests.waiting import eventually


class ScriptedWms:
    """A WMS that answers as a test says.

    ``answer`` decides on each report, and ``ended`` whether its job has ended. By default the first
    report on a leased attempt is accepted, and a job has ended when it has finished. ``silent`` has
    the calls that get status 503. If ``is_pilot_forgotten`` is set, calls get 404 until a pilot
    registers. ``storages`` starts with the storages that its tasks write to.
    """

    def __init__(self, *, heartbeat: float = 0.5, lease: float = 30.0) -> None:
        self.heartbeat_seconds = heartbeat
        self.lease_seconds = lease
        self.tasks: dict[UUID, PilotTask] = {}
        self.ready_jobs: list[LeasedJob] = []
        self.leased_jobs: list[LeasedJob] = []
        self.registrations: list[RegisterPilot] = []
        self.lease_requests: list[LeaseRequest] = []
        self.heartbeats: list[Heartbeat] = []
        self.commands: list[Command] = []
        self.reports: list[tuple[UUID, AttemptReport]] = []
        self.report_sizes: list[int] = []
        self.sign_offs: list[tuple[UUID, SignOff]] = []
        self.storages: set[str] = set()
        self.silent: set[str] = set()
        self.is_pilot_forgotten = False
        self.drain = False
        self.answer: Callable[[AttemptReport], ReportAnswer] = self._settle
        self.ended: Callable[[AttemptReport], bool] = self._has_ended
        self.port = _free_port()
        #: The pilots that have registered.
        self.known: set[UUID] = set()
        self._gone: set[UUID] = set()
        self._settled: dict[tuple[int, int], AttemptOutcome] = {}
        self._wake = asyncio.Event()
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add_jobs(self, task: PilotTask, jobs: list[LeasedJob]) -> None:
        self.tasks[task.uid] = task
        self.storages |= {output.dat_stor_url for output in task.outputs}
        self.ready_jobs += jobs
        self._wake.set()

    def find_report(self, job_id: int) -> AttemptReport | None:
        return next((report for _, report in self.reports if report.id == job_id), None)

    async def start(self) -> None:
        config = uvicorn.Config(
            self.app(), host="127.0.0.1", port=self.port, log_level="error", lifespan="off"
        )
        self._server = uvicorn.Server(config)
        self._server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        self._serving = asyncio.create_task(self._server.serve())
        await wait_for(lambda: self._server is not None and self._server.started)

    async def stop(self) -> None:
        """Close the connections, as a crash does."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            self._server.force_exit = True
            self._wake.set()
            await self._serving
            self._server = None

    def app(self) -> FastAPI:
        router = open_to_all(self._router())
        return create_app("wms", [router], health=Health({}), metrics=ServiceMetrics())

    def _check(self, call: str, uid: UUID) -> None:
        if call in self.silent:
            raise NotAvailable("the script says so")
        if call != "register" and (self.is_pilot_forgotten or uid not in self.known):
            raise NotFound(f"pilot {uid} has not registered", pilot=uid)

    def _settle(self, report: AttemptReport) -> ReportAnswer:
        attempt = (report.id, report.attempt)
        if attempt in self._settled:
            return ReportAnswer.ALREADY
        if attempt not in {(job.id, job.attempt) for job in self.leased_jobs}:
            return ReportAnswer.STALE
        self._settled[attempt] = report.outcome
        return ReportAnswer.ACCEPTED

    def _has_ended(self, report: AttemptReport) -> bool:
        return report.checkpoint is not None and AttemptOutcome.FINISHED in {
            outcome for (job, _), outcome in self._settled.items() if job == report.id
        }

    def _router(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1/pilots")

        @router.post("")
        async def register(pilot: RegisterPilot) -> Registration:
            self._check("register", pilot.uid)
            self.registrations.append(pilot)
            self.is_pilot_forgotten = False
            self.known.add(pilot.uid)
            self._gone.discard(pilot.uid)
            return Registration(heartbeat=self.heartbeat_seconds, lease=self.lease_seconds)

        @router.post("/{uid}/lease")
        async def lease(uid: UUID, request: LeaseRequest) -> Lease:
            self._check("lease", uid)
            self.lease_requests.append(request)
            return await self._lease(uid, request)

        @router.post("/{uid}/heartbeat")
        async def heartbeat(uid: UUID, heartbeat: Heartbeat) -> HeartbeatAnswer:
            self._check("heartbeat", uid)
            self.heartbeats.append(heartbeat)
            confirmed = {(job.id, job.attempt) for job in heartbeat.confirmed}
            self.commands = [
                one for one in self.commands if (one.job.id, one.job.attempt) not in confirmed
            ]
            return HeartbeatAnswer(
                lease=self.lease_seconds, commands=self.commands, drain=self._drains(uid)
            )

        @router.post("/{uid}/report")
        async def report(uid: UUID, report: Report) -> ReportAnswers:
            self._check("report", uid)
            self.report_sizes.append(len(report.reports))
            self.reports += [(uid, one) for one in report.reports]
            answers = [
                AnsweredReport(
                    id=one.id, attempt=one.attempt, answer=self.answer(one), ended=self.ended(one)
                )
                for one in report.reports
            ]
            return ReportAnswers(answers=answers)

        @router.get("/{uid}/storages")
        async def storages(uid: UUID) -> StorageUrls:
            self._check("storages", uid)
            return StorageUrls(urls=sorted(self.storages))

        @router.post("/{uid}/sign-off", status_code=204)
        async def sign_off(uid: UUID, sign_off: SignOff) -> None:
            self._check("sign-off", uid)
            self.sign_offs.append((uid, sign_off))
            self._gone.add(uid)

        return router

    def _drains(self, uid: UUID) -> bool:
        return self.drain or uid in self._gone

    async def _lease(self, uid: UUID, request: LeaseRequest) -> Lease:
        if self._drains(uid):
            return Lease(seconds=self.lease_seconds, jobs=[], tasks=[], drain=True)
        started = time.monotonic()
        self._wake.clear()
        if not self.ready_jobs and request.wait:
            try:
                async with asyncio.timeout(request.wait):
                    await self._wake.wait()
            except TimeoutError:
                pass
        jobs, self.ready_jobs = self.ready_jobs[: request.jobs], self.ready_jobs[request.jobs :]
        self.leased_jobs += jobs
        needed = {job.task_uid for job in jobs} - set(request.known_tasks)
        return Lease(
            seconds=self.lease_seconds + time.monotonic() - started,
            jobs=jobs,
            tasks=[self.tasks[uid] for uid in needed],
        )


async def wait_for(condition: Callable[[], object], *, seconds: float = 20.0) -> None:
    """Wait for a condition."""
    await eventually(condition, seconds=seconds)


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
