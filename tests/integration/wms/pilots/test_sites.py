"""Sites enrol pilots within their limits, and a revoked site loses all of its pilots."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from sluice.clients.wms import WmsClient
from sluice.contracts.access.access import PILOT_PROOF_HEADER, PILOT_TOKEN_HEADER
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import PilotState
from sluice.contracts.pilots.sites import SITE_TOKEN_PREFIX, NewSite
from sluice.pilot_access.key import PilotKey
from sluice.servicekit.access.authentication import Authentication
from sluice.servicekit.access.principal import ServiceCaller
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.open import open_transport
from tests.waiting import eventually
from wms.settings import WmsSettings
from wms.usecases.pilots import authenticate_pilots
from wms.wiring import build

SYSTEM_TOKEN = "a-token-of-the-system"


@dataclass
class SiteWms:
    """A WMS. ``http`` sends any token, and ``operator`` acts as the operator service."""

    http: httpx.AsyncClient
    operator: WmsClient
    database_url: str

    async def add_site(self, name: str = "cern", **options: Any) -> str:
        """Add a site and return the secret with which its pilots enrol."""
        site = await self.operator.add_site(NewSite(name=name, **options))
        return site.secret.get_secret_value()

    async def execute(self, statement: str, *values: Any) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.database_url)
        try:
            return await connection.fetch(statement, *values)
        finally:
            await connection.close()


class SitePilot:
    def __init__(self, wms: SiteWms, **resources: Any) -> None:
        self.uid = uuid4()
        self.token = ""
        self.last_answer = ""
        self._wms = wms
        self._key = PilotKey.new()
        self._resources = {"cores": 1, "ram": 1000, "disk": 1000, **resources}

    def restart(self) -> "SitePilot":
        """Return a new pilot with the same key, as if started again in the same folder."""
        again = SitePilot(self._wms, **self._resources)
        again._key = self._key
        return again

    async def register(
        self, enrolment: str, *, key: PilotKey | None = None, shows_key: bool = True
    ) -> int:
        """Register the pilot. Without ``shows_key`` it shows no key."""
        headers = {"authorization": f"Bearer {enrolment}"}
        if shows_key:
            headers[PILOT_PROOF_HEADER] = (key or self._key).proof(time.time())
        body = {
            "uid": str(self.uid),
            **{"name": "p", "host": "h", "slots": 1, "version": "1"},
            "resources": self._resources,
        }
        answer = await self._wms.http.post("/api/v1/pilots", json=body, headers=headers)
        self.token, self.last_answer = (
            answer.headers.get(PILOT_TOKEN_HEADER, self.token),
            answer.text,
        )
        return answer.status_code

    async def send_request(self, what: str, body: Any) -> int:
        answer = await self._wms.http.post(
            f"/api/v1/pilots/{self.uid}/{what}",
            json=body,
            headers={"authorization": f"Bearer {self.token}"},
        )
        self.token, self.last_answer = (
            answer.headers.get(PILOT_TOKEN_HEADER, self.token),
            answer.text,
        )
        return answer.status_code

    async def heartbeat(self) -> int:
        return await self.send_request("heartbeat", {})


@pytest.fixture
async def wms(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SiteWms]:
    monkeypatch.setattr(authenticate_pilots, "CACHE_SECONDS", 0.0)
    settings = WmsSettings(
        database_url=database_url,
        broker_url=database_url,
        pilot_keys="one that signs",
        pilot_token=SYSTEM_TOKEN,
    )
    links, transport = ProcessLinks(), open_transport(database_url, sluice_topology())
    service = build(settings, links=links, transport=transport)
    links.apps["wms"] = service.app
    guarded = Authentication(service.app, service.authenticator)
    async with (
        running(transport, service, links),
        httpx.AsyncClient(transport=httpx.ASGITransport(guarded), base_url="http://wms") as http,
    ):
        operator = WmsClient(links.http_of(ServiceCaller(CallingService.OPERATOR), "wms"))
        yield SiteWms(http, operator, database_url)


async def test_site_is_added_listed_and_revoked(wms: SiteWms) -> None:
    secret = await wms.add_site(most_pilots=3, labels=["zone"], resources=["licence"], days=2)
    assert secret.startswith(SITE_TOKEN_PREFIX)
    with pytest.raises(Conflict, match="site 'cern' already exists"):
        await wms.add_site()
    await wms.add_site("jinr")
    assert await SitePilot(wms).register(secret) == 200
    [cern, jinr] = (await wms.operator.list_sites()).sites
    assert (cern.name, cern.pilots, cern.most_pilots) == ("cern", 1, 3)
    assert (cern.labels, cern.resources) == (["zone"], ["licence"])
    assert (cern.expires_at - cern.created_at).days == 2
    assert (jinr.pilots, jinr.most_pilots, jinr.labels) == (0, None, None)

    assert (await wms.operator.revoke_site("cern")).revoked_at is not None
    with pytest.raises(NotFound, match="there is no site 'cern'"):
        await wms.operator.revoke_site("cern")
    again = await wms.add_site()
    assert again != secret
    assert [(s.name, s.revoked_at is None) for s in (await wms.operator.list_sites()).sites] == [
        ("cern", True),
        ("jinr", True),
        ("cern", False),
    ]
    rows = str(await wms.execute("SELECT * FROM sites"))
    assert secret not in rows
    assert again not in rows


async def test_pilot_of_a_site_is_accepted_until_the_site_is_revoked(wms: SiteWms) -> None:
    secret = await wms.add_site()
    own_pilot, foreign_pilot, third_pilot = SitePilot(wms), SitePilot(wms), SitePilot(wms)
    assert await own_pilot.register(secret) == 200
    assert await foreign_pilot.register(await wms.add_site("jinr")) == 200
    assert await third_pilot.register(SYSTEM_TOKEN) == 200
    assert await own_pilot.heartbeat() == 200
    assert await own_pilot.send_request("lease", {"jobs": 1, "wait": 0}) == 200

    await wms.operator.revoke_site("cern")

    for ask in (
        own_pilot.heartbeat(),
        own_pilot.send_request("lease", {"jobs": 1, "wait": 0}),
        own_pilot.send_request("report", {"reports": []}),
        own_pilot.register(secret),
        SitePilot(wms).register(secret),
    ):
        assert await ask == 401
    assert "the site cern was revoked" in own_pilot.last_answer
    await wms.add_site()
    assert await own_pilot.heartbeat() == 401, "a new site of the same name took the pilot over"
    assert await foreign_pilot.heartbeat() == 200
    assert await third_pilot.heartbeat() == 200


async def test_enrolled_pilot_stays_after_the_enrolment_has_expired(wms: SiteWms) -> None:
    """An outage may outlast the pilot's token and the enrolment."""
    secret = await wms.add_site()
    own_pilot = SitePilot(wms)
    assert await own_pilot.register(secret) == 200
    await wms.execute("UPDATE sites SET expires_at = now()")

    assert await own_pilot.heartbeat() == 200
    assert await own_pilot.register(secret) == 200
    late_pilot = SitePilot(wms)
    assert await late_pilot.register(secret) == 401
    assert "no new pilots of the site cern are accepted" in late_pilot.last_answer
    assert await own_pilot.register(secret, key=PilotKey.new()) == 401, (
        "a pilot with another key registered in its place"
    )


