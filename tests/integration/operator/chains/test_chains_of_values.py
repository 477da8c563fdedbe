"""Chains of templates that take no data set run on an empty placeholder data set."""

from pathlib import Path

import pytest

from sluice.contracts.chains.chains import RequestChain
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetState
from sluice.contracts.templates.templates import NewTemplate, Template
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.sluice_command import Command
from tests.unit.cwl.samples import LINEAR, OF_VALUES

PARAMETERS = {"cuts": [1, 2], "note": "n"}


@pytest.fixture
async def sweep(operator: Operator) -> Template:
    await operator.client.store_template(NewTemplate(name="linear", cwl=LINEAR))
    return await operator.client.store_template(NewTemplate(name="sweep", cwl=OF_VALUES))


@pytest.mark.usefixtures("sweep")
async def test_equal_values_give_the_same_chain(operator: Operator) -> None:
    """Invariant 1. The data set is empty and is not matched; other values give another chain."""
    request = RequestChain(dataset_uid=None, template="sweep", params=PARAMETERS)
    chain, is_new = await operator.client.request_new_chain(request)
    assert is_new
    reordered = request.model_copy(update={"params": dict(reversed(PARAMETERS.items()))})
    assert await operator.client.request_new_chain(reordered) == (chain, False)
    stand_in = operator.neighbours.datasets[chain.dataset_uid]
    assert stand_in.name.startswith("sweep-1-")
    assert (stand_in.on_demand, stand_in.url) == (True, None)
    assert operator.neighbours.closings == [(stand_in.uid, 0)] * 2
    other = await operator.client.request_chain(None, "sweep", params={**PARAMETERS, "note": "o"})
    assert other.dataset_uid != stand_in.uid


async def test_chain_can_be_requested_again_after_its_placeholder_was_deleted(
    operator: Operator, sweep: Template
) -> None:
    chain = await operator.client.request_chain(None, "sweep", params=PARAMETERS)
    deleted_dataset = operator.neighbours.datasets[chain.dataset_uid]
    operator.neighbours.datasets[deleted_dataset.uid] = deleted_dataset.model_copy(
        update={"state": DatasetState.DELETED}
    )
    again = await operator.client.request_chain(None, "sweep", params=PARAMETERS)
    assert again.dataset_name == f"{deleted_dataset.name}-2"
    assert sweep.plan.data_input == ""


@pytest.mark.usefixtures("sweep")
async def test_invalid_values_are_refused_before_a_data_set_is_registered(
    operator: Operator,
) -> None:
    with pytest.raises(Unprocessable, match=r"'cuts' .a list of int. is required"):
        await operator.client.request_chain(None, "sweep", params={"note": "n"})
    with pytest.raises(Unprocessable, match=r"needs a data set for its input 'frames': name one"):
        await operator.client.request_chain(None, "linear")
    assert operator.neighbours.datasets == {}


@pytest.mark.usefixtures("sweep")
async def test_command_starts_a_chain_by_template_name_only(
    operator: Operator, sluice: Command, tmp_path: Path
) -> None:
    order = tmp_path / "order.yml"
    order.write_text("cuts: [4, 5]\nnote: n\n")
    await sluice("chain", "start", "sweep", "--job", str(order))
    (requested,) = operator.neighbours.requested
    assert requested.params == {"cuts": [4, 5], "note": "n"}
    output = await sluice("chain", "start", "sweep", "--job", str(order), code=3)
    assert "with these parameters already exists" in output
    named = requested.dataset.name
    output = await sluice("chain", "start", named, "sweep", "--job", str(order), code=1)
    assert "template 'sweep' takes no data set" in output
    output = await sluice("chain", "start", "linear", code=1)
    assert "template 'linear' needs a data set for its input 'frames'" in output
    await sluice("chain", "start", "a", "b", "c", code=2)


@pytest.mark.usefixtures("sweep")
async def test_chain_is_shown_without_parameters_that_have_no_value(
    operator: Operator, sluice: Command
) -> None:
    """A default file is part of the template: the parameter has no value."""
    chain = await operator.client.request_chain(None, "sweep", params=PARAMETERS)
    params = {"model": None, "limit": 0}
    operator.neighbours.chains[chain.uid] = chain.model_copy(update={"params": params})
    shown = await sluice("chain", "show", str(chain.uid))
    assert "limit: 0" in shown
    assert "model" not in shown


@pytest.mark.usefixtures("sweep")
async def test_page_starts_a_chain_without_a_data_set(operator: Operator) -> None:
    page = await operator.http.get("/chains/new?template=sweep")
    assert "The template takes no data set: all its inputs are parameters." in page.text
    assert "Start the chain" in page.text
    assert "Start the chain" not in (await operator.http.get("/chains/new?template=linear")).text
    form = {"csrf_token": read_token(page), "dataset": "", "template": "sweep"}
    values = {"param-cuts": "[1]", "param-note": "x"}
    started = await operator.http.post("/chains/new", data=form | values)
    assert started.status_code == 303
    (requested,) = operator.neighbours.requested
    assert (requested.params, requested.dataset.count_files) == ({"cuts": [1], "note": "x"}, 0)
    drawn = (await operator.http.get("/templates/sweep")).text
    assert "no data set" in drawn
