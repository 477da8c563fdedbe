"""Chains get versions of assets when they are created, and keep them."""

import asyncio
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.common.problems import Conflict, NotFound, ServiceError, Unprocessable
from sluice.contracts.common.states import DatasetState, TaskState
from tests.draws import count_examples
from tests.integration.assets.asset_services import (
    Assets,
    get_version,
    make_bound_plan,
    read_content,
)
from tests.unit.wfms.chains.plans import make_plan, make_step


async def test_chain_keeps_the_version_it_began_with(assets: Assets) -> None:
    first = await assets.put_version("model", b"a")
    template = assets.wfms.add_template(make_bound_plan("asset:model"))
    early, late = await assets.wfms.create_input("early"), await assets.wfms.create_input("late")
    chain = await assets.wfms.create_chain(early, template)
    await assets.put_version("model", b"b")
    assert get_version(chain) == "model@1"
    assert get_version(await assets.wfms.create_chain(early, template)) == "model@1", (
        "the existing chain is returned"
    )
    assert get_version(await assets.wfms.create_chain(late, template)) == "model@2"
    await assets.wfms.start_steps()
    await assets.wfms.deliver_messages()
    task = next(t for t in assets.wfms.wms.tasks.values() if t.chain_uid == chain.uid)
    assert [side.dat_in_uid for side in task.side_inputs] == [first.dataset_uid]


async def test_version_is_named_by_the_template_or_with_the_chain(assets: Assets) -> None:
    for data in (b"a", b"b", b"c"):
        await assets.put_version("model", data)
    await assets.put_version("other", b"o")
    assert get_version(await assets.chain("one", make_bound_plan("asset:model@2"))) == "model@2"
    chain = await assets.chain("two", make_bound_plan("asset:model"), model="asset:other")
    assert get_version(chain) == "other@1"
    with pytest.raises(Unprocessable, match="has no version 7; its versions are 3, 2, 1"):
        await assets.chain("three", make_bound_plan("asset:model@7"))
    with pytest.raises(Unprocessable, match="there is no asset 'nothing'; `sluice asset put"):
        await assets.chain("four", make_bound_plan("asset:model"), model="asset:nothing")
    with pytest.raises(Unprocessable, match="is not an asset such as"):
        await assets.chain("five", make_bound_plan("asset:model"), model="asset:no name")
    await assets.client.remove_asset("model", version=2)
    with pytest.raises(Unprocessable, match="version 2 of asset 'model' was withdrawn on"):
        await assets.chain("six", make_bound_plan("asset:model@2"))


async def test_content_of_an_asset_must_fit_the_parameter(assets: Assets) -> None:
    await assets.put("two", {"a": b"1", "b/c": b"2"})
    with pytest.raises(Unprocessable, match=r"takes one file, and asset:two@1 has 2 \(a, b/c\)"):
        await assets.chain("one", make_bound_plan("asset:two"))
    files = {"type": "array", "items": "File"}
    with pytest.raises(Unprocessable, match=r"takes a list of files, and .* in folders \(b/c\)"):
        await assets.chain("two", make_bound_plan("asset:two", files))
    folder = await assets.chain("three", make_bound_plan("asset:two", "Directory"))
    assert folder.params["model"]["class"] == "Directory"


async def test_rerun_keeps_the_version_unless_another_is_given(assets: Assets) -> None:
    await assets.put_version("model", b"a")
    chain = await assets.chain("one", make_bound_plan("asset:model"))
    await assets.wfms.start_steps()
    await assets.wfms.deliver_messages()
    [task] = assets.wfms.wms.tasks
    await assets.wfms.end_task(task, TaskState.FAILED, failed=1, reason="1 of 1 job failed")
    await assets.wfms.run_loops()
    await assets.put_version("model", b"b")
    chains = assets.wfms.chains
    again, _ = await chains.rerun_chain(chain.uid, RerunChain(key=uuid4()))
    assert get_version(again) == "model@1"
    newer, _ = await chains.rerun_chain(
        chain.uid, RerunChain(key=uuid4(), params={"model": "asset:model"})
    )
    assert get_version(newer) == "model@2"
    with pytest.raises(Unprocessable, match="there is no asset 'nothing'"):
        await chains.rerun_chain(
            chain.uid, RerunChain(key=uuid4(), params={"model": "asset:nothing"})
        )


async def test_chain_without_assets_does_not_need_the_operator(assets: Assets) -> None:
    del assets.wfms.links.apps["wfms.operator"]
    template = assets.wfms.add_template(make_plan(make_step("only"), outputs=[("only", "out")]))
    assert await assets.wfms.create_chain(await assets.wfms.create_input("a"), template)


moves = st.lists(
    st.sampled_from(["put a", "put b", "remove", "remove all", "chain", "turn", "end"]),
    min_size=3,
    max_size=9,
)


@settings(
    max_examples=count_examples(5),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(moves, min_size=2, max_size=3))
async def test_chain_never_gets_an_incomplete_or_deleted_version(
    assets: Assets, actors: list[list[str]]
) -> None:
    """Versions are stored, removed and used concurrently."""
    name = f"model-{uuid4().hex[:8]}"
    chains: list[Chain] = []
    await asyncio.gather(*(_act(assets, name, moves_, chains) for moves_ in actors))
    await assets.run_loops()
    for chain in chains:
        if (await assets.wfms.chains.get_chain(chain.uid)).state.final:
            continue
        dataset = await assets.wfms.dms.get_dataset(chain.params["model"]["dataset"])
        assert (dataset.state, dataset.count_files) == (DatasetState.CLOSED, 2)
        contents = set()
        for file in (await assets.wfms.dms.list_files(dataset.uid)).files:
            contents.add(read_content(file)[:1])
        assert len(contents) == 1, "both files are of one version"


async def _act(assets: Assets, name: str, moves_: list[str], chains: list[Chain]) -> None:
    for move in moves_:
        try:
            match move.split():
                case ["put", letter]:
                    data = letter.encode()
                    await assets.put(name, {"one": data + b"1", "two": data + b"2"})
                case ["remove"]:
                    newest = (await assets.client.get_asset(name)).newest
                    version = None if newest is None else newest.version
                    await assets.client.remove_asset(name, version=version)
                case ["remove", "all"]:
                    await assets.client.remove_asset(name)
                case ["chain"]:
                    label = f"in-{uuid4().hex}"
                    chains.append(
                        await assets.chain(label, make_bound_plan(f"asset:{name}", "Directory"))
                    )
                case ["turn"]:
                    await assets.run_loops()
                case ["end"] if chains:
                    await assets.wfms.chains.cancel_chain(chains[0].uid)
                    await assets.wfms.run_loops()
        except (NotFound, Conflict, Unprocessable) as refusal:
            assert_told(refusal)


def assert_told(refusal: ServiceError) -> None:
    """Require that a refusal names assets, or that the chain is already final."""
    assert "asset" in refusal.detail or "final" in refusal.detail, refusal.detail
