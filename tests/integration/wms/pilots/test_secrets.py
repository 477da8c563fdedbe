"""Only the pilot that has a job gets its secrets, and the WMS stores none of them."""

from collections.abc import AsyncIterator
from functools import partial
from uuid import UUID, uuid4

import httpx
import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr

from sluice.clients.wms import WmsClient
from sluice.contracts.access.secrets import NewSecret, SecretRef
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.jobs.resources import Amounts
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.leases import FreeCapacity, JobToken, LeaseRequest
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.sealing import Sealer
from sluice.servicekit.web.http import Health, create_app
from tests.callers import allow_everybody
from tests.conftest import DatabaseFactory
from tests.integration.operator.conftest import Operator, run_operator
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.api.pilot_protocol import GetSecrets, PilotDependencies, router
from wms.usecases.leasing.get_secrets import get_secrets
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.pilots.authenticate_pilots import RevokedSites

KEY = Fernet.generate_key().decode()
VALUE = "hunter2-hunter2"
MIN_SPACE = FreeCapacity(free=Amounts(cores=8, ram=16_000), soon=Amounts(cores=8, ram=16_000))
REF = SecretRef(name="places-api", version=1)


@pytest.fixture
async def operator(make_database: DatabaseFactory) -> AsyncIterator[Operator]:
    url = await make_database("wfms.operator.db.migrations")
    async with run_operator(url, encryption_keys=KEY) as operator:
        await operator.client.set_secret(
            NewSecret(name="places-api", value=SecretStr(VALUE), templates=["t*"])
        )
        yield operator


async def lease_job_with_secret(
    wms: WmsFixture, pilot: UUID, **changes: object
) -> tuple[Task, JobToken]:
    secrets = {"key": REF}
    new_task = make_task(**{"secrets": secrets, **changes})
    task = await wms.add_task(new_task, jobs=1)
    [job] = (
        await lease_jobs(wms.context, pilot, LeaseRequest(jobs=1, free_capacity=MIN_SPACE))
    ).jobs
    return task, JobToken(id=job.id, attempt=job.attempt)


def make_secrets_request(wms: WmsFixture, operator: Operator, key: str = KEY) -> GetSecrets:
    return partial(get_secrets, wms.context, operator.client, Sealer(SecretStr(key)))


async def test_pilot_that_has_the_job_gets_its_secrets(wms: WmsFixture, operator: Operator) -> None:
    pilot, get_secrets = await wms.add_pilot(), make_secrets_request(wms, operator)
    _, job = await lease_job_with_secret(wms, pilot)
    values = (await get_secrets(pilot=pilot, job=job)).values
    assert {port: value.get_secret_value() for port, value in values.items()} == {"key": VALUE}


async def test_other_pilots_and_ended_leases_get_no_secrets(
    wms: WmsFixture, operator: Operator
) -> None:
    pilot, other, get_secrets = (
        await wms.add_pilot(),
        await wms.add_pilot(),
        make_secrets_request(wms, operator),
    )
    _, job = await lease_job_with_secret(wms, pilot)
    with pytest.raises(NotFound):
        await get_secrets(pilot=uuid4(), job=job)
    for who, token in (
        (other, job),
        (pilot, JobToken(id=job.id, attempt=job.attempt + 1)),
        (pilot, JobToken(id=job.id + 1, attempt=1)),
    ):
        with pytest.raises(Conflict, match="is not, or no longer, assigned to this pilot"):
            await get_secrets(pilot=who, job=token)
    for change in ("lease_until = now() - interval '1 s'", "stop_attempt = attempt"):
        async with wms.database.transaction() as transaction:
            before = await transaction.connection.fetchval("SELECT lease_until FROM jobs")
            await transaction.connection.execute(f"UPDATE jobs SET {change}")  # noqa: S608
        with pytest.raises(Conflict, match="no longer"):
            await get_secrets(pilot=pilot, job=job)
        async with wms.database.transaction() as transaction:
            await transaction.connection.execute("UPDATE jobs SET lease_until = $1", before)


async def test_unavailable_secret_is_refused_with_the_reason(
    wms: WmsFixture, operator: Operator
) -> None:
    pilot, get_secrets = await wms.add_pilot(), make_secrets_request(wms, operator)
    _, other = await lease_job_with_secret(wms, pilot, template="another")
    with pytest.raises(Conflict, match="is not for template 'another'"):
        await get_secrets(pilot=pilot, job=other)
    _, job = await lease_job_with_secret(wms, pilot)
    with pytest.raises(Conflict, match="cannot be decrypted"):
        await make_secrets_request(wms, operator, Fernet.generate_key().decode())(
            pilot=pilot, job=job
        )
    await operator.client.remove_secret("places-api")
    with pytest.raises(Conflict, match="it was removed"):
        await get_secrets(pilot=pilot, job=job)


async def test_answer_with_secrets_is_neither_cached_nor_stored(
    wms: WmsFixture, operator: Operator
) -> None:
    pilot = await wms.add_pilot()
    _, job = await lease_job_with_secret(wms, pilot)
    pilots = PilotDependencies(
        None,  # type: ignore[arg-type] # no route here asks the DMS
        make_secrets_request(wms, operator),
        tokens=None,
        revoked_sites=RevokedSites(wms.context.database),
    )
    app = create_app(
        "wms", [router], health=Health({}), metrics=ServiceMetrics(), provide=[wms.context, pilots]
    )
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(allow_everybody(app)), base_url="http://wms"
    ) as http:
        answer = await http.post(f"/api/v1/pilots/{pilot}/secrets", json=job.model_dump())
        assert answer.json() == {"values": {"key": VALUE}}
        assert answer.headers["cache-control"] == "no-store"
        values = (await WmsClient(http).get_secrets(pilot, job)).values
        assert values["key"].get_secret_value() == VALUE
    async with wms.database.connection() as connection:
        for table in ("tasks", "jobs", "attempts", "pilots", "outbox"):
            rows = await connection.fetch(f"SELECT t::text AS text FROM {table} AS t")  # noqa: S608
            assert VALUE not in str([row["text"] for row in rows])
