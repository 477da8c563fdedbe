"""The operator tests' fake chain service has chains as the real one."""

from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from sluice.clients.chains import ChainsClient
from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.chains.chains import RerunChain
from sluice.contracts.common.states import ChainDatasetStatus, ChainState, StepState
from sluice.contracts.jobs.tasks import BY_REQUEST, Cancel
from tests.integration.fakes.operator_chains import (
    CANCELED,
    FAILED,
    FINISHED,
    IN_PROGRESS,
    UPLOADING,
    OperatorChains,
)
from tests.integration.fakes.two_services import (
    CONFLICT,
    NOT_FOUND,
    REAL,
    UNPROCESSABLE,
    get_refusal,
    make_http_client,
)
from tests.integration.operator.fakes.neighbours import Neighbours
from tests.integration.wfms.wfms_fixture import WfmsFixture

pytestmark = pytest.mark.asyncio(loop_scope="module")

#: Store 50 more chains of the only chain's data set and template.
COPY_CHAIN = """
INSERT INTO chains (uid, variant, template_id, template_name, template_version, dataset_uid,
    dataset_name, plan, params, dataset, state, created_at)
SELECT gen_random_uuid(), n, template_id, template_name, template_version, dataset_uid,
    dataset_name, plan, params, dataset, state, created_at
FROM chains, generate_series(1, 50) AS n
"""


@pytest_asyncio.fixture(loop_scope="module")
async def chains(kind: str, wfms: WfmsFixture) -> OperatorChains:
    await wfms.fetch_rows("wfms.chains", "TRUNCATE chains CASCADE")
    if kind == REAL:
        return OperatorChains(wfms.chains, wfms, None)
    neighbours = Neighbours()
    app = neighbours.apps["wfms.chains"]
    return OperatorChains(ChainsClient(make_http_client(app, "wfms.chains")), wfms, neighbours)


async def list_chain_uids(chains: OperatorChains, **filters: Any) -> list[UUID]:
    return [chain.uid for chain in (await chains.client.list_chains(**filters)).chains]


async def test_new_chain_is_in_progress_with_its_input_and_defaults(chains: OperatorChains) -> None:
    request = await chains.request()
    chain, is_new = await chains.client.create_new_chain(request)
    assert is_new
    assert (chain.state, chain.params, chain.rank) == (IN_PROGRESS, {"cut": 3}, 0.0)
    assert [(step.name, step.state, step.task_uid is None) for step in chain.steps] == [
        ("decode", StepState.STARTING, False),
        ("filter", StepState.PENDING, True),
        ("merge", StepState.PENDING, True),
    ]
    [own] = chain.datasets
    assert (own.uid, own.step, own.port) == (request.dataset.uid, None, None)
    assert own.state is ChainDatasetStatus.READY
    assert await chains.client.get_chain(chain.uid) == chain


async def test_repeated_request_gives_the_first_chain(chains: OperatorChains) -> None:
    request = await chains.request()
    first, _ = await chains.client.create_new_chain(request)
    ranked = request.model_copy(update={"rank": 2.0})
    again, is_new = await chains.client.create_new_chain(ranked)
    assert (again, is_new) == (first, False)
    other, is_new = await chains.client.create_new_chain(
        request.model_copy(update={"params": {"cut": 4}})
    )
    assert is_new
    assert other.uid != first.uid


async def test_parameters_that_do_not_fit_are_refused(chains: OperatorChains) -> None:
    request = (await chains.request()).model_copy(update={"params": {"cut": "wide"}})
    assert await get_refusal(chains.client.create_chain(request)) == UNPROCESSABLE


async def test_newest_chains_come_first_on_pages(chains: OperatorChains) -> None:
    uids = [(await chains.chain()).uid for _ in range(3)][::-1]
    page = await chains.client.list_chains(limit=2)
    assert [chain.uid for chain in page.chains] == uids[:2]
    assert page.after is not None
    last = await chains.client.list_chains(limit=2, after=page.after)
    assert [chain.uid for chain in last.chains] == uids[2:]
    assert last.after is None


async def test_full_page_has_a_cursor_even_if_it_is_the_last(chains: OperatorChains) -> None:
    await chains.chain()
    page = await chains.client.list_chains(limit=1)
    assert page.after is not None
    beyond = await chains.client.list_chains(limit=1, after=page.after)
    assert (beyond.chains, beyond.after) == ([], None)


