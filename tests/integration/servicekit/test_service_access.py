"""Services authenticate each other by signed tokens."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol
from uuid import UUID

import pytest

from sluice.clients.wms import WmsClient
from sluice.contracts.access.access import PILOT_PROOF_HEADER, PILOT_TOKEN_HEADER
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Forbidden, NotAvailable
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.pilot_access.key import PilotKey
from sluice.servicekit.access.service_keys import ServiceKeys
from sluice.servicekit.access.service_tokens import ServiceSigner
from sluice.servicekit.running.service_clients import NetworkLinks
from sluice.setup.service_keys import forget_old_keys, make_keys, rotate_keys
from tests.conftest import DatabaseFactory
from tests.integration.servicekit.process import COMMAND, MODULE, ServiceProcess
from tests.waiting import eventually

DAY = 86_400.0
PILOTS, METRICS = "a-token-of-pilots", "a-token-of-metrics"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    make_keys(folder)
    return folder


class Serve(Protocol):
    async def __call__(self, service: str, **settings: str) -> ServiceProcess: ...


@pytest.fixture
async def serve(tmp_path: Path, make_database: DatabaseFactory) -> AsyncIterator[Serve]:
    """Return a function that starts a service process and waits until it is ready."""
    processes: list[ServiceProcess] = []

    async def begin(service: str, **settings: str) -> ServiceProcess:
        prefix = f"SLUICE_{service.upper()}_"
        urls = {
            "database_url": await make_database(),
            "broker_url": await make_database(),
        }
        variables = {f"{prefix}{name.upper()}": text for name, text in (urls | settings).items()}
        module = f"wfms.{service}" if service == "operator" else service
        folder = tmp_path / service
        folder.mkdir()
        process = ServiceProcess([*MODULE, module], folder, variables)
        processes.append(process)
        await process.answers()
        await process.is_ready()
        return process

    yield begin
    for process in processes:
        await process.clean_up()


@pytest.fixture
async def wms(serve: Serve, keys: Path) -> ServiceProcess:
    return await serve(
        CallingService.WMS,
        service_keys=str(keys),
        pilot_keys="one that signs",
        pilot_token=PILOTS,
        metrics_token=METRICS,
    )


def make_links(wms: ServiceProcess, keys: Path, service: str, *, late: float = 0.0) -> NetworkLinks:
    """Return links of a service whose clock is wrong by ``late`` seconds."""
    signer = ServiceSigner(ServiceKeys(keys, service), lambda: time.time() + late)
    return NetworkLinks({"wms": f"http://127.0.0.1:{wms.port}"}, signer)


async def test_service_token_gives_the_permissions_of_its_service(
    wms: ServiceProcess, keys: Path
) -> None:
    links = make_links(wms, keys, CallingService.OPERATOR)
    assert (await WmsClient(links.http("wms")).list_pilots()).pilots == []
    await links.stop()
    links = make_links(wms, keys, CallingService.INTAKE)
    with pytest.raises(Forbidden, match=r"the service wfms\.intake may not do this"):
        await WmsClient(links.http("wms")).list_pilots()
    await links.stop()


async def test_unauthenticated_requests_are_refused(wms: ServiceProcess, tmp_path: Path) -> None:
    another = tmp_path / "another"
    make_keys(another)
    forged = ServiceSigner(ServiceKeys(another, CallingService.OPERATOR)).token(CallingService.WMS)
    for headers in (
        {},
        {"authorization": f"Bearer {forged}"},
        {"authorization": f"Bearer {PILOTS}x"},
        {"authorization": f"Basic {PILOTS}"},
    ):
        for address in ("/api/v1/pilots", "/api/v1/tasks", "/metrics"):
            answer = await wms.http.get(address, headers=headers)
            assert answer.status_code == 401, (address, headers)
    assert (await wms.http.get("/healthz")).status_code == 200


async def test_metrics_token_reads_only_metrics(wms: ServiceProcess) -> None:
    headers = {"authorization": f"Bearer {METRICS}"}
    answer = await wms.http.get("/metrics", headers=headers)
    assert (answer.status_code, "sluice_" in answer.text) == (200, True)
    for address in ("/api/v1/pilots", "/api/v1/tasks"):
        assert (await wms.http.get(address, headers=headers)).status_code == 403
    assert (await wms.http.put("/api/v1/limits", headers=headers)).status_code == 403


async def test_pilot_registers_with_the_shared_token_and_acts_with_its_own(
    wms: ServiceProcess,
) -> None:
    uid = UUID(int=7)
    resources = NodeResources(cores=1, ram=1000, disk=1000)
    pilot = RegisterPilot(uid=uid, name="p", host="h", slots=1, version="1", resources=resources)
    body = pilot.model_dump(mode="json")
    registering = {"authorization": f"Bearer {PILOTS}"}
    for headers in ({}, registering):
        answer = await wms.http.post("/api/v1/pilots", json=body, headers=headers)
        assert answer.status_code == 401, "without a token or a key"
    registering[PILOT_PROOF_HEADER] = PilotKey.new().proof(time.time())
    answer = await wms.http.post("/api/v1/pilots", json=body, headers=registering)
    assert answer.status_code == 200, answer.text
    own = {"authorization": f"Bearer {answer.headers[PILOT_TOKEN_HEADER]}"}
    lease = f"/api/v1/pilots/{uid}/lease"
    for headers, status in ((registering, 403), (own, 200)):
        response = await wms.http.post(lease, json={"jobs": 1, "wait": 0}, headers=headers)
        assert response.status_code == status, response.text
    other = f"/api/v1/pilots/{UUID(int=8)}/lease"
    response = await wms.http.post(other, json={"jobs": 1, "wait": 0}, headers=own)
    assert response.status_code == 403


@pytest.mark.parametrize("late", [DAY, -DAY])
async def test_service_with_a_wrong_clock_is_answered_503_instead_of_a_refusal(
    wms: ServiceProcess, keys: Path, late: float
) -> None:
    links = make_links(wms, keys, CallingService.OPERATOR, late=late)
    with pytest.raises(NotAvailable, match=r"the token of the service wfms\.operator"):
        await WmsClient(links.http("wms")).list_pilots()
    await links.stop()


async def test_requests_succeed_while_service_keys_are_rotated(
    wms: ServiceProcess, keys: Path
) -> None:
    links = make_links(wms, keys, CallingService.OPERATOR)
    client = WmsClient(links.http("wms"))
    for change in (make_keys, rotate_keys, forget_old_keys, rotate_keys, forget_old_keys):
        change(keys)
        assert (await client.list_pilots()).pilots == [], change
    await links.stop()
    fresh = make_links(wms, keys, CallingService.OPERATOR)
    assert (await WmsClient(fresh.http("wms")).list_pilots()).pilots == []
    await fresh.stop()


async def test_service_without_its_key_ends_with_a_plain_message(
    tmp_path: Path, keys: Path
) -> None:
    (keys / "wms.key").unlink()
    nowhere = "postgresql://nobody:nothing@127.0.0.1:1/nothing"
    settings = {
        "SLUICE_WMS_DATABASE_URL": nowhere,
        "SLUICE_WMS_BROKER_URL": nowhere,
        "SLUICE_WMS_SERVICE_KEYS": str(keys),
    }
    process = ServiceProcess([*COMMAND, "wms"], tmp_path, settings)
    assert await process.ended() == 2
    log = process.log.read_text()
    assert f"SLUICE_WMS_SERVICE_KEYS: the key file {keys / 'wms.key'} cannot be read" in log
    assert "Traceback" not in log
    await process.clean_up()


async def test_service_without_keys_accepts_requests_of_services_with_keys(
    serve: Serve, keys: Path
) -> None:
    """Services keep working while an administrator gives them keys one after the other."""
    process = await serve(CallingService.WMS, pilot_keys="one that signs", pilot_token=PILOTS)
    links = make_links(process, keys, CallingService.OPERATOR)
    assert (await WmsClient(links.http("wms")).list_pilots()).pilots == []
    await links.stop()
    assert (await process.http.get("/api/v1/pilots")).status_code == 200


async def test_people_need_no_credential_at_the_dms_and_lack_service_permissions(
    serve: Serve, keys: Path, tmp_path: Path
) -> None:
    process = await serve(CallingService.DMS, service_keys=str(keys))
    old = {"authorization": "Bearer of another system, kept for this address"}
    for headers in ({}, old):
        assert (await process.http.get("/api/v1/datasets", headers=headers)).status_code == 200
        look = await process.http.post("/api/v1/files/look", json={}, headers=headers)
        assert (look.status_code, "service:wms" in look.text) == (403, True)
    foreign = tmp_path / "foreign"
    make_keys(foreign)
    forged = ServiceSigner(ServiceKeys(foreign, CallingService.WMS)).token(CallingService.DMS)
    answer = await process.http.get(
        "/api/v1/datasets", headers={"authorization": f"Bearer {forged}"}
    )
    assert answer.status_code == 401, "a token signed by an unknown key was accepted"
    signer = ServiceSigner(ServiceKeys(keys, CallingService.WMS))
    service_headers = {"authorization": f"Bearer {signer.token(CallingService.DMS)}"}
    look = await process.http.post("/api/v1/files/look", json={}, headers=service_headers)
    assert look.status_code == 422, "the request of a service was not validated"


OWN = "sluice_0123456789abcdef0123456789abcdef"


@pytest.fixture
async def with_accounts(serve: Serve, keys: Path) -> tuple[ServiceProcess, ServiceProcess]:
    """Start the operator service and the DMS with accounts enabled."""
    settings = {"service_keys": str(keys), "accounts": "true"}
    operator = await serve("operator", **settings, admin_token=OWN)
    address = f"http://127.0.0.1:{operator.port}"
    return operator, await serve(CallingService.DMS, **settings, addresses__operator=address)


def make_bearer_header(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_account_token_authenticates_at_every_service(
    with_accounts: tuple[ServiceProcess, ServiceProcess],
) -> None:
    operator, dms = with_accounts
    for headers in (
        {},
        make_bearer_header("sluice_made-up"),
        make_bearer_header("of another system"),
    ):
        for service, address in ((operator, "chains"), (operator, "me"), (dms, "datasets")):
            answer = await service.http.get(f"/api/v1/{address}", headers=headers)
            assert answer.status_code == 401, (address, headers)
    new = {"label": "for a script", "role": "viewer"}
    token = await operator.http.post("/api/v1/tokens", json=new, headers=make_bearer_header(OWN))
    viewer = make_bearer_header(token.json()["secret"])
    for headers, may in ((viewer, False), (make_bearer_header(OWN), True)):
        for _ in range(2):  # first from the operator service, then from the cache
            assert (await dms.http.get("/api/v1/datasets", headers=headers)).status_code == 200
        look = await dms.http.post("/api/v1/files/look", json={}, headers=headers)
        assert look.status_code == 403, "a person got the permission of a service"
        filled = await dms.http.post("/api/v1/datasets", json={}, headers=headers)
        assert filled.status_code == (422 if may else 403), "the answer does not follow the role"
    holders = await operator.http.post(
        "/api/v1/token-holders", json={}, headers=make_bearer_header(OWN)
    )
    assert holders.status_code == 403, "a person could ask for the holder of a token"


async def test_revoked_token_is_refused_by_every_service_soon(
    with_accounts: tuple[ServiceProcess, ServiceProcess],
) -> None:
    operator, dms = with_accounts
    answer = await operator.http.post(
        "/api/v1/tokens", json={"label": "x"}, headers=make_bearer_header(OWN)
    )
    token = make_bearer_header(answer.json()["secret"])
    assert (await dms.http.get("/api/v1/datasets", headers=token)).status_code == 200
    address = f"/api/v1/tokens/{answer.json()['token']['id']}"
    assert (await operator.http.delete(address, headers=make_bearer_header(OWN))).status_code == 200

    assert (await operator.http.get("/api/v1/me", headers=token)).status_code == 401

    async def refused() -> bool:
        return (await dms.http.get("/api/v1/datasets", headers=token)).status_code == 401

    await eventually(refused, what="the DMS asks again whose the token is")


async def test_person_signs_in_on_the_page_and_signs_out_everywhere(
    with_accounts: tuple[ServiceProcess, ServiceProcess],
) -> None:
    operator, _ = with_accounts
    new = {"name": "anna", "role": "shift", "password": "correct horse battery"}
    answer = await operator.http.post("/api/v1/people", json=new, headers=make_bearer_header(OWN))
    assert answer.status_code == 201, answer.text
    page = await operator.http.get(f"/?token={OWN}")
    assert (page.status_code, "set-cookie" in page.headers) == (401, False)
    await operator.http.post("/sign-in", data={"name": "anna", "password": new["password"]})
    copied = {"cookie": f"sluice_person={operator.http.cookies['sluice_person']}"}
    operator.http.cookies.clear()
    assert (await operator.http.get("/templates", headers=copied)).status_code == 200
    assert (await operator.http.get("/people", headers=copied)).status_code == 403
    await operator.http.post("/sign-out", headers=copied)
    assert (await operator.http.get("/templates", headers=copied)).status_code == 401


async def test_tokens_are_answered_503_while_the_operator_service_is_unavailable(
    serve: Serve, keys: Path
) -> None:
    dms = await serve(
        CallingService.DMS,
        service_keys=str(keys),
        accounts="true",
        addresses__operator="http://127.0.0.1:1",
    )
    answer = await dms.http.get("/api/v1/datasets", headers=make_bearer_header(OWN))
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:sluice:problem:not-available")
    assert (await dms.http.get("/api/v1/datasets")).status_code == 401
    signer = ServiceSigner(ServiceKeys(keys, CallingService.OPERATOR))
    headers = make_bearer_header(signer.token(CallingService.DMS))
    assert (await dms.http.get("/api/v1/datasets", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"ACCOUNTS": "true"}, "SLUICE_OPERATOR_ACCOUNTS: if people have accounts, services"),
        ({"ADMIN_TOKEN": "sluice_short"}, "must begin with sluice_ and have 32 characters"),
        ({"ADMIN_TOKEN": "x" * 40}, "must begin with sluice_ and have 32 characters"),
    ],
)
async def test_contradictory_settings_end_the_service_with_a_plain_message(
    tmp_path: Path, settings: dict[str, str], sentence: str
) -> None:
    nowhere = "postgresql://nobody:nothing@127.0.0.1:1/nothing"
    all_settings = {"DATABASE_URL": nowhere, "BROKER_URL": nowhere, **settings}
    variables = {f"SLUICE_OPERATOR_{name}": text for name, text in all_settings.items()}
    process = ServiceProcess([*COMMAND, "operator"], tmp_path, variables)
    assert await process.ended() == 2
    log = process.log.read_text()
    assert sentence in log
    assert settings.get("ADMIN_TOKEN", "?") not in log
    await process.clean_up()
