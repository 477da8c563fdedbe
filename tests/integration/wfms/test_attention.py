"""The database counts chains, and failed chains need attention until somebody acknowledges them."""

import json
from typing import Any
from uuid import uuid4

import pytest

from sluice.contracts.chains.attention import Acknowledge, ChainCounts
from sluice.contracts.chains.chains import Chain, ChainPage, ChainTask, RerunChain
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import ChainState, StepState
from sluice.contracts.templates.plan import Source
from tests.integration.wfms.reruns.reruns import HOUR, run_all_loops
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.chains.db import attention
from wfms.chains.db.reading import CHAINS_BY_END, CHAINS_OF_ATTENTION, ChainQuery

ONE = make_plan(make_step("decode"), outputs=[("decode", "out")])
TWO = make_plan(
    make_step("decode"),
    make_step("filter", Source(step="decode", port="out")),
    outputs=[("filter", "out")],
)
ANN, BOB = Acknowledge(by="Ann"), Acknowledge(by="Bob")


async def create_failed_chain(wfms: WfmsFixture, name: str = "a") -> Chain:
    wfms.keep_failed_data(HOUR)
    template = wfms.add_template(ONE, name=f"wf-{name}")
    chain = await wfms.create_chain(await wfms.create_input(name), template)
    await run_all_loops(wfms, fail="decode", turns=2)
    return await wfms.get_chain(chain.uid)


async def list_needing_attention(wfms: WfmsFixture) -> list[Chain]:
    return (await wfms.chains.list_chains(attention=True)).chains


async def test_failed_chain_needs_attention_until_somebody_acknowledges_it(
    wfms: WfmsFixture,
) -> None:
    failed = await create_failed_chain(wfms)
    assert failed.state is ChainState.FAILED
    later = await wfms.create_input("later")
    for number in range(12):
        await wfms.create_chain(later, wfms.add_template(ONE, name=f"later-{number}"))
    await run_all_loops(wfms, turns=3)
    assert [needing.uid for needing in await list_needing_attention(wfms)] == [failed.uid], (
        "newer ended chains do not hide the failed chain"
    )
    assert await wfms.chains.get_counts() == ChainCounts(in_progress=0, uploading=0, attention=1)
    chain = await wfms.chains.acknowledge_chain(failed.uid, ANN)
    assert chain.acknowledged is not None
    assert chain.acknowledged.by == "Ann"
    with pytest.raises(
        Conflict,
        match=f"^Ann already acknowledged it, {chain.acknowledged.at:%F %T}: chain {failed.uid}$",
    ):
        await wfms.chains.acknowledge_chain(failed.uid, BOB)
    second_answer = await wfms.chains.acknowledge_chain(failed.uid, ANN)
    assert second_answer.acknowledged == chain.acknowledged, "the first acknowledgement is kept"
    assert await list_needing_attention(wfms) == []
    assert (await wfms.chains.get_counts()).attention == 0
    assert (await wfms.get_chain(failed.uid)).acknowledged == chain.acknowledged


async def test_only_failed_chains_can_be_acknowledged(wfms: WfmsFixture) -> None:
    running = await wfms.create_chain(await wfms.create_input("a"), wfms.add_template(ONE))
    with pytest.raises(Conflict, match="is in_progress, and needs no decision"):
        await wfms.chains.acknowledge_chain(running.uid, ANN)
    with pytest.raises(NotFound):
        await wfms.chains.acknowledge_chain(uuid4(), ANN)
    for invalid_name in (" ", "a\x00b", "x" * 101):
        answer = await wfms.client("wfms.chains").post(
            f"/api/v1/chains/{running.uid}/acknowledge", json={"by": invalid_name}
        )
        assert answer.status_code == 422


async def test_rerun_or_discarded_failed_chain_needs_no_attention(wfms: WfmsFixture) -> None:
    first, second = await create_failed_chain(wfms, "a"), await create_failed_chain(wfms, "b")
    assert [needing.uid for needing in await list_needing_attention(wfms)] == [
        second.uid,
        first.uid,
    ]
    rerun, _ = await wfms.chains.rerun_chain(first.uid, RerunChain(key=uuid4()))
    await wfms.chains.discard_chain(second.uid)
    assert await list_needing_attention(wfms) == []
    await run_all_loops(wfms, fail="decode", turns=2)
    assert [needing.uid for needing in await list_needing_attention(wfms)] == [rerun.uid], (
        "the rerun failed, too"
    )


async def test_chain_with_a_blocked_step_needs_attention_until_the_step_continues(
    wfms: WfmsFixture,
) -> None:
    chain = await wfms.create_chain(await wfms.create_input("a"), wfms.add_template(ONE))
    statement = "UPDATE steps SET reason = $2 WHERE chain_uid = $1 RETURNING 1"
    assert await list_needing_attention(wfms) == []
    await wfms.fetch_rows("wfms.chains", statement, chain.uid, "there is no storage for it")
    assert [needing.uid for needing in await list_needing_attention(wfms)] == [chain.uid]
    await wfms.fetch_rows("wfms.chains", statement, chain.uid, "")
    assert await list_needing_attention(wfms) == []


async def test_all_running_chains_are_counted(wfms: WfmsFixture) -> None:
    dataset = await wfms.create_input("a")
    for number in range(76):
        await wfms.create_chain(dataset, wfms.add_template(ONE, name=f"wf-{number}"))
    assert len((await wfms.chains.list_chains()).chains) == 50
    assert await wfms.chains.get_counts() == ChainCounts(in_progress=76, uploading=0, attention=0)


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


async def test_counts_and_attention_use_indexes(wfms: WfmsFixture) -> None:
    await wfms.create_chain(await wfms.create_input("a"), wfms.add_template(ONE))
    for statement, arguments in (
        (attention.UNDER_WAY, (["a", "b"],)),
        (attention.COUNT_NEEDING_ATTENTION, (None,)),
        (CHAINS_OF_ATTENTION, (None, None, None, 100, None, ["a"])),
        (CHAINS_BY_END, (None, None, None, 10, None, None)),
        (ChainQuery(template="wf").statement, (None, None, None, 10, None, None, "wf")),
    ):
        async with wfms.databases["wfms.chains"].transaction() as transaction:
            await transaction.connection.execute("SET LOCAL enable_seqscan = off")
            text = await transaction.connection.fetchval(
                f"EXPLAIN (FORMAT JSON) {statement}", *arguments
            )
        assert "Seq Scan" not in json.dumps(json.loads(text)), statement


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (ChainQuery(meta={"run": 7}), "chains_by_meta"),
        (ChainQuery(owner="anna"), "chains_by_owner"),
    ],
)
async def test_owner_and_metadata_filters_can_use_an_index(
    wfms: WfmsFixture, query: ChainQuery, index: str
) -> None:
    async with wfms.databases["wfms.chains"].transaction() as transaction:
        # All plans of an empty table cost the same, so that other plans must be disabled.
        for scan_kind in ("seqscan", "indexscan"):
            await transaction.connection.execute(f"SET LOCAL enable_{scan_kind} = off")
        text = await transaction.connection.fetchval(
            f"EXPLAIN (FORMAT JSON) {query.statement}",
            None,
            None,
            None,
            10,
            None,
            None,
            *query.further.values(),
        )
    assert index in text


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
