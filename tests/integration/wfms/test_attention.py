"""The database counts chains, and failed chains need attention until somebody acknowledges them."""

import json
from uuid import uuid4

import pytest

from sluice.contracts.chains.attention import Acknowledge, ChainCounts
from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import ChainState
from tests.integration.wfms.reruns.reruns import HOUR, run_all_loops
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.chains.db import attention
from wfms.chains.db.reading import CHAINS_BY_END, CHAINS_OF_ATTENTION, ChainQuery

ONE = make_plan(make_step("decode"), outputs=[("decode", "out")])
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