async def test_page_has_50_chains_by_default(chains: OperatorChains) -> None:
    first = await chains.chain()
    for _ in range(50):
        copy = first.model_copy(update={"uid": uuid4()})
        if chains.neighbours is not None:
            chains.neighbours.chains[copy.uid] = copy
    if chains.neighbours is None:
        await chains.wfms.fetch_rows("wfms.chains", COPY_CHAIN)
    assert len(await list_chain_uids(chains)) == 50


async def test_invalid_cursor_is_refused(chains: OperatorChains) -> None:
    assert await get_refusal(chains.client.list_chains(after="x")) == UNPROCESSABLE
    assert await get_refusal(chains.client.list_tasks(after="x")) == UNPROCESSABLE


async def test_chains_are_filtered_by_state_input_template_and_owner(
    chains: OperatorChains,
) -> None:
    running, failed = await chains.chain(), await chains.chain(FAILED)
    owned = await chains.chain(owner="ada")
    assert await list_chain_uids(chains, state=FAILED) == [failed.uid]
    assert await list_chain_uids(chains, state=IN_PROGRESS) == [owned.uid, running.uid]
    assert await list_chain_uids(chains, state=UPLOADING) == []
    assert await list_chain_uids(chains, dataset_uid=running.dataset_uid) == [running.uid]
    assert await list_chain_uids(chains, template=failed.template) == [failed.uid]
    assert await list_chain_uids(chains, owner="ada") == [owned.uid]
    assert await list_chain_uids(chains, template=failed.template, state=IN_PROGRESS) == []


async def test_chains_are_filtered_by_metadata_of_their_input(chains: OperatorChains) -> None:
    uids = []
    for run in (1, 2):
        request = await chains.request(meta={"run": run, "kind": "raw"})
        uids.append((await chains.copy((await chains.wfms.chains.create_chain(request)).uid)).uid)
    assert await list_chain_uids(chains, meta=["run=2", "kind=raw"]) == [uids[1]]
    assert await list_chain_uids(chains, meta=["kind=raw"]) == uids[::-1]
    assert await list_chain_uids(chains, meta=["kind=cooked"]) == []


async def test_chains_that_use_a_data_set_are_listed(chains: OperatorChains) -> None:
    chain = await chains.chain()
    await chains.chain()
    using = await chains.client.list_chains(uses=chain.dataset_uid, limit=10)
    assert [one.uid for one in using.chains] == [chain.uid]


async def test_only_existing_chains_of_given_uids_are_listed(chains: OperatorChains) -> None:
    chain = await chains.chain()
    await chains.chain()
    found = await chains.client.list_chains_by_uid([uuid4(), chain.uid])
    assert [one.uid for one in found] == [chain.uid]


async def test_chains_that_ended_last_come_first(chains: OperatorChains) -> None:
    first, second = await chains.chain(), await chains.chain()
    await chains.chain()
    for chain in (second, first):
        await chains.wfms.chains.cancel_chain(chain.uid)
        await chains.copy(chain.uid)
    ended = await chains.client.list_last_ended_chains(limit=5)
    assert [chain.uid for chain in ended] == [first.uid, second.uid]


async def test_failed_chain_needs_attention_until_it_is_acknowledged_or_discarded(
    chains: OperatorChains,
) -> None:
    seen, discarded, rerun = [await chains.chain(FAILED) for _ in range(3)]
    await chains.chain(CANCELED)
    await chains.chain(UPLOADING)
    assert await list_chain_uids(chains, attention=True) == [rerun.uid, discarded.uid, seen.uid]
    counts = await chains.client.get_counts()
    assert (counts.in_progress, counts.uploading, counts.attention) == (0, 1, 3)
    await chains.client.acknowledge_chain(seen.uid, Acknowledge(by="ada"))
    await chains.client.discard_chain(discarded.uid)
    assert await list_chain_uids(chains, attention=True) == [rerun.uid]
    assert (await chains.client.get_counts()).attention == 1


async def test_failure_is_acknowledged_by_one_person(chains: OperatorChains) -> None:
    chain = await chains.chain(FAILED)
    first = await chains.client.acknowledge_chain(chain.uid, Acknowledge(by="ada"))
    again = await chains.client.acknowledge_chain(chain.uid, Acknowledge(by="ada"))
    assert first.acknowledged is not None
    assert again.acknowledged == first.acknowledged
    second = chains.client.acknowledge_chain(chain.uid, Acknowledge(by="ben"))
    assert await get_refusal(second) == CONFLICT