async def test_killed_pilot_comes_back_after_the_enrolment_has_expired(wms: SiteWms) -> None:
    """Each start has a new uid and the key of the folder, which one pilot at a time may use."""
    secret = await wms.add_site()
    own_pilot = SitePilot(wms)
    assert await own_pilot.register(secret) == 200
    await wms.execute("UPDATE sites SET expires_at = now()")

    again, third = own_pilot.restart(), own_pilot.restart()
    assert await again.register(secret) == 403
    assert "another pilot with this key may still be running" in again.last_answer
    await wms.execute("UPDATE pilots SET seen_at = now() - $1::interval", timedelta(seconds=61))
    assert await again.register(secret) == 200
    assert await again.heartbeat() == 200
    assert await third.register(secret) == 403
    assert await own_pilot.register(secret) == 200, (
        "the earlier uid cannot register for its reports"
    )


async def test_site_offers_only_allowed_labels_and_resources(wms: SiteWms) -> None:
    secret = await wms.add_site(labels=["zone"], resources=[])
    assert await SitePilot(wms, labels={"zone": "a"}).register(secret) == 200
    greedy_pilot = SitePilot(wms, labels={"zone": "a", "trusted": "yes"}, named={"licence": 5})
    assert await greedy_pilot.register(secret) == 403
    assert "its site may not offer the label trusted" in greedy_pilot.last_answer
    assert "its site may not offer the resource licence" in greedy_pilot.last_answer
    assert await greedy_pilot.register(SYSTEM_TOKEN) == 200


