"""Tests of the session of a pilot with a WMS of its own release and of the previous release."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

import httpx
import pytest

from pilot.version_fallback import TRY_AGAIN, VersionFallback
from pilot.wms_session import FORGOTTEN, WmsSession
from sluice.clients.wms import WmsClient
from sluice.contracts.access.access import PILOT_TOKEN_HEADER
from sluice.contracts.common.problems import Unauthenticated, Unprocessable
from sluice.contracts.common.states import AttemptPhase, ContainerEngine, SandboxKind
from sluice.contracts.jobs.resources import Amounts
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.pilots import (
    Heartbeat,
    Lease,
    LeaseRequest,
    NodeResources,
    RegisterPilot,
    Registration,
    Room,
    SignOff,
    StartedJob,
)
from sluice.pilot_access.auth import PilotAuth


class Wms:
    """The registration route of a WMS that knows the fields ``known`` and refuses others, as every
    contract does."""

    def __init__(self, known: set[str]) -> None:
        self.bodies: list[dict[str, object]] = []
        self._known = known

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        assert len(self.bodies) <= 2, f"too many registrations: {self.bodies}"
        if unknown := body.keys() - self._known:
            problem = {
                "type": "urn:sluice:problem:unprocessable",
                "title": "x",
                "status": 422,
                "detail": f"{unknown}",
            }
            return httpx.Response(
                422, json=problem, headers={"content-type": "application/problem+json"}
            )
        return httpx.Response(200, json=Registration(heartbeat=1.0, lease=5.0).model_dump())


BEFORE = {"uid", "name", "host", "slots", "resources", "version"}


@pytest.mark.parametrize(
    ("engines", "sandbox", "asked"),
    [
        ([], SandboxKind.NONE, 1),
        ([ContainerEngine.PODMAN], SandboxKind.NONE, 2),
        ([], SandboxKind.NAMESPACES, 2),
    ],
)
async def test_registration_at_the_previous_release_has_only_the_fields_that_it_knows(
    engines: list[ContainerEngine], sandbox: SandboxKind, asked: int
) -> None:
    wms = Wms(BEFORE)
    resources = NodeResources(cores=1, ram=1024, disk=1024)
    pilot = RegisterPilot(
        uid=uuid4(),
        name="node-1",
        host="node",
        slots=1,
        resources=resources,
        version="1",
        engines=engines,
        sandbox=sandbox,
    )
    async with httpx.AsyncClient(base_url="http://wms", transport=httpx.MockTransport(wms)) as http:
        session = WmsSession(WmsClient(http), pilot)
        await session.register()
    assert (session.times, session.registration.lease) == (1, 5.0)
    assert wms.bodies[-1].keys() == BEFORE
    assert len(wms.bodies) == asked


async def test_phases_are_left_out_of_heartbeats_that_the_wms_refuses() -> None:
    """The previous release refuses the first heartbeat with phases and gets no more of them."""
    jobs: list[dict[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        jobs.extend(json.loads(request.content)["running"])
        known = {"id", "attempt", "started_at"}
        return (
            httpx.Response(200, json={"lease": 5.0})
            if jobs[-1].keys() == known
            else httpx.Response(422)
        )

    resources = NodeResources(cores=1, ram=1024, disk=1024)
    pilot = RegisterPilot(
        uid=uuid4(), name="n", host="h", slots=1, resources=resources, version="1"
    )
    started = StartedJob(
        id=1, attempt=1, started_at=datetime.now(UTC), phase=AttemptPhase.STAGE_OUT, bytes=3
    )
    async with httpx.AsyncClient(
        base_url="http://wms", transport=httpx.MockTransport(answer)
    ) as http:
        session = WmsSession(WmsClient(http), pilot)
        for _ in range(2):
            assert (await session.heartbeat(Heartbeat(running=[started]))).lease == 5.0
    assert [job.get("phase") for job in jobs] == ["stage_out", None, None]


async def test_room_is_left_out_of_lease_requests_that_the_wms_refuses() -> None:
    asked: list[dict[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        return httpx.Response(
            422 if "room" in asked[-1] else 200,
            json=Lease(seconds=5.0, jobs=[], tasks=[]).model_dump(),
        )

    free = Amounts(cores=1, ram=1024)
    request = LeaseRequest(jobs=1, room=Room(free=free, soon=free))
    resources = NodeResources(cores=1, ram=1024, disk=1024)
    pilot = RegisterPilot(
        uid=uuid4(), name="n", host="h", slots=1, resources=resources, version="1"
    )
    async with httpx.AsyncClient(
        base_url="http://wms", transport=httpx.MockTransport(answer)
    ) as http:
        session = WmsSession(WmsClient(http), pilot)
        for _ in range(2):
            assert (await session.lease(request)).seconds == 5.0
    assert ["room" in body for body in asked] == [True, False, False]


FREE = Amounts(cores=1, ram=1024)
TOOL = WarmWorkerState(kind="a", step="ocr", since=datetime.now(UTC))
STARTED = StartedJob(id=1, attempt=1, started_at=datetime.now(UTC), phase=AttemptPhase.RUN)


class OlderWms:
    """A WMS that refuses requests with the fields ``unknown``; ``phase`` is a field of running
    jobs. ``asked`` has the fields of each request."""

    def __init__(self, *unknown: str) -> None:
        self.unknown = {*unknown}
        self.asked: list[set[str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        said = {*body} & {"loaded", "room"}
        if any("phase" in job for job in body.get("running", ())):
            said.add("phase")
        self.asked.append(said)
        if said & self.unknown:
            return httpx.Response(422)
        lease = Lease(seconds=5.0, jobs=[], tasks=[]).model_dump()
        return httpx.Response(200, json={"lease": 5.0} if "running" in body else lease)


@pytest.mark.parametrize(
    ("unknown", "taken"),
    [((), {"loaded", "phase"}), (("loaded",), {"phase"}), (("loaded", "phase"), set())],
)
async def test_heartbeat_lists_warm_workers_if_the_wms_knows_the_field(
    unknown: tuple[str, ...], taken: set[str]
) -> None:
    """Heartbeats renew the leases in each case."""
    wms = OlderWms(*unknown)
    async with sessions(wms) as session:
        for _ in range(2):
            answer = await session.heartbeat(Heartbeat(running=[STARTED], loaded=[TOOL]))
            assert answer.lease == 5.0
    assert wms.asked[-2:] == [taken, taken]
    assert len(wms.asked) == 2 + len(unknown)


@pytest.mark.parametrize(
    ("unknown", "taken"),
    [((), {"loaded", "room"}), (("loaded",), {"room"}), (("loaded", "room"), set())],
)
async def test_lease_request_lists_warm_workers_if_the_wms_knows_the_field(
    unknown: tuple[str, ...], taken: set[str]
) -> None:
    wms = OlderWms(*unknown)
    request = LeaseRequest(jobs=1, room=Room(free=FREE, soon=FREE), loaded=["a"])
    async with sessions(wms) as session:
        for _ in range(2):
            assert (await session.lease(request)).seconds == 5.0
    assert wms.asked[-2:] == [taken, taken]
    assert len(wms.asked) == 2 + len(unknown)


async def test_refused_fields_are_sent_again_after_a_while_and_to_another_wms() -> None:
    now = 0.0
    wms, understood = OlderWms("loaded"), VersionFallback(lambda: now)
    async with sessions(wms) as session:
        call = partial(session.client.heartbeat, session.pilot.uid)
        forms = [Heartbeat(loaded=[TOOL]), Heartbeat()]
        for now in (0.0, TRY_AGAIN - 1, TRY_AGAIN, TRY_AGAIN + 1):  # noqa: B007 - the clock reads it
            await understood.send(call, forms)
        assert wms.asked == [{"loaded"}, set(), set(), {"loaded"}, set(), set()]
        understood.forget()
        wms.unknown.clear()
        await understood.send(call, forms)
        assert wms.asked[-1] == {"loaded"}


async def test_request_that_is_refused_in_every_form_raises() -> None:
    async with sessions(lambda _: httpx.Response(422)) as session:
        with pytest.raises(Unprocessable):
            await session.heartbeat(Heartbeat(loaded=[TOOL]))


@asynccontextmanager
async def sessions(wms: Callable[[httpx.Request], httpx.Response]) -> AsyncIterator[WmsSession]:
    resources = NodeResources(cores=1, ram=1024, disk=1024)
    pilot = RegisterPilot(
        uid=uuid4(), name="n", host="h", slots=1, resources=resources, version="1"
    )
    async with httpx.AsyncClient(base_url="http://wms", transport=httpx.MockTransport(wms)) as http:
        yield WmsSession(WmsClient(http), pilot)


async def test_registration_at_this_release_has_the_engines_and_the_sandbox() -> None:
    wms = Wms({*RegisterPilot.model_fields})
    resources = NodeResources(cores=1, ram=1024, disk=1024)
    pilot = RegisterPilot(
        uid=uuid4(),
        name="n",
        host="h",
        slots=1,
        resources=resources,
        version="1",
        engines=[ContainerEngine.DOCKER],
        sandbox=SandboxKind.NAMESPACES,
    )
    async with httpx.AsyncClient(base_url="http://wms", transport=httpx.MockTransport(wms)) as http:
        await WmsSession(WmsClient(http), pilot).register()
    [body] = wms.bodies
    assert RegisterPilot.model_validate(body) == pilot


async def test_requests_for_an_earlier_start_use_the_token_of_that_start() -> None:
    """The token of the current start is valid for the current start alone."""
    asked: list[tuple[str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, request.headers.get("authorization")))
        if request.url.path.endswith("/pilots"):
            uid = json.loads(request.content)["uid"]
            return httpx.Response(
                200,
                json={"heartbeat": 1.0, "lease": 5.0},
                headers={PILOT_TOKEN_HEADER: f"of {uid}"},
            )
        return httpx.Response(204)

    def connect() -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url="http://wms", transport=httpx.MockTransport(answer), auth=PilotAuth(None)
        )

    earlier, resources = uuid4(), NodeResources(cores=1, ram=1024, disk=1024)
    pilot = RegisterPilot(
        uid=uuid4(), name="n", host="h", slots=1, resources=resources, version="1"
    )
    async with connect() as http:
        session = WmsSession(WmsClient(http), pilot, connect=connect)
        await session.register()
        async with session.in_the_name_of(earlier) as client:
            await client.sign_off(earlier, SignOff())
        await session.client.sign_off(pilot.uid, SignOff())

    assert asked[1:] == [
        ("/api/v1/pilots", None),
        (f"/api/v1/pilots/{earlier}/sign-off", f"Bearer of {earlier}"),
        (f"/api/v1/pilots/{pilot.uid}/sign-off", f"Bearer of {pilot.uid}"),
    ]


async def test_without_authentication_an_earlier_start_is_not_registered_again() -> None:
    wms = Wms({*RegisterPilot.model_fields})
    async with sessions(wms) as session, session.in_the_name_of(uuid4()) as client:
        assert client is session.client
    assert wms.bodies == []


async def test_pilot_with_an_unknown_token_registers_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It registers at most once a second if the WMS keeps refusing the token."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    assert Unauthenticated in FORGOTTEN
    wms = Wms({*RegisterPilot.model_fields})
    async with sessions(wms) as session:
        await session.register()
        await session.register_again(session.times)
    assert len(wms.bodies) == 2
    assert slept[0] == 0
    assert 0.5 < slept[1] <= 1
