"""A gateway between a pilot and the WMS that simulates an old computer.

It forwards the calls of a real, unchanged pilot. It makes each job take as long as on the simulated
computer, and applies the fault of that computer.
"""

import asyncio
import json
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from collage.computers import Fault, OldComputer
from sluice.contracts.access.access import PILOT_PROOF_HEADER, PILOT_TOKEN_HEADER
from sluice.contracts.common.states import AttemptOutcome, ReportAnswer
from sluice.text.os_errors import reason_of

#: The longest time in seconds that a lease call waits while the computer works.
_MAX_LEASE_WAIT = 2.0
_NO_JOBS = {"seconds": 1.0, "jobs": [], "tasks": []}
_CONNECTION_ERRORS = (httpx.HTTPError, OSError)

_FORWARDED_HEADERS = {"content-type", "authorization", PILOT_PROOF_HEADER.lower()}

_Token = tuple[int, int]
_Body = dict[str, Any]


@dataclass
class _Job:
    """A job of the computer.

    ``started`` and ``done_at`` are monotonic times: the lease, and the end on the simulated
    computer. ``started_at`` is the start time in heartbeats. ``is_reported``: the pilot has
    reported the job. ``revoked``: the WMS has taken the job away.
    """

    started: float
    done_at: float
    started_at: str
    is_reported: bool = False
    revoked: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Statistics:
    """The deliveries of a worker.

    ``seconds`` is the total time of its finished jobs. ``too_late`` counts reports of jobs that the
    WMS had already taken away.
    """

    finished: int = 0
    failed: int = 0
    too_late: int = 0
    seconds: float = 0.0

    @property
    def mean_seconds(self) -> float | None:
        """Return the mean seconds of finished jobs, or None without any."""
        return self.seconds / self.finished if self.finished else None


