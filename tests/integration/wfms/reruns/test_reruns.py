"""Reruns of chains: what is taken over, what runs, and how long data are kept (invariant 4)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID, uuid4

import pytest

from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import ChainState, StepState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.conditions import Between, Require
from sluice.contracts.templates.plan import Parameter, Retention
from tests.integration.wfms.crashes import crash_at, crash_everywhere
from tests.integration.wfms.reruns.reruns import (
    begin_chain,
    find_dataset,
    is_deleted,
    list_sent_steps,
    make_plan_with_two_outputs,
    rerun_chain,
    run_all_loops,
)
from tests.integration.wfms.values.file_values import (
    create_file_dataset,
    make_file_value,
    make_plan_with_file_parameters,
)
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_three_steps


async def test_rerun_takes_over_finished_steps_and_all_data_is_deleted_in_the_end(
    wfms: WfmsFixture,
) -> None:
    first = await begin_chain(wfms, make_three_steps(retention=DELETE_ALL), fail="filter")
    assert first.state is ChainState.FAILED
    decoded = find_dataset(first, "decode")
    assert not await is_deleted(wfms, decoded)
    rerun = await wfms.chains.plan_rerun(first.uid, RerunChain())
    assert [(step.name, step.runs) for step in rerun.steps] == [
        ("decode", False),
        ("filter", True),
        ("merge", True),
    ]
    assert [step.reason for step in rerun.steps] == [
        "it finished",
        "it failed",
        "it was canceled, or never began",
    ]
    assert rerun.missing == []
    second = await rerun_chain(wfms, first)
    assert second.rerun_of == first.uid
    assert second.steps[0].taken_from == first.uid
    assert find_dataset(second, "decode") == decoded
    await run_all_loops(wfms)
    second = await wfms.get_chain(second.uid)
    assert second.state is ChainState.FINISHED
    assert list_sent_steps(wfms, second) == ["filter", "merge"]
    assert (
        next(
            task for task in wfms.wms.tasks.values() if task.chain_uid == second.uid
        ).main_input.dat_in_uid
        == decoded
    )
    assert not await is_deleted(wfms, decoded), "the first chain keeps the data for an hour"
    await wfms.fetch_rows(
        "wfms.chains",
        "UPDATE chains SET keep_until = now() - interval '1 s' WHERE uid = $1 RETURNING 1",
        first.uid,
    )
    await crash_everywhere(wfms, wfms.expire_rerun_data)
    await wfms.run_loops()
    for chain in (await wfms.get_chain(first.uid), second):
        for dataset in chain.datasets:
            is_kept = dataset.port is None if chain is not second else dataset.step == "merge"
            assert await is_deleted(wfms, dataset.uid) is not is_kept or dataset.step is None, (
                chain.uid,
                dataset.name,
            )
    assert len(wfms.deletions) == len(set(wfms.deletions))


async def test_data_that_a_running_rerun_needs_is_not_deleted(wfms: WfmsFixture) -> None:
    """Invariant 4: the first chain expires or is discarded while the rerun is running."""
    first = await begin_chain(wfms, make_three_steps(retention=DELETE_ALL), fail="filter")
    second = await rerun_chain(wfms, first)
    await wfms.start_steps()
    await wfms.deliver_messages()
    await wfms.chains.discard_chain(first.uid)
    await wfms.fetch_rows(
        "wfms.chains",
        "UPDATE chains SET keep_until = now() - interval '1 s' WHERE uid = $1 RETURNING 1",
        first.uid,
    )
    await wfms.expire_rerun_data()
    for _ in range(2):
        await wfms.hand_over_releases()
        await wfms.deliver_messages()
    assert not await is_deleted(wfms, find_dataset(first, "decode"))
    assert not await is_deleted(wfms, first.dataset_uid)
    await run_all_loops(wfms)
    assert (await wfms.get_chain(second.uid)).state is ChainState.FINISHED
    assert await is_deleted(wfms, find_dataset(first, "decode"))
    assert await is_deleted(wfms, first.dataset_uid)
    assert wfms.deletions.count(find_dataset(first, "decode")) == 1


async def test_rerun_repeats_steps_whose_outputs_were_deleted(
    wfms: WfmsFixture,
) -> None:
    first = await begin_chain(wfms, make_three_steps(), fail="merge")
    assert await is_deleted(wfms, find_dataset(first, "decode"))
    assert not await is_deleted(wfms, find_dataset(first, "filter"))
    assert [
        step.runs for step in (await wfms.chains.plan_rerun(first.uid, RerunChain())).steps
    ] == [
        False,
        False,
        True,
    ]
    await wfms.chains.delete_dataset(find_dataset(first, "filter"))
    rerun = await wfms.chains.plan_rerun(first.uid, RerunChain())
    assert [step.reason for step in rerun.steps] == [
        "its output for step filter is no longer there",
        "its output for step merge is no longer there",
        "it failed",
    ]
    await wfms.chains.delete_dataset(first.dataset_uid)
    rerun = await wfms.chains.plan_rerun(first.uid, RerunChain())
    sentence = (
        f"step decode would have to run, but its input, data set {first.dataset_uid}, has been"
        " deleted"
    )
    assert rerun.missing == [sentence]
    with pytest.raises(Conflict, match="cannot be run again: step decode") as refused:
        await rerun_chain(wfms, first)
    assert [finding.message for finding in refused.value.findings] == [sentence]
    assert len((await wfms.chains.list_chains()).chains) == 1


async def test_rerun_with_a_new_parameter_takes_over_the_other_steps(wfms: WfmsFixture) -> None:
    first = await begin_chain(wfms, make_plan_with_two_outputs(), fail="", cut=3)
    assert first.state is ChainState.FINISHED
    with pytest.raises(Conflict, match="decode would have to run"):
        await rerun_chain(wfms, first, from_step="right")
    kept_chain = await run_keeping_chain(wfms)
    second = await rerun_chain(wfms, kept_chain, params={"cut": 5})
    assert [step.taken_from is None for step in second.steps] == [False, False, True, False]
    await run_all_loops(wfms)
    second = await wfms.get_chain(second.uid)
    assert second.state is ChainState.FINISHED
    [task] = [
        task
        for task in wfms.wms.tasks.values()
        if task.chain_uid == second.uid and task.step == "right"
    ]
    assert task.args == {"cut": 5}
    assert find_dataset(second, "last") == find_dataset(kept_chain, "last"), (
        "both chains have this output"
    )
    await wfms.chains.discard_chain(kept_chain.uid)
    await run_all_loops(wfms, turns=2)
    assert not await is_deleted(wfms, find_dataset(second, "last"))
    await wfms.chains.discard_chain(second.uid)
    await run_all_loops(wfms, turns=2)
    assert await is_deleted(wfms, find_dataset(second, "last"))


async def run_keeping_chain(wfms: WfmsFixture) -> Chain:
    """Return a finished chain whose data are all kept, as ``decode`` is an output, too."""
    wf = make_plan_with_two_outputs().model_copy(
        update={
            "retention": Retention(input="keep"),
            "outputs": make_plan_with_two_outputs().outputs,
        }
    )
    template = wf.model_copy(
        update={
            "outputs": [
                *wf.outputs,
                wf.outputs[0].model_copy(update={"name": "d", "step": "decode"}),
            ]
        }
    )
    chain = await wfms.create_chain(await wfms.create_input("keeping"), wfms.add_template(template))
    await run_all_loops(wfms)
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FINISHED
    return await wfms.get_chain(chain.uid)


async def test_unfinished_outputs_are_rerun_with_their_finished_jobs_taken_over(
    wfms: WfmsFixture,
) -> None:
    first = await begin_chain(wfms, make_plan_with_two_outputs(), fail="left")
    assert [step.state for step in first.steps] == [
        StepState.FINISHED,
        StepState.FAILED,
        StepState.FINISHED,
        StepState.CANCELED,
    ]
    rerun = await wfms.chains.plan_rerun(first.uid, RerunChain())
    assert {step.name: step.reason for step in rerun.steps}[
        "right"
    ] == "its output is not on the output storage"
    second = await rerun_chain(wfms, first, failed_only=True)
    await wfms.start_steps()
    await wfms.deliver_messages()
    tasks = {task.step: task for task in wfms.wms.tasks.values() if task.chain_uid == second.uid}
    earlier = {task.step: task for task in wfms.wms.tasks.values() if task.chain_uid == first.uid}
    for name in ("left", "right"):
        over = tasks[name].taken_over
        assert over is not None
        assert (over.task, over.outputs) == (earlier[name].uid, {"out": find_dataset(first, name)})
    await run_all_loops(wfms)
    second = await wfms.get_chain(second.uid)
    assert second.state is ChainState.FINISHED
    reused = [dataset for dataset in second.datasets if dataset.port == "out~before"]
    assert {dataset.step for dataset in reused} == {"left", "right"}
    assert {dataset.state.value for dataset in reused} == {"finished"}, (
        "the data are released with the step"
    )


async def test_rerun_of_a_rerun_takes_over_steps_of_the_first_chain(wfms: WfmsFixture) -> None:
    first = await begin_chain(wfms, make_three_steps(retention=DELETE_ALL), fail="filter")
    second = await rerun_chain(wfms, first)
    await run_all_loops(wfms, fail="filter")
    assert (await wfms.get_chain(second.uid)).state is ChainState.FAILED
    await wfms.chains.discard_chain(first.uid)
    await run_all_loops(wfms, turns=1)
    third = await rerun_chain(wfms, second)
    assert third.steps[0].taken_from == first.uid
    await run_all_loops(wfms)
    assert (await wfms.get_chain(third.uid)).state is ChainState.FINISHED
    assert list_sent_steps(wfms, third) == ["filter", "merge"]
    await wfms.chains.discard_chain(second.uid)
    await run_all_loops(wfms, turns=2)
    assert await is_deleted(wfms, find_dataset(first, "decode"))


async def test_impossible_reruns_are_refused(wfms: WfmsFixture) -> None:
    window = Parameter(
        type=["null", {"type": "record", "fields": {"first": "int"}}], required=False
    )
    strict_plan = make_plan_with_two_outputs()
    strict_plan = strict_plan.model_copy(
        update={
            "parameters": strict_plan.parameters | {"window": window},
            "require": Require(parameters={"cut": Between(maximum=9)}),
        }
    )
    first = await begin_chain(wfms, strict_plan, fail="")
    running = await wfms.create_chain(await wfms.create_input("b"), wfms.templates[0])
    request_rerun = wfms.chains.rerun_chain
    with pytest.raises(Conflict, match="has not ended"):
        await request_rerun(running.uid, RerunChain())
    with pytest.raises(Conflict, match=r"no job of chain .* failed"):
        await request_rerun(first.uid, RerunChain(failed_only=True))
    with pytest.raises(NotFound):
        await request_rerun(uuid4(), RerunChain())
    with pytest.raises(Unprocessable, match="no step 'lefft'; it has decode, left, right, last"):
        await request_rerun(first.uid, RerunChain(from_step="lefft"))
    with pytest.raises(Unprocessable, match="parameter 'cutt' is unknown"):
        await request_rerun(first.uid, RerunChain(params={"cutt": 1}))
    with pytest.raises(Unprocessable, match="must be int"):
        await request_rerun(first.uid, RerunChain(params={"cut": "x"}))
    with pytest.raises(Unprocessable, match=r"field 'frist' is unknown \(did you mean 'first'"):
        await request_rerun(first.uid, RerunChain(params={"window": {"first": 1, "frist": 2}}))
    with pytest.raises(Unprocessable, match="requires parameter cut from -∞ to 9, which is 10"):
        await request_rerun(first.uid, RerunChain(params={"cut": 10}))
    with pytest.raises(Unprocessable, match="either at a step or with failed jobs"):
        await request_rerun(first.uid, RerunChain(from_step="left", failed_only=True))
    assert len((await wfms.chains.list_chains()).chains) == 2


async def test_requests_with_one_key_make_one_rerun_despite_crashes(wfms: WfmsFixture) -> None:
    """Invariant 7."""
    first = await begin_chain(wfms, make_three_steps(retention=DELETE_ALL), fail="filter")
    place, through = 0, False
    while not through:
        place += 1
        request = RerunChain(key=uuid4())

        async def request_rerun() -> None:
            await wfms.chains.rerun_chain(first.uid, request)  # noqa: B023 - called at once

        through = await crash_at(wfms, place, request_rerun)
        answers = await asyncio.gather(
            *(wfms.chains.rerun_chain(first.uid, request) for _ in range(3))
        )
        assert len({chain.uid for chain, _ in answers}) == 1
        assert sum(new for _, new in answers) <= 1
    assert place > 8
    await run_all_loops(wfms)
    chains = (await wfms.chains.list_chains()).chains
    assert len(chains) == place + 1
    assert {chain.state for chain in chains if chain.rerun_of} == {ChainState.FINISHED}


async def delete_on_request(wfms: WfmsFixture, first: Chain) -> None:
    await wfms.chains.delete_dataset(find_dataset(first, "decode"))


async def expire_data(wfms: WfmsFixture, first: Chain) -> None:
    """Expire the time for which the first chain keeps its data."""
    await wfms.fetch_rows(
        "wfms.chains",
        "UPDATE chains SET keep_until = now() - interval '1 s' WHERE uid = $1 RETURNING 1",
        first.uid,
    )
    await wfms.expire_rerun_data()


async def delete_the_input(wfms: WfmsFixture, first: Chain) -> None:
    await wfms.chains.delete_dataset(first.dataset_uid)


@pytest.mark.parametrize("delete_data", [delete_on_request, expire_data, delete_the_input])
async def test_data_deleted_during_the_rerun_request_is_not_taken_over(
    wfms: WfmsFixture,
    monkeypatch: pytest.MonkeyPatch,
    delete_data: Callable[[WfmsFixture, Chain], Awaitable[None]],
) -> None:
    """Invariant 4: the deletion comes between the answer of the DMS and the new chain."""
    first = await begin_chain(
        wfms, make_three_steps(retention=Retention(input="keep")), fail="filter"
    )
    list_datasets, has_deleted = wfms.dms.list_datasets_by_uid, iter([True])

    async def list_and_delete(uids: Sequence[UUID]) -> list[Dataset]:
        datasets = await list_datasets(uids)
        if next(has_deleted, False):
            await delete_data(wfms, first)
        return datasets

    monkeypatch.setattr(wfms.dms, "list_datasets_by_uid", list_and_delete)
    if delete_data is delete_the_input:
        with pytest.raises(Conflict, match=r"but its input, data set .*, has been deleted"):
            await rerun_chain(wfms, first, from_step="decode")
        return
    second = await rerun_chain(wfms, first)
    assert [step.taken_from for step in second.steps] == [None, None, None]
    assert find_dataset(first, "decode") not in {dataset.uid for dataset in second.datasets}


async def test_file_parameters_are_kept_for_a_rerun(wfms: WfmsFixture) -> None:
    file_dataset = await create_file_dataset(wfms, "passing")
    first = await begin_chain(
        wfms,
        make_plan_with_file_parameters("a"),
        fail="only",
        a=make_file_value(file_dataset, retention="delete"),
    )
    assert first.state is ChainState.FAILED
    assert not await is_deleted(wfms, file_dataset.uid)
    second = await rerun_chain(wfms, first)
    await run_all_loops(wfms)
    assert (await wfms.get_chain(second.uid)).state is ChainState.FINISHED
    assert await is_deleted(wfms, file_dataset.uid)
    with pytest.raises(
        Conflict,
        match=f"the file that is its parameter a, data set {file_dataset.uid}, has been deleted",
    ):
        await rerun_chain(wfms, first)
