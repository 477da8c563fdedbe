"""People rank a whole chain on its page, by REST and by command."""

import pytest

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import ChainState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.templates import NewTemplate
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.scene import Scene
from tests.integration.operator.sluice_command import Command


@pytest.fixture
def running(operator: Operator, scene: Scene) -> Chain:
    chains = operator.neighbours.chains.values()
    return next(chain for chain in chains if chain.state is ChainState.IN_PROGRESS)


async def test_page_changes_the_rank_of_a_chain(operator: Operator, running: Chain) -> None:
    address = f"/chains/{running.uid}"
    token = read_token(await operator.http.get(address))
    for typed, message in (
        ("40", "40 is added to the ranks"),
        ("-1", "it must be a number from 0"),
    ):
        form = {"csrf_token": token, "rank": typed}
        assert (await operator.http.post(f"{address}/rank", data=form)).status_code == 303
        page = (await operator.http.get(address)).text
        assert message in page
        assert "rank +40" in page
    assert operator.neighbours.chains[running.uid].rank == 40


async def test_commands_change_and_show_the_rank_of_a_chain(
    operator: Operator, running: Chain, sluice: Command, spd_text: str
) -> None:
    output = await sluice("chain", "rank", running.dataset_name, "12.5")
    assert "12.5 is added to the ranks of its steps" in output
    assert "rank: 12.5 is added" in await sluice("chain", "show", str(running.uid))
    over = next(chain for chain in operator.neighbours.chains.values() if chain.state.final)
    assert "no longer matters" in await sluice("chain", "rank", str(over.uid), "1", code=1)
    assert "0" in await sluice("chain", "rank", str(running.uid), "--", "-1", code=1)


async def test_chain_request_includes_a_rank(
    operator: Operator, scene: Scene, spd_text: str
) -> None:
    await operator.client.store_template(NewTemplate(name="other", cwl=spd_text))
    dataset: Dataset = scene.dataset("more", DatasetType.INPUT, files=1, size=1)
    chain = await operator.client.request_chain(dataset.uid, "other", rank=8.0)
    assert (operator.neighbours.requested[-1].rank, chain.rank) == (8.0, 8.0)
