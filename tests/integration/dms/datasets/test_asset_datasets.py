"""Data sets of assets are registered, filled and closed only by the service that stores assets."""

from itertools import product
from typing import Any

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, Forbidden, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.datasets import NewDataset
from sluice.servicekit.access.principal import Person, Principal, ServiceCaller
from tests.integration.dms.conftest import Dms

ANNA = Person("anna", Role.SUBMITTER, ("alpha",))
ROOT = Person("root", Role.ADMIN)
OPERATOR = ServiceCaller(CallingService.OPERATOR)
OPERATOR_FOR_ANNA = ServiceCaller(CallingService.OPERATOR, ANNA)
CALLERS = [ANNA, ROOT, OPERATOR, OPERATOR_FOR_ANNA, ServiceCaller(CallingService.CHAINS)]


def make_client(dms: Dms, caller: Principal) -> DmsClient:
    return DmsClient(dms.links.http_of(caller, "dms"))


def make_asset_dataset(dms: Dms, name: str = "asset.model.1", **more: Any) -> NewDataset:
    url = f"file://{dms.folder}/input/{name}"
    return NewDataset(name=name, meta={MARK: "model"}, url=url, group="everyone", **more)


async def test_service_registers_fills_and_closes_the_data_set_of_an_asset(dms: Dms) -> None:
    service = make_client(dms, OPERATOR_FOR_ANNA)
    registered = await service.register_asset_dataset(make_asset_dataset(dms))
    assert (registered.owner, registered.group) == ("anna", "everyone")
    assert await service.register_asset_dataset(make_asset_dataset(dms)) == registered
    file = dms.write(registered.name, 0, type_=DatasetType.INPUT)
    for _ in range(2):
        await service.register_asset_files(registered.uid, files=[file])
        closed = await service.close_asset_dataset(registered.uid, files=1)
        assert (closed.state, closed.count_files) == (DatasetState.CLOSED, 1)


@pytest.mark.parametrize("caller", CALLERS, ids=str)
async def test_general_routes_refuse_the_data_set_of_an_asset(dms: Dms, caller: Principal) -> None:
    uid = (await make_client(dms, OPERATOR).register_asset_dataset(make_asset_dataset(dms))).uid
    http = dms.links.http_of(caller, "dms")
    file = dms.write("other", 0, type_=DatasetType.INPUT)
    for method, rest, body in (
        ("POST", "files", {"files": [file.model_dump(mode="json")]}),
        ("POST", "close", {"files": 0}),
        ("PUT", "share", {"shared_with": ["beta"], "group": None}),
    ):
        refused = await http.request(method, f"/api/v1/datasets/{uid}/{rest}", json=body)
        assert refused.status_code == 403, (rest, refused.text)
    dataset = await dms.client.get_dataset(uid)
    assert (dataset.state, dataset.count_files) == (DatasetState.OPEN, 0)


@pytest.mark.parametrize("caller", [ANNA, ROOT, ServiceCaller(CallingService.CHAINS)], ids=str)
async def test_routes_of_assets_are_for_the_operator_service(dms: Dms, caller: Principal) -> None:
    uid = (await make_client(dms, OPERATOR).register_asset_dataset(make_asset_dataset(dms))).uid
    asking = make_client(dms, caller)
    with pytest.raises(Forbidden):
        await asking.register_asset_dataset(make_asset_dataset(dms, "asset.model.2"))
    with pytest.raises(Forbidden):
        await asking.register_asset_files(uid, files=[dms.write("other", 0)])
    with pytest.raises(Forbidden):
        await asking.close_asset_dataset(uid, files=0)


RESERVED: list[tuple[dict[str, Any], str]] = [
    ({"name": "asset.model.1"}, r"the name 'asset\.model\.1' begins with 'asset\.'"),
    ({"name": "asset.", "type": "output"}, "store an asset with `sluice asset put`"),
    ({"name": "a", "meta": {MARK: "model"}}, "data set 'a': the metadata has 'sluice.asset'"),
    ({"name": "a", "meta": {"sluice.assets": 1}}, "give it another name"),
    ({"name": "a", "meta": {"output_name": "b"}}, "which the system sets itself"),
    ({"name": "a", "url": "asset.model.1"}, "which is reserved for assets"),
    ({"name": "a", "url": "asset.model.1/a"}, "give another folder"),
]


async def test_names_keys_and_folders_of_assets_are_reserved(
    dms: Dms, subtests: pytest.Subtests
) -> None:
    for caller, (new, complaint) in product([ANNA, ROOT, OPERATOR_FOR_ANNA], RESERVED):
        fields = new | {"url": f"file://{dms.folder}/input/{new['url']}"} if "url" in new else new
        with (
            subtests.test(caller=caller, new=new),
            pytest.raises(Unprocessable, match=complaint),
        ):
            await make_client(dms, caller).register_dataset(NewDataset.model_validate(fields))


async def test_files_of_people_cannot_be_in_the_folder_of_an_asset(dms: Dms) -> None:
    people = make_client(dms, ANNA)
    uid = (await people.register_dataset(NewDataset(name="own"))).uid
    file = dms.write("asset.model.1", 0, type_=DatasetType.INPUT)
    with pytest.raises(Unprocessable, match="which is reserved for assets"):
        await people.register_many_files(uid, [file])
    file = dms.write("own", 0, type_=DatasetType.INPUT)
    with pytest.raises(Unprocessable, match=f"file '{file.name}': the metadata has 'sluice.asset'"):
        await people.register_many_files(uid, [file.model_copy(update={"meta": {MARK: "model"}})])
    assert (await people.register_many_files(uid, [file])).new == 1


@pytest.mark.parametrize("rest", ["", "/below"])
async def test_asset_gets_no_folder_of_another_data_set(dms: Dms, rest: str) -> None:
    """Such a data set may be older than the reservation of the folders."""
    new = make_asset_dataset(dms)
    await dms.client.register_dataset(NewDataset(name="other", url=f"{new.url}{rest}"))
    with pytest.raises(Forbidden):
        await make_client(dms, OPERATOR_FOR_ANNA).register_asset_dataset(new)


async def test_name_of_another_data_set_is_a_conflict_that_names_it(dms: Dms) -> None:
    uid = (await dms.client.register_dataset(NewDataset(name="asset.model.1", group="beta"))).uid
    with pytest.raises(Conflict) as refusal:
        await make_client(dms, OPERATOR_FOR_ANNA).register_asset_dataset(make_asset_dataset(dms))
    assert refusal.value.fields["dataset"] == str(uid)
