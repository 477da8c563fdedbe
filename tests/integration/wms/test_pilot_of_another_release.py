"""Two releases work side by side: a pilot sends fields that the WMS does not know."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx

from sluice.clients.wms import WmsClient
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, TaskState
from sluice.contracts.pilots.heartbeats import Heartbeat
from sluice.contracts.pilots.leases import LeaseRequest
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.contracts.pilots.reports import AttemptReport, Report
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import allow_everybody
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.api.pilot_protocol import PilotDependencies, router
from wms.usecases.pilots.authenticate_pilots import RevokedSites

UNKNOWN = {"later": {"release": "9.9"}}
API = "/api/v1/pilots"


class LaterWms(httpx.ASGITransport):
    """A WMS whose answers have fields that this release does not know."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        body = httpx.Response(200, content=await answer.aread()).json()
        return httpx.Response(answer.status_code, json=_add_unknown_fields(body))


def _add_unknown_fields(body: Any) -> Any:
    """Add an unknown field to each object."""
    if isinstance(body, list):
        return [_add_unknown_fields(each) for each in body]
    if not isinstance(body, dict):
        return body
    free = {"executable", "args", "meta"}  # these hold any names
    return UNKNOWN | {
        name: value if name in free else _add_unknown_fields(value) for name, value in body.items()
    }


def _build_app(wms: WmsFixture) -> Any:
    pilots = PilotDependencies(
        None,  # type: ignore[arg-type] # no route here asks the DMS
        None,  # type: ignore[arg-type] # nor has a job secrets
        tokens=None,
        revoked_sites=RevokedSites(wms.context.database),
    )
    app = create_app(
        "wms", [router], health=Health({}), metrics=ServiceMetrics(), provide=[wms.context, pilots]
    )
    return allow_everybody(app)


async def test_pilot_of_another_release_runs_a_job(wms: WmsFixture) -> None:
    """Its requests have unknown fields, and only those fields that are required."""
    task = await wms.add_task(make_task(), jobs=1)
    uid, now = uuid4(), datetime.now(UTC).isoformat()
    resources = {"cores": 8, "ram": 16_000, "disk": 1_000_000} | UNKNOWN
    me = {"uid": str(uid), "name": "p", "host": "h", "slots": 1, "version": "9.9"}
    transport = httpx.ASGITransport(_build_app(wms))
    async with httpx.AsyncClient(transport=transport, base_url="http://wms") as http:

        async def send(path: str, body: dict[str, Any]) -> Any:
            answer = await http.post(f"{API}{path}", json=body | UNKNOWN)
            assert answer.is_success, answer.text
            return answer.json()

        await send("", {**me, "resources": resources})
        leased = await send(f"/{uid}/lease", {"jobs": 1})
        [job] = leased["jobs"]
        token = {"id": job["id"], "attempt": job["attempt"]}
        running = [{**token, "started_at": now, **UNKNOWN}]
        assert (await send(f"/{uid}/heartbeat", {"running": running}))["lease"] > 0
        failed = {"outcome": AttemptOutcome.FAILED, "error_class": ErrorClass.TOOL_FAILED}
        report = {**token, **failed, "ended_at": now, **UNKNOWN}
        answers = (await send(f"/{uid}/report", {"reports": [report]}))["answers"]
    assert [(each["id"], each["answer"]) for each in answers] == [(job["id"], "accepted")]
    assert (await wms.status(task)).state is TaskState.ACTIVE


async def test_pilot_reads_the_answers_of_a_later_release(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=1)
    pilot = RegisterPilot(
        uid=uuid4(),
        name="p",
        host="h",
        slots=1,
        resources=NodeResources(cores=8, ram=16_000, disk=1_000_000),
        version="0",
    )
    transport = LaterWms(_build_app(wms))
    async with httpx.AsyncClient(transport=transport, base_url="http://wms") as http:
        client = WmsClient(http)
        assert (await client.register(pilot)).lease > 0
        [job] = (await client.lease(pilot.uid, LeaseRequest(jobs=1))).jobs
        assert (await client.send_heartbeat(pilot.uid, Heartbeat())).lease > 0
        report = AttemptReport(
            id=job.id,
            attempt=job.attempt,
            outcome=AttemptOutcome.FAILED,
            error_class=ErrorClass.TOOL_FAILED,
            ended_at=datetime.now(UTC),
        )
        answers = await client.report(pilot.uid, Report(reports=[report]))
    assert [each.id for each in answers.answers] == [job.id]
