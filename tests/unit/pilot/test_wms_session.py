"""Tests of the session of a pilot with a WMS."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
import pytest

from pilot.wms_session import FORGOTTEN, WmsSession
from sluice.clients.wms import WmsClient
from sluice.contracts.access.access import PILOT_TOKEN_HEADER
from sluice.contracts.common.problems import Unauthenticated
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot, Registration, SignOff
from sluice.pilot_access.auth import PilotAuth


class RegistrationRoute:
    """The registration route of a WMS, which keeps the bodies of requests."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, object]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        assert len(self.bodies) <= 2, f"too many registrations: {self.bodies}"
        return httpx.Response(200, json=Registration(heartbeat=1.0, lease=5.0).model_dump())


@asynccontextmanager
async def open_session(wms: Callable[[httpx.Request], httpx.Response]) -> AsyncIterator[WmsSession]:
    resources = NodeResources(cores=1, ram=1024, disk=1024)
    pilot = RegisterPilot(
        uid=uuid4(), name="n", host="h", slots=1, resources=resources, version="1"
    )
    async with httpx.AsyncClient(base_url="http://wms", transport=httpx.MockTransport(wms)) as http:
        yield WmsSession(WmsClient(http), pilot)


async def test_requests_for_an_earlier_start_use_the_token_of_that_start() -> None:
    """The token of the current start is valid for the current start alone."""
    requests: list[tuple[str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append((request.url.path, request.headers.get("authorization")))
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
        async with session.act_as(earlier) as client:
            await client.sign_off(earlier, SignOff())
        await session.client.sign_off(pilot.uid, SignOff())

    assert requests[1:] == [
        ("/api/v1/pilots", None),
        (f"/api/v1/pilots/{earlier}/sign-off", f"Bearer of {earlier}"),
        (f"/api/v1/pilots/{pilot.uid}/sign-off", f"Bearer of {pilot.uid}"),
    ]


async def test_without_authentication_an_earlier_start_is_not_registered_again() -> None:
    wms = RegistrationRoute()
    async with open_session(wms) as session, session.act_as(uuid4()) as client:
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
    wms = RegistrationRoute()
    async with open_session(wms) as session:
        await session.register()
        await session.register_again(session.registration_count)
    assert len(wms.bodies) == 2
    assert slept[0] == 0
    assert 0.5 < slept[1] <= 1
