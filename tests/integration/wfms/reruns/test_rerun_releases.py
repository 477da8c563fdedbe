"""Reruns of chains whose intermediate files were deleted after their use (invariant 4)."""

from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.templates.plan import Plan, Source
from tests.integration.wfms.reruns.reruns import (
    HOUR,
    begin_chain,
    find_dataset,
    list_sent_steps,
    rerun_chain,
    run_all_loops,
)
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_plan, make_step


def make_linear_plan() -> Plan:
    """Return a plan of three map steps: decode → filter → last."""
    return make_plan(
        make_step("decode"),
        make_step("filter", Source(step="decode", port="out")),
        make_step("last", Source(step="filter", port="out")),
        outputs=[("last", "out")],
        retention=DELETE_ALL,
    )


async def begin_chain_with_file(wfms: WfmsFixture) -> Chain:
    """Begin a chain in which ``decode`` writes one file and ``filter`` fails."""
    wfms.keep_failed_data(HOUR)
    chain_started = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_linear_plan())
    )
    await wfms.start_steps()
    await wfms.deliver_messages()
    chain = await wfms.get_chain(chain_started.uid)
    written_dataset = await wfms.dms.get_dataset(find_dataset(chain, "decode"))
    file = NewFile(
        seq=0,
        name="00000000.1-a.hits",
        size=3,
        checksum="sha256:" + "0" * 64,
        url=f"{written_dataset.url}/00000000.1-a.hits",
    )
    await wfms.dms.register_many_files(written_dataset.uid, [file])
    await run_all_loops(wfms, fail="filter")
    return await wfms.get_chain(chain_started.uid)


async def test_each_task_knows_the_inputs_whose_files_are_deleted_after_use(
    wfms: WfmsFixture,
) -> None:
    """Data that a rerun takes over belongs to two chains and is kept."""
    first = await begin_chain(wfms, make_linear_plan(), fail="filter")
    tasks = {task.step: task for task in wfms.wms.tasks.values()}
    read = find_dataset(first, "decode")
    assert wfms.wms.downstream_counts == {tasks["filter"].uid: {read: 1}}
    second = await rerun_chain(wfms, first)
    wfms.wms.downstream_counts.clear()
    await run_all_loops(wfms)
    tasks = {task.step: task for task in wfms.wms.tasks.values() if task.chain_uid == second.uid}
    assert tasks.keys() == {"filter", "last"}
    written_dataset = find_dataset(await wfms.get_chain(second.uid), "filter")
    assert wfms.wms.downstream_counts == {tasks["last"].uid: {written_dataset: 1}}


async def test_rerun_takes_over_finished_jobs_if_their_inputs_are_deleted(
    wfms: WfmsFixture,
) -> None:
    first = await begin_chain_with_file(wfms)
    decoded_dataset = find_dataset(first, "decode")
    await wfms.release(decoded_dataset, 0)
    second = await rerun_chain(wfms, first)
    await run_all_loops(wfms, turns=1)
    [task] = [task for task in wfms.wms.tasks.values() if task.chain_uid == second.uid]
    assert (task.step, task.main_input.dat_in_uid) == ("filter", decoded_dataset)
    assert task.taken_over is not None
    assert task.taken_over.outputs == {"out": find_dataset(first, "filter")}


async def test_step_that_needs_deleted_files_makes_its_upstream_step_run_again(
    wfms: WfmsFixture,
) -> None:
    """The plan of the rerun says so."""
    first = await begin_chain_with_file(wfms)
    await wfms.release(find_dataset(first, "decode"), 0)
    rerun = await wfms.chains.plan_rerun(first.uid, RerunChain(from_step="filter"))
    assert [(one.name, one.runs, one.reason) for one in rerun.steps[:2]] == [
        ("decode", True, "files of its output for step filter are deleted"),
        ("filter", True, "asked for"),
    ]
    second = await rerun_chain(wfms, first, from_step="filter")
    await run_all_loops(wfms)
    assert list_sent_steps(wfms, second) == ["decode", "filter", "last"]
    assert (await wfms.get_chain(second.uid)).state is ChainState.FINISHED