async def test_site_has_at_most_its_number_of_pilots(wms: SiteWms) -> None:
    secret = await wms.add_site(most_pilots=2)
    first, second, third = (SitePilot(wms) for _ in range(3))
    assert [await pilot.register(secret) for pilot in (first, second, third)] == [200, 200, 403]
    assert "it may have at most 2 pilots at a time, and has 2" in third.last_answer
    assert await second.register(secret) == 200, "a registered pilot cannot register again"
    assert await first.send_request("sign-off", {"returned": []}) == 204
    assert await third.register(secret) == 200
    assert await first.register(secret) == 403


async def test_concurrent_registrations_do_not_exceed_the_limit_of_a_site(wms: SiteWms) -> None:
    secret = await wms.add_site(most_pilots=2)
    answers = await asyncio.gather(*(SitePilot(wms).register(secret) for _ in range(16)))
    assert sorted(answers) == [200] * 2 + [403] * 14
    [cern] = (await wms.operator.list_sites()).sites
    assert cern.pilots == 2


async def test_lost_pilot_of_a_full_site_loses_its_place(wms: SiteWms) -> None:
    secret = await wms.add_site(most_pilots=1)
    first, second, third_pilot = SitePilot(wms), SitePilot(wms), SitePilot(wms)
    assert await first.register(secret) == 200
    assert await third_pilot.register(SYSTEM_TOKEN) == 200
    await wms.execute("UPDATE pilots SET state = $1", PilotState.LOST)
    assert await second.register(secret) == 200
    assert [await first.heartbeat(), await first.register(secret)] == [404, 403]
    assert await third_pilot.heartbeat() == 200


async def test_waiting_lease_request_gets_no_job_after_its_site_is_revoked(wms: SiteWms) -> None:
    secret = await wms.add_site()
    own_pilot = SitePilot(wms)
    assert await own_pilot.register(secret) == 200
    waiting = asyncio.create_task(own_pilot.send_request("lease", {"jobs": 1, "wait": 60}))
    await eventually(partial(_has_request_arrived, wms), what="the request waits")
    await wms.operator.revoke_site("cern")
    async with asyncio.timeout(30):
        assert await waiting == 200
    assert '"jobs":[]' in own_pilot.last_answer


async def _has_request_arrived(wms: SiteWms) -> bool:
    """Return whether the request of the only pilot has arrived."""
    [row] = await wms.execute("SELECT seen_at > registered_at AS seen FROM pilots")
    return bool(row["seen"])


async def test_pilot_without_a_key_is_not_enrolled(wms: SiteWms) -> None:
    secret = await wms.add_site()
    for token in (secret, SYSTEM_TOKEN):
        assert await SitePilot(wms).register(token, shows_key=False) == 401


@pytest.mark.parametrize("made_up", ["sluice-site_made-up", "sluice-site_", "x" * 5000])
async def test_invalid_site_token_enrols_no_pilot(wms: SiteWms, made_up: str) -> None:
    await wms.add_site()
    assert await SitePilot(wms).register(made_up) == 401


async def test_pilot_is_recorded_with_its_site_and_others_cannot_use_its_token(
    wms: SiteWms,
) -> None:
    secret = await wms.add_site()
    own_pilot = SitePilot(wms)
    await own_pilot.register(secret)
    [row] = await wms.execute("SELECT uid, site FROM pilots")
    [site] = await wms.execute("SELECT uid FROM sites")
    assert (UUID(str(row["uid"])), row["site"]) == (own_pilot.uid, site["uid"])
    other_pilot = SitePilot(wms)
    other_pilot.token = own_pilot.token
    assert await other_pilot.heartbeat() == 403


async def test_identity_of_a_pilot_contains_its_site(wms: SiteWms) -> None:
    """Statistics go by name and host, which a pilot chooses itself."""
    own_pilot, foreign_pilot, third_pilot = (SitePilot(wms) for _ in range(3))
    assert await third_pilot.register(SYSTEM_TOKEN) == 200
    await wms.execute("UPDATE pilots SET state = $1", PilotState.LOST)
    assert await own_pilot.register(await wms.add_site()) == 200
    assert await foreign_pilot.register(await wms.add_site("jinr")) == 200
    rows = await wms.execute("SELECT uid, name, host, started_again FROM pilots")
    assert {row["uid"]: (row["name"], row["host"], row["started_again"]) for row in rows} == {
        third_pilot.uid: ("p", "h", False),
        own_pilot.uid: ("p", "h at cern", False),
        foreign_pilot.uid: ("p", "h at jinr", False),
    }
