"""Chains of templates that take no data set: an empty one stands for it."""

from pathlib import Path

import pytest

from sluice.contracts.problems import Unprocessable
from sluice.contracts.states import DatasetState
from sluice.contracts.templates import NewTemplate, Template
from tests.integration.operator.conftest import Operator
from tests.integration.operator.test_pages import token_of
from tests.integration.operator.test_template_command import Command, sluice
from tests.unit.cwl.samples import LINEAR, OF_VALUES

__all__ = ["sluice"]

GIVEN = {"cuts": [1, 2], "note": "n"}


@pytest.fixture
async def sweep(operator: Operator) -> Template:
    await operator.client.store_template(NewTemplate(name="linear", cwl=LINEAR))
    return await operator.client.store_template(NewTemplate(name="sweep", cwl=OF_VALUES))


@pytest.mark.usefixtures("sweep")
async def test_the_same_values_again_are_the_same_chain(operator: Operator) -> None:
    """Invariant 1; others are another one. Nothing is in the data set, and nobody matches it."""
    chain, made = await operator.client.request_new_chain(None, "sweep", params=GIVEN)
    assert made
    again = await operator.client.request_new_chain(
        None, "sweep", params=dict(reversed(GIVEN.items()))
    )
    assert again == (chain, False)
    stand_in = operator.neighbours.datasets[chain.dataset_uid]
    assert stand_in.name.startswith("sweep-1-")
    assert (stand_in.on_demand, stand_in.url) == (True, None)
    assert operator.neighbours.closings == [(stand_in.uid, 0)] * 2
    other = await operator.client.request_chain(None, "sweep", params={**GIVEN, "note": "o"})
    assert other.dataset_uid != stand_in.uid


async def test_one_that_somebody_has_deleted_keeps_nobody_from_asking_again(
    operator: Operator, sweep: Template
) -> None:
    chain = await operator.client.request_chain(None, "sweep", params=GIVEN)
    gone = operator.neighbours.datasets[chain.dataset_uid]
    operator.neighbours.datasets[gone.uid] = gone.model_copy(update={"state": DatasetState.DELETED})
    again = await operator.client.request_chain(None, "sweep", params=GIVEN)
    assert again.dataset_name == f"{gone.name}-2"
    assert sweep.plan.data_input == ""


@pytest.mark.usefixtures("sweep")
async def test_what_is_wrong_is_told_before_anything_is_registered(operator: Operator) -> None:
    with pytest.raises(Unprocessable, match=r"'cuts' .a list of int. is required"):
        await operator.client.request_chain(None, "sweep", params={"note": "n"})
    with pytest.raises(Unprocessable, match=r"needs a data set for its input 'frames': name one"):
        await operator.client.request_chain(None, "linear")
    assert operator.neighbours.datasets == {}


@pytest.mark.usefixtures("sweep")
async def test_it_is_started_by_its_name_alone(
    operator: Operator, sluice: Command, tmp_path: Path
) -> None:
    order = tmp_path / "order.yml"
    order.write_text("cuts: [4, 5]\nnote: n\n")
    await sluice("chain", "start", "sweep", "--job", str(order))
    (requested,) = operator.neighbours.requested
    assert requested.params == {"cuts": [4, 5], "note": "n"}
    said = await sluice("chain", "start", "sweep", "--job", str(order), code=3)
    assert "and these parameters already" in said
    named = requested.dataset.name
    said = await sluice("chain", "start", named, "sweep", "--job", str(order), code=1)
    assert "template 'sweep' takes no data set" in said
    said = await sluice("chain", "start", "linear", code=1)
    assert "template 'linear' needs a data set for its input 'frames'" in said
    await sluice("chain", "start", "a", "b", "c", code=2)


@pytest.mark.usefixtures("sweep")
async def test_the_page_asks_for_no_data_set(operator: Operator) -> None:
    page = await operator.http.get("/chains/new?template=sweep")
    assert "None: all inputs of the template are parameters." in page.text
    assert "Start the chain" in page.text
    assert "Start the chain" not in (await operator.http.get("/chains/new?template=linear")).text
    form = {"csrf_token": token_of(page), "dataset": "", "template": "sweep"}
    values = {"param-cuts": "[1]", "param-note": "x"}
    started = await operator.http.post("/chains/new", data=form | values)
    assert started.status_code == 303
    (requested,) = operator.neighbours.requested
    assert (requested.params, requested.dataset.count_files) == ({"cuts": [1], "note": "x"}, 0)
    drawn = (await operator.http.get("/templates/sweep")).text
    assert "no data set" in drawn