@pytest.mark.parametrize("state", [IN_PROGRESS, UPLOADING, FINISHED, CANCELED])
async def test_only_a_failure_can_be_acknowledged(
    chains: OperatorChains, state: ChainState
) -> None:
    chain = await chains.chain(state)
    call = chains.client.acknowledge_chain(chain.uid, Acknowledge(by="ada"))
    assert await get_refusal(call) == CONFLICT


async def test_canceled_chain_has_the_first_reason(chains: OperatorChains) -> None:
    chain = await chains.chain()
    canceled = await chains.client.cancel_chain(chain.uid, Cancel(reason="wrong cut"))
    again = await chains.client.cancel_chain(chain.uid, Cancel(reason="again"))
    assert (canceled.state, canceled.reason) == (CANCELED, "wrong cut")
    assert canceled.ended_at is not None
    assert {step.state for step in canceled.steps} == {StepState.CANCELED}
    assert again == canceled


async def test_chain_with_running_task_is_canceled_when_the_task_has_stopped(
    chains: OperatorChains,
) -> None:
    chain = await chains.create_started_chain()
    canceled = await chains.client.cancel_chain(chain.uid)
    assert (canceled.state, canceled.reason) == (IN_PROGRESS, BY_REQUEST.reason)
    assert canceled.ended_at is None
    assert [step.state for step in canceled.steps] == [
        StepState.IN_PROGRESS,
        StepState.CANCELED,
        StepState.CANCELED,
    ]
    assert await get_refusal(chains.client.rank_chain(chain.uid, rank=1.0)) == CONFLICT


@pytest.mark.parametrize("state", [FINISHED, FAILED])
async def test_chain_that_finished_or_failed_cannot_be_canceled(
    chains: OperatorChains, state: ChainState
) -> None:
    chain = await chains.chain(state)
    assert await get_refusal(chains.client.cancel_chain(chain.uid)) == CONFLICT


async def test_rank_is_set_while_steps_are_left(chains: OperatorChains) -> None:
    chain = await chains.chain()
    assert (await chains.client.rank_chain(chain.uid, rank=2.5)).rank == 2.5


@pytest.mark.parametrize("state", [UPLOADING, FINISHED, FAILED, CANCELED])
async def test_chain_without_steps_to_run_has_no_rank(
    chains: OperatorChains, state: ChainState
) -> None:
    chain = await chains.chain(state)
    assert await get_refusal(chains.client.rank_chain(chain.uid, rank=2.5)) == CONFLICT


@pytest.mark.parametrize("state", [IN_PROGRESS, FINISHED])
async def test_discarded_chain_keeps_its_state(chains: OperatorChains, state: ChainState) -> None:
    chain = await chains.chain(state)
    await chains.client.discard_chain(chain.uid)
    discarded = await chains.client.discard_chain(chain.uid)
    assert (discarded.state, discarded.discarded) == (state, True)


async def test_unknown_chain_is_not_found(chains: OperatorChains) -> None:
    client, unknown = chains.client, uuid4()
    assert await get_refusal(client.get_chain(unknown)) == NOT_FOUND
    assert await get_refusal(client.cancel_chain(unknown)) == NOT_FOUND
    assert await get_refusal(client.rank_chain(unknown, rank=1.0)) == NOT_FOUND
    assert await get_refusal(client.discard_chain(unknown)) == NOT_FOUND
    assert await get_refusal(client.acknowledge_chain(unknown, Acknowledge(by="ada"))) == NOT_FOUND
    assert await get_refusal(client.plan_rerun(unknown, RerunChain())) == NOT_FOUND
    assert await get_refusal(client.rerun_chain(unknown, RerunChain(key=uuid4()))) == NOT_FOUND


async def test_tasks_of_started_steps_are_listed_with_their_counts(chains: OperatorChains) -> None:
    first, second = await chains.create_started_chain(), await chains.create_started_chain()
    listed_tasks = (await chains.client.list_tasks()).tasks
    assert [task.chain_uid for task in listed_tasks[:3]] == [second.uid, second.uid, first.uid]
    task, starting = (await chains.client.list_tasks(chain_uid=second.uid)).tasks
    assert (task.step, task.state) == ("decode", StepState.IN_PROGRESS)
    assert (starting.step, starting.state) == ("filter", StepState.STARTING)
    assert (task.task_uid, starting.jobs) == (second.steps[0].task_uid, None)
    assert (task.template, task.dataset_name) == (second.template, second.dataset_name)
    assert task.jobs is not None
    assert task.jobs.uid == task.task_uid
    assert await chains.client.get_task(task.task_uid) == task