class Gateway:
    """An ASGI application in front of the WMS.

    ``late`` is the delay in seconds of the deliveries of a late computer.
    """

    def __init__(self, computer: OldComputer, wms: httpx.AsyncClient, *, late: float) -> None:
        self.computer = computer
        self._wms = wms
        self._late = late
        self._jobs: dict[_Token, _Job] = {}
        self.statistics = Statistics()
        #: Set when the computer has got a job.
        self.job_received = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a call of the pilot, and answer 503 if the WMS cannot be reached."""
        request = Request(scope, receive)
        call = request.url.path.rsplit("/", 1)[-1]
        try:
            match call:
                case "lease":
                    response = await self._lease(request)
                case "heartbeat":
                    response = await self._heartbeat(request)
                case "report":
                    response = await self._report(request)
                case _:
                    response = await self._forward(request, await request.body())
        except _CONNECTION_ERRORS as error:
            response = Response(reason_of(error), status_code=503)
        await response(scope, receive, send)

    async def _forward(self, request: Request, body: bytes) -> Response:
        answer = await self._wms.request(
            request.method,
            request.url.path,
            params=list(request.query_params.multi_items()),
            content=body,
            headers=_select_headers(request.headers, _FORWARDED_HEADERS),
            timeout=60.0,
        )
        headers = _select_headers(answer.headers, {"content-type", PILOT_TOKEN_HEADER.lower()})
        return Response(answer.content, status_code=answer.status_code, headers=headers)

    async def _lease(self, request: Request) -> Response:
        """Lease one job at a time, and none before the last one has been delivered."""
        lease_request: _Body = await request.json()
        received = time.monotonic()
        max_wait = min(float(lease_request["wait"]), _MAX_LEASE_WAIT)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), max_wait)
        if self._jobs:
            return _json_response(_NO_JOBS)
        lease_request |= {"jobs": 1, "wait": max_wait}
        if lease_request.get("free_capacity"):
            # The pilot sent this request while the job before used the capacity.
            lease_request["free_capacity"] |= {
                "free": lease_request["free_capacity"]["soon"],
                "ahead": 0,
            }
        forwarded = time.monotonic()
        answer = await self._forward(request, json.dumps(lease_request).encode())
        if answer.status_code != httpx.codes.OK:
            return answer
        lease: _Body = json.loads(bytes(answer.body))
        lease["seconds"] += forwarded - received
        for job in lease["jobs"]:
            started, started_at = time.monotonic(), datetime.now(UTC).isoformat()
            done_at = started + self.computer.job_seconds()
            self._jobs[job["id"], job["attempt"]] = _Job(started, done_at, started_at)
            self._idle.clear()
            self.job_received.set()
        return _json_response(lease)

    async def _heartbeat(self, request: Request) -> Response:
        """Forward a heartbeat that lists all jobs of the computer as running.

        The list includes jobs that the pilot has finished. A late computer lists no jobs.
        """
        heartbeat: _Body = await request.json()
        pilot_tokens = {(job["id"], job["attempt"]) for job in heartbeat["running"]}
        if self.computer.fault is Fault.LATE:
            heartbeat["running"], heartbeat["waiting"] = [], []
        else:
            heartbeat["running"] += [
                {"id": token[0], "attempt": token[1], "started_at": job.started_at}
                for token, job in self._jobs.items()
                if token not in pilot_tokens
            ]
            running_tokens = {(job["id"], job["attempt"]) for job in heartbeat["running"]}
            heartbeat["waiting"] = [
                job
                for job in heartbeat["waiting"]
                if (job["id"], job["attempt"]) not in running_tokens
            ]
        answer = await self._forward(request, json.dumps(heartbeat).encode())
        if answer.status_code == httpx.codes.OK:
            for command in json.loads(bytes(answer.body))["commands"]:
                token = command["job"]["id"], command["job"]["attempt"]
                if (job := self._jobs.get(token)) is not None:
                    job.revoked.set()
                    # The pilot will not report a job that it no longer runs.
                    if not job.is_reported and token not in pilot_tokens:
                        self._forget([token])
        return answer

    async def _report(self, request: Request) -> Response:
        """Forward a report when the computer has done the jobs."""
        report: _Body = await request.json()
        tokens = [(entry["id"], entry["attempt"]) for entry in report["reports"]]
        for token in tokens:
            await self._wait_until_done(token)
        now = datetime.now(UTC).isoformat()
        for entry in report["reports"]:
            entry["ended_at"] = now
            self._apply_fault(entry)
        body = json.dumps(report).encode()
        if self.computer.fault is Fault.GARBLED:
            await self._forward(request, body[: len(body) // 2])
        answer = await self._forward(request, body)
        if self.computer.fault is Fault.TWICE:
            answer = await self._forward(request, body)
        if answer.status_code == httpx.codes.OK:
            self._count_reports(report, json.loads(bytes(answer.body)))
            self._forget(tokens)
        return answer

    def _count_reports(self, report: _Body, answer: _Body) -> None:
        outcomes = {
            (entry["id"], entry["attempt"]): entry["outcome"] for entry in report["reports"]
        }
        for entry in answer["answers"]:
            token = entry["id"], entry["attempt"]
            job, counts = self._jobs.get(token), self.statistics
            if entry["answer"] == ReportAnswer.STALE:
                counts.too_late += 1
            elif outcomes.get(token) == AttemptOutcome.FINISHED:
                counts.finished += 1
                if job is not None:
                    counts.seconds += time.monotonic() - job.started
            else:
                counts.failed += 1

    def _forget(self, tokens: Iterable[_Token]) -> None:
        for token in tokens:
            self._jobs.pop(token, None)
        if not self._jobs:
            self._idle.set()

    async def _wait_until_done(self, token: _Token) -> None:
        """Wait until the computer has done the job.

        A silent computer waits until the WMS takes the job away.
        """
        job = self._jobs.get(token)
        if job is None:
            return
        job.is_reported = True
        remaining = job.done_at - time.monotonic()
        match self.computer.fault:
            case Fault.SILENT:
                limit = None
            case Fault.LATE:
                limit = remaining + self._late
            case _:
                limit = remaining
        with suppress(TimeoutError):
            await asyncio.wait_for(job.revoked.wait(), limit)

    def _apply_fault(self, report: _Body) -> None:
        for output in report.get("outputs", ()):
            match self.computer.fault:
                case Fault.MISSING:
                    output["name"] += ".lost"
                    output["url"] += ".lost"
                case Fault.SIZE:
                    output["size"] += 1
                case Fault.CHECKSUM:
                    output["checksum"] = "sha256:" + "0" * 64
                case _:
                    return


def _select_headers(headers: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return the headers with these names."""
    return {name: value for name, value in headers.items() if name.lower() in names}


def _json_response(body: _Body) -> Response:
    return Response(json.dumps(body), media_type="application/json")
