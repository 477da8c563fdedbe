"""A disabled template gets no new chains until it is enabled."""

from uuid import UUID

import httpx
import pytest

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.templates import NewTemplate
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.sluice_command import Command
from tests.unit.cwl.samples import LINEAR


async def list_names(operator: Operator, *, disabled: bool = False) -> list[str]:
    return [
        template.name
        for template in (await operator.client.list_templates(disabled=disabled)).templates
    ]


async def test_disabled_template_gets_no_chains_and_is_not_listed(operator: Operator) -> None:
    await operator.client.store_template(NewTemplate(name="linear", cwl=LINEAR))
    dataset = await operator.client.register_dataset(NewDataset(name="run-1"))
    under_way = await operator.client.request_chain(dataset.uid, "linear")
    first, again = [await operator.client.disable_template("linear") for _ in range(2)]
    assert first.disabled_at is not None
    assert again.disabled_at == first.disabled_at
    assert await list_names(operator) == [], "the intake of any release reads this list"
    assert await list_names(operator, disabled=True) == ["linear"]
    with pytest.raises(Conflict, match="is disabled since"):
        await operator.client.request_chain(dataset.uid, "linear")
    assert operator.neighbours.chains[under_way.uid] == under_way, "running chains continue"
    stored = await operator.client.store_template(NewTemplate(name="linear", cwl=LINEAR + "# 2\n"))
    assert (stored.version, stored.disabled_at) == (2, first.disabled_at), (
        "a new version is disabled too"
    )
    assert (await operator.client.enable_template("linear")).disabled_at is None
    assert await list_names(operator) == ["linear"]
    await operator.client.request_chain(dataset.uid, "linear")
    for call in (operator.client.disable_template, operator.client.enable_template):
        with pytest.raises(NotFound):
            await call("nowhere")


async def test_new_template_with_the_name_of_a_deleted_one_is_enabled(
    operator: Operator,
) -> None:
    await operator.client.store_template(NewTemplate(name="linear", cwl=LINEAR))
    await operator.client.disable_template("linear")
    await operator.client.delete_template("linear")
    await operator.client.store_template(NewTemplate(name="linear", cwl=LINEAR))
    assert await list_names(operator) == ["linear"]


async def test_unmatched_data_sets_tell_that_their_template_is_disabled(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    await operator.client.disable_template("linear")
    listed = {
        dataset.dataset_name: dataset.rejection_reasons or []
        for dataset in (await operator.client.list_unmatched()).datasets
    }
    [reason] = [judged.reason for judged in listed["fits"] if judged.template == "linear"]
    assert reason.startswith("matches, and is disabled since")
    assert (await operator.client.list_unmatched(template="linear")).total == 0
    assert "would be taken by it now" not in (await operator.http.get("/templates/linear")).text
    assert "matches, and is disabled since" in (await operator.http.get("/datasets/unmatched")).text


async def test_pages_disable_and_enable_a_template(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    token = read_token(await operator.http.get("/templates/linear"))
    done = await operator.http.post("/templates/linear/disable", data={"csrf_token": token})
    assert done.status_code == httpx.codes.SEE_OTHER
    page = (await operator.http.get("/templates/linear")).text
    assert "Enable it" in page
    assert "Start a chain" not in page
    assert (
        '<span class="state caution">disabled</span>'
        in (await operator.http.get("/templates")).text
    )
    form = (await operator.http.get("/chains/new?dataset=fits&template=linear")).text
    assert "is disabled since" in form
    assert "Start the chain" not in form
    chain_form = {"csrf_token": token, "dataset": str(waiting["fits"]), "template": "linear"}
    assert (await operator.http.post("/chains/new", data=chain_form)).status_code == 422
    assert operator.neighbours.requested == []
    await operator.http.post("/templates/linear/enable", data={"csrf_token": token})
    page = (await operator.http.get("/templates/linear")).text
    assert "Disable linear" in page
    assert "1 data set that fitted no template would be taken by it now" in page


async def test_command_disables_and_enables_a_template(
    operator: Operator, sluice: Command, waiting: dict[str, UUID]
) -> None:
    assert "nothing goes through it until `sluice template enable linear`" in await sluice(
        "template", "disable", "linear"
    )
    [row] = [
        line
        for line in (await sluice("template", "list")).splitlines()
        if line.startswith("linear")
    ]
    assert row.endswith("disabled")
    refused = await sluice("chain", "start", str(waiting["odd"]), "linear", code=1)
    assert "is disabled since" in refused
    enabled = await sluice("template", "enable", "linear")
    assert enabled.startswith(
        "linear is enabled\n1 data set that fitted no template would be taken by it now"
    )
