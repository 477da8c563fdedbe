"""Chains and templates of a waiting client are ended when its lease expires."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from uuid import UUID, uuid4

import pytest

from sluice.clients.operator import OperatorClient
from sluice.contracts.access.access import Role
from sluice.contracts.chains.chains import Chain
from sluice.contracts.chains.client_leases import RenewClientLease
from sluice.contracts.common.problems import Forbidden
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.templates import NewTemplate, Template
from sluice.cwl_runner.client_lease import ClientLease
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.callers import allow_everybody
from tests.integration.operator.conftest import Operator, run_operator
from tests.unit.cwl.samples import LINEAR
from tests.waiting import eventually
from wfms.operator.chains.usecases.leases.renew_client_lease import renew_client_lease
from wfms.operator.context import OperatorContext
from wfms.operator.settings import OperatorSettings
from wfms.operator.wiring import make_context

#: Seconds of a lease: for a lease that expires, and for a lease that a busy machine still renews.
LIFE, RENEWED_LIFE = 0.4, 3.0


@pytest.fixture
async def operator(database_url: str) -> AsyncIterator[Operator]:
    async with run_operator(database_url, client_lease=LIFE) as operator:
        yield operator


async def create_run(operator: Operator, name: str) -> tuple[Template, Chain]:
    template = await operator.client.store_run_template(
        NewTemplate(name=name, cwl=f"{LINEAR}# {name}\n")
    )
    dataset = await operator.client.register_dataset(NewDataset(name=name, on_demand=True))
    chain = await operator.client.request_chain(dataset.uid, name, run_template=template.id)
    return template, chain


def make_lease_body(
    template: Template, chain: Chain, *, discard: bool = False
) -> dict[str, object]:
    return {
        "chains": [str(chain.uid)],
        "run_templates": [str(template.id)],
        "discard": discard,
    }


async def lease(operator: Operator, body: dict[str, object], uid: UUID | None = None) -> int:
    path = f"/api/v1/client-leases/{uid or uuid4()}"
    return (await operator.http.put(path, json=body)).status_code


@asynccontextmanager
async def open_context(operator: Operator) -> AsyncIterator[OperatorContext]:
    database = Database(operator.database_url, source="test", audited=True)
    settings = OperatorSettings(
        database_url=operator.database_url, broker_url=operator.database_url
    )
    async with running(database):
        yield make_context(settings, database, links=operator.links, transport=operator.transport)


async def test_chain_of_a_dead_client_is_canceled_and_its_data_deleted(operator: Operator) -> None:
    template, chain = await create_run(operator, "one")
    assert await lease(operator, make_lease_body(template, chain)) == 200
    await eventually(lambda: chain.uid in operator.neighbours.discarded)
    ended = operator.neighbours.chains[chain.uid]
    assert ended.state is ChainState.CANCELED
    assert ended.reason.startswith("its client has sent nothing for 0.4 s")

    async def unlisted() -> bool:
        return not (await operator.client.list_run_templates()).templates

    await eventually(unlisted)


@pytest.mark.parametrize("discard", [True, False])
async def test_finished_results_are_kept_unless_the_lease_says_discard(
    operator: Operator, discard: bool
) -> None:
    template, chain = await create_run(operator, "one")
    finished = chain.model_copy(update={"state": ChainState.FINISHED})
    operator.neighbours.chains[chain.uid] = finished
    assert await lease(operator, make_lease_body(template, chain, discard=discard)) == 200

    async def unlisted() -> bool:
        return not (await operator.client.list_run_templates()).templates

    await eventually(unlisted)
    assert operator.neighbours.discarded == [chain.uid] * discard
    assert operator.neighbours.chains[chain.uid].state is ChainState.FINISHED


async def test_renewed_or_released_lease_ends_nothing(database_url: str) -> None:
    """Another lease, which was made later, expires meanwhile."""
    async with run_operator(database_url, client_lease=RENEWED_LIFE) as operator:
        server = HttpServer(allow_everybody(operator.service.app), host="127.0.0.1", port=0)
        renewed, released, left = [await create_run(operator, name) for name in ("a", "b", "c")]
        async with running(server):
            url = f"http://127.0.0.1:{server.port}"

            def wait(ended: threading.Event) -> None:
                with ClientLease(url, discard=False) as lease:
                    template, chain = renewed
                    lease.transfer_to_chain(
                        str(chain.uid), datasets=[], run_template=str(template.id)
                    )
                    with ClientLease(url, discard=False) as short:
                        short.own(chains=[str(released[1].uid)])
                    with suppress(OSError), ClientLease(url, discard=False) as lost:
                        lost.own(chains=[str(left[1].uid)])
                        raise OSError("the connection is lost")
                    ended.wait()

            ended = threading.Event()
            client = threading.Thread(target=wait, args=[ended])
            client.start()
            try:
                await eventually(lambda: operator.neighbours.discarded)
            finally:
                ended.set()
                await asyncio.to_thread(client.join)
            assert operator.neighbours.discarded == [left[1].uid]


async def test_person_cannot_lease_the_chain_of_another_person(operator: Operator) -> None:
    _, chain = await create_run(operator, "one")
    operator.neighbours.chains[chain.uid] = chain.model_copy(update={"owner": "bert"})
    renewal = RenewClientLease(chains=[chain.uid])
    async with open_context(operator) as context:
        with pytest.raises(Forbidden, match="role shift"):
            await renew_client_lease(context, uuid4(), renewal, by=Person("anna", Role.SUBMITTER))
        for person in (Person("bert", Role.SUBMITTER), Person("anna", Role.SHIFT)):
            await renew_client_lease(context, uuid4(), renewal, by=person)


async def test_expired_lease_is_not_renewed(operator: Operator) -> None:
    template, chain = await create_run(operator, "one")
    uid = uuid4()
    async with open_context(operator) as context, context.database.connection() as connection:
        await connection.execute(
            "INSERT INTO client_leases VALUES ($1, 'anybody', '{}', '{}', '{}', false, now() + "
            "interval '1 hour', now())",
            uid,
        )
    assert await lease(operator, make_lease_body(template, chain), uid) == 409


async def test_person_cannot_lease_objects_of_another_group(operator: Operator) -> None:
    """The role does not matter: the service ends leased objects with its own rights."""
    template, chain = await create_run(operator, "one")
    operator.links.apps["wfms.operator"] = operator.service.app
    chain = chain.model_copy(update={"owner": "anna", "group": "alpha", "shared_with": ["beta"]})
    operator.neighbours.chains[chain.uid] = chain
    dataset = operator.neighbours.datasets[chain.dataset_uid]
    operator.neighbours.datasets[dataset.uid] = dataset.model_copy(
        update={"owner": "anna", "group": "alpha"}
    )
    anna = Person("anna", Role.SUBMITTER, ("alpha",))
    hers = OperatorClient(operator.links.http_of(anna, "wfms.operator"))
    other = await hers.store_run_template(
        NewTemplate(name="two", cwl=f"{LINEAR}# two\n", group="alpha")
    )

    async def renew(person: Person, **owned: UUID) -> int:
        http = operator.links.http_of(person, "wfms.operator")
        body = {kind: [str(uid)] for kind, uid in owned.items()}
        return (await http.put(f"/api/v1/client-leases/{uuid4()}", json=body)).status_code

    stranger = Person("bea", Role.SHIFT, ("beta",))
    assert await renew(stranger, chains=chain.uid) == 403
    assert await renew(stranger, datasets=dataset.uid) == 403
    assert await renew(stranger, run_templates=other.id) == 404
    assert await renew(stranger, run_templates=template.id) == 200, "it belongs to everybody"
    visitor = Person("bo", Role.SUBMITTER, ("beta",))
    assert await renew(visitor, run_templates=template.id) == 403, "it is not his own"
    for member in (anna, Person("al", Role.SHIFT, ("alpha",))):
        assert await renew(member, chains=chain.uid, datasets=dataset.uid) == 200
        assert await renew(member, run_templates=other.id) == 200


async def test_template_of_another_person_stays_on_the_list(operator: Operator) -> None:
    """Both persons run the same template, which is stored once."""
    operator.links.apps["wfms.operator"] = operator.service.app
    anna, bo = (Person(name, Role.SUBMITTER, ("alpha",)) for name in ("anna", "bo"))
    template_ids = []
    for person in (anna, bo):
        http = operator.links.http_of(person, "wfms.operator")
        stored = await http.post("/api/v1/run-templates", json={"name": "one", "cwl": LINEAR})
        template_ids.append(stored.json()["id"])
    template = template_ids[0]
    assert template_ids == [template] * 2
    dataset = await operator.client.register_dataset(NewDataset(name="one", on_demand=True))
    chain = await operator.client.request_chain(dataset.uid, "one", run_template=UUID(template))
    his = chain.model_copy(update={"owner": "bo", "group": "alpha"})
    operator.neighbours.chains[chain.uid] = his
    http = operator.links.http_of(bo, "wfms.operator")
    path = f"/api/v1/client-leases/{uuid4()}"

    alone = await http.put(path, json={"run_templates": [template]})
    assert alone.status_code == 403
    assert "may not hold" in alone.json()["detail"]
    body = {"run_templates": [template], "chains": [str(chain.uid)]}
    assert [(await http.put(path, json=body)).status_code for _ in range(2)] == [200, 200]

    await eventually(lambda: chain.uid in operator.neighbours.discarded)
    assert operator.neighbours.chains[chain.uid].state is ChainState.CANCELED
    listed = (await http.get("/api/v1/run-templates")).json()["templates"]
    assert [each["id"] for each in listed] == [template]
