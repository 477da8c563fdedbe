"""A chain whose upload does not progress shows the reason on pages, by REST and by command."""

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import ChainState, DatasetState
from sluice.contracts.data.datasets import Dataset, StalledGroup
from tests.integration.operator.conftest import Operator
from tests.integration.operator.scene import Scene
from tests.integration.operator.sluice_command import Command

DISABLED = (
    "no storage of type output can take it: results is disabled (`sluice storage enable results`)"
)


def create_waiting_upload(operator: Operator) -> tuple[Chain, Dataset]:
    """Return a chain that uploads its output to a disabled storage, and the output."""
    neighbours = operator.neighbours
    chain = next(
        candidate
        for candidate in neighbours.chains.values()
        if candidate.state is ChainState.UPLOADING
    )
    last = next(dataset for dataset in reversed(chain.datasets) if dataset.port is not None)
    meta = {"chain": str(chain.uid), "output_name": f"{chain.dataset_name}.result"}
    output = neighbours.datasets[last.uid].model_copy(
        update={"state": DatasetState.UPLOADING, "meta": meta}
    )
    neighbours.datasets[last.uid] = output
    neighbours.waits_for[last.uid] = f"its upload, which fails and is tried again: {DISABLED}"
    return chain, output


async def test_chain_tells_why_its_output_is_not_uploaded(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    chain, _ = create_waiting_upload(operator)
    sentence = (
        "output run-0311-frames.result waits for its upload, which fails and is tried again:"
        f" {DISABLED}"
    )
    assert (await operator.client.get_chain(chain.uid)).reason == sentence
    assert f"O{sentence[1:]}" in (await operator.http.get(f"/chains/{chain.uid}")).text
    assert sentence in " ".join((await sluice("chain", "show", str(chain.uid))).split())
    operator.neighbours.waits_for.clear()
    assert (await operator.client.get_chain(chain.uid)).reason == "", "the upload continues"


async def test_stalled_upload_needs_attention(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    chain, output = create_waiting_upload(operator)
    stalled = StalledGroup(
        state=DatasetState.UPLOADING,
        reason=DISABLED,
        first=output,
        number=1,
        since=output.timestamp,
    )
    operator.neighbours.stalled = [stalled]
    text = f"The upload of data set run-0311-frames.result does not continue: {DISABLED}"
    page = (await operator.http.get("/")).text
    assert text in page
    assert f'href="/chains/{chain.uid}">Show' in page.partition(text)[2]
    assert text in " ".join((await sluice("attention", "list")).split())
    operator.neighbours.stalled = [stalled.model_copy(update={"number": 57})]
    assert (
        f"The upload of 57 data sets does not continue: {DISABLED}"
        in (await operator.http.get("/")).text
    )
    operator.neighbours.stalled = []
    assert "does not continue" not in (await operator.http.get("/")).text


async def test_deleted_data_sets_of_a_chain_are_shown_as_deleted(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    chain = next(
        candidate
        for candidate in operator.neighbours.chains.values()
        if candidate.state is ChainState.FINISHED
    )
    for dataset in chain.datasets:
        state = DatasetState.DELETING if dataset.step is None else DatasetState.DELETED
        operator.neighbours.datasets[dataset.uid] = operator.neighbours.datasets[
            dataset.uid
        ].model_copy(update={"state": state})
    shown = await sluice("chain", "show", str(chain.uid))
    rows = {
        dataset.uid: next(line for line in shown.splitlines() if str(dataset.uid) in line)
        for dataset in chain.datasets
    }
    assert {uid for uid, row in rows.items() if "deleted" in row} == {
        dataset.uid for dataset in chain.datasets if dataset.step is not None
    }
    assert "deleting" in rows[chain.dataset_uid]
    assert not any("ready" in row for row in rows.values())
    page = (await operator.http.get(f"/chains/{chain.uid}")).text
    assert "complete, needed" not in page
    assert page.count('<td data-label="For this chain">deleted</td>') == len(chain.datasets) - 1
    del operator.neighbours.datasets[chain.dataset_uid]
    assert "ready" in next(
        line
        for line in (await sluice("chain", "show", str(chain.uid))).splitlines()
        if str(chain.dataset_uid) in line
    ), "the chain's own record is shown"
