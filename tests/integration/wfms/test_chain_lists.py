"""Lists of chains and tasks, with their filters and cursors."""

from typing import Any
from uuid import uuid4

import pytest

from sluice.contracts.chains.chains import ChainPage, ChainTask
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import ChainState, StepState
from sluice.contracts.templates.plan import Source
from tests.integration.wfms.reruns.reruns import run_all_loops
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step

ONE = make_plan(make_step("decode"), outputs=[("decode", "out")])


TWO = make_plan(
    make_step("decode"),
    make_step("filter", Source(step="decode", port="out")),
    outputs=[("filter", "out")],
)


async def test_chains_that_ended_last_are_listed_first(wfms: WfmsFixture) -> None:
    dataset = await wfms.create_input("a")
    uids = [
        (await wfms.create_chain(dataset, wfms.add_template(ONE, name=f"wf-{number}"))).uid
        for number in range(4)
    ]
    for uid in reversed(uids[:3]):
        await wfms.chains.cancel_chain(uid)
    assert [chain.uid for chain in await wfms.chains.list_last_ended_chains(limit=9)] == uids[:3]
    assert [chain.uid for chain in await wfms.chains.list_last_ended_chains(limit=1)] == uids[:1]
    page = await wfms.client("wfms.chains").get(
        "/api/v1/chains", params={"ended": True, "limit": 1}
    )
    assert ChainPage.model_validate_json(page.content).after is None, (
        "cursors follow the order of creation and are of no use here"
    )


async def test_chains_of_one_template_are_listed_in_pages(wfms: WfmsFixture) -> None:
    dataset = await wfms.create_input("a")
    for number in range(4):
        await wfms.create_chain(
            dataset, wfms.add_template(ONE, name=f"wf-{number % 2}", version=number)
        )
    first = await wfms.chains.list_chains(template="wf-1", limit=1)
    rest = await wfms.chains.list_chains(template="wf-1", after=first.after)
    versions = [chain.template_version for chain in [*first.chains, *rest.chains]]
    assert versions == [3, 1]
    assert (await wfms.chains.list_chains(template="wf")).chains == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"meta": ["run=7"]}, [1, 0]),
        ({"meta": ["run=7", "detector=north"]}, [1]),
        ({"meta": ["run=7"], "template": "other"}, [0]),
        ({"meta": ['run="7"']}, [2]),
        ({"meta": ["run=7"], "state": ChainState.CANCELED}, [0]),
        ({"meta": ["detector=nor"]}, []),
        ({"owner": "anna"}, [2]),
        ({"owner": "anna", "meta": ["run=7"]}, []),
    ],
)
async def test_chains_are_listed_by_all_filters_together(
    wfms: WfmsFixture, filters: dict[str, Any], expected: list[int]
) -> None:
    metas: list[dict[str, Any]] = [{"run": 7}, {"run": 7, "detector": "north"}, {"run": "7"}]
    chains = [
        await wfms.create_chain(
            await wfms.create_input(f"input-{number}", meta=meta),
            wfms.add_template(ONE, name="wf" if number else "other"),
        )
        for number, meta in enumerate(metas)
    ]
    await wfms.chains.cancel_chain(chains[0].uid)
    await wfms.fetch_rows(
        "wfms.chains",
        "UPDATE chains SET owner = CASE dataset_name WHEN 'input-2' THEN 'anna' ELSE 'ben' END",
    )
    chains_found = await wfms.chains.list_chains(**filters)
    assert [chain.dataset_name for chain in chains_found.chains] == [f"input-{n}" for n in expected]
    listed: list[str] = []
    after: str | None = None
    while True:
        page = await wfms.chains.list_chains(limit=1, after=after, **filters)
        listed += [chain.dataset_name for chain in page.chains]
        after = page.after
        if after is None:
            break
    assert listed == [chain.dataset_name for chain in chains_found.chains]


@pytest.mark.parametrize("meta", [["run"], ["=7"], ["run=7", "run=8"], ["run=1e999"]])
async def test_malformed_metadata_filter_is_refused(wfms: WfmsFixture, meta: list[str]) -> None:
    with pytest.raises(Unprocessable, match=r"query\.meta: "):
        await wfms.chains.list_chains(meta=meta)


async def test_several_chains_are_looked_up_in_one_request(wfms: WfmsFixture) -> None:
    dataset = await wfms.create_input("a")
    uids = [
        (await wfms.create_chain(dataset, wfms.add_template(ONE, name=f"wf-{number}"))).uid
        for number in range(3)
    ]
    chains = await wfms.chains.list_chains_by_uid([uids[0], uuid4(), uids[2]])
    assert [chain.uid for chain in chains] == [uids[2], uids[0]]
    assert await wfms.chains.list_chains_by_uid([]) == []


async def test_tasks_are_listed_in_pages(wfms: WfmsFixture) -> None:
    dataset = await wfms.create_input("a")
    for number in range(5):
        await wfms.create_chain(dataset, wfms.add_template(TWO, name=f"wf-{number}"))
    await run_all_loops(wfms, turns=3)
    all_tasks = (await wfms.chains.list_tasks()).tasks
    assert len(all_tasks) == 10
    tasks: list[ChainTask] = []
    after: str | None = None
    while True:
        page = await wfms.chains.list_tasks(limit=3, after=after)
        tasks += page.tasks
        after = page.after
        if after is None:
            break
    assert tasks == all_tasks
    chain_uid = all_tasks[0].chain_uid
    of_one = await wfms.chains.list_tasks(chain_uid=chain_uid)
    assert {task.chain_uid for task in of_one.tasks} == {chain_uid}
    ended = await wfms.chains.list_tasks(limit=3, state=StepState.FINISHED)
    more = await wfms.chains.list_tasks(limit=100, state=StepState.FINISHED, after=ended.after)
    assert [task.task_uid for task in [*ended.tasks, *more.tasks]] == [
        task.task_uid for task in all_tasks
    ]
    for cursor in ("x", "1", "1.", "-1.2", "1.2.3", "9" * 30 + ".1"):
        with pytest.raises(Unprocessable, match="is not a cursor of this list"):
            await wfms.chains.list_tasks(after=cursor)