async def test_tasks_are_filtered_by_state_on_pages(chains: OperatorChains) -> None:
    first, second = await chains.create_started_chain(), await chains.create_started_chain()
    page = await chains.client.list_tasks(state=StepState.IN_PROGRESS, limit=1)
    assert [task.chain_uid for task in page.tasks] == [second.uid]
    assert page.after is not None
    last = await chains.client.list_tasks(state=StepState.IN_PROGRESS, limit=1, after=page.after)
    assert [task.chain_uid for task in last.tasks] == [first.uid]
    assert (await chains.client.list_tasks(state=StepState.FAILED)).tasks == []


async def test_canceled_task_leaves_its_chain_to_the_watcher(chains: OperatorChains) -> None:
    chain = await chains.create_started_chain()
    task, *_ = (await chains.client.list_tasks(chain_uid=chain.uid)).tasks
    status = await chains.client.cancel_task(task.task_uid, Cancel(reason="too slow"))
    assert (status.state, status.reason) == ("canceled", "too slow")
    assert (await chains.client.get_chain(chain.uid)).state is IN_PROGRESS


async def test_task_is_ranked(chains: OperatorChains) -> None:
    chain = await chains.create_started_chain()
    task, *_ = (await chains.client.list_tasks(chain_uid=chain.uid)).tasks
    assert (await chains.client.prioritise_task(task.task_uid, rank=4.0)).rank == 4.0
    await chains.client.cancel_task(task.task_uid)
    assert await get_refusal(chains.client.prioritise_task(task.task_uid, rank=5.0)) == CONFLICT


async def test_unknown_task_is_not_found(chains: OperatorChains) -> None:
    client, unknown = chains.client, uuid4()
    assert await get_refusal(client.get_task(unknown)) == NOT_FOUND
    assert await get_refusal(client.cancel_task(unknown)) == NOT_FOUND
    assert await get_refusal(client.prioritise_task(unknown, rank=1.0)) == NOT_FOUND


@pytest.mark.parametrize("state", [IN_PROGRESS, UPLOADING])
async def test_chain_that_has_not_ended_cannot_be_rerun(
    chains: OperatorChains, state: ChainState
) -> None:
    chain = await chains.chain(state)
    assert await get_refusal(chains.client.plan_rerun(chain.uid, RerunChain())) == CONFLICT
    rerun = chains.client.rerun_chain(chain.uid, RerunChain(key=uuid4()))
    assert await get_refusal(rerun) == CONFLICT


async def test_rerun_from_an_unknown_step_or_with_a_wrong_parameter_is_refused(
    chains: OperatorChains,
) -> None:
    chain = await chains.chain(FAILED)
    for request in (RerunChain(from_step="cook"), RerunChain(params={"cut": "wide"})):
        assert await get_refusal(chains.client.plan_rerun(chain.uid, request)) == UNPROCESSABLE


async def test_rerun_plan_has_all_steps_and_the_new_parameters(chains: OperatorChains) -> None:
    chain = await chains.chain(FAILED)
    plan = await chains.client.plan_rerun(chain.uid, RerunChain(params={"cut": 5}))
    assert (plan.chain_uid, plan.params) == (chain.uid, {"cut": 5})
    assert [step.name for step in plan.steps] == ["decode", "filter", "merge"]


async def test_rerun_is_a_new_chain_once_for_each_key(chains: OperatorChains) -> None:
    chain = await chains.chain(FAILED)
    request = RerunChain(key=uuid4())
    rerun, is_new = await chains.client.rerun_chain(chain.uid, request)
    assert is_new
    assert (rerun.rerun_of, rerun.state, rerun.ended_at) == (chain.uid, IN_PROGRESS, None)
    assert (rerun.reason, rerun.acknowledged) == ("", None)
    again, is_new = await chains.client.rerun_chain(chain.uid, request)
    assert (again.uid, is_new) == (rerun.uid, False)
    assert await list_chain_uids(chains, attention=True) == [], "the failure has been dealt with"
