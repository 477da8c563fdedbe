"""Reruns of chains whose intermediate files were deleted after their use (invariant 4)."""

from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.templates.plan import Plan, Source
from tests.integration.wfms.reruns import HOUR, again, begin, dataset_of, run, sent
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, plan, step


def line() -> Plan:
    """Return a plan of three map steps: decode → filter → last."""
    return plan(
        step("decode"),
        step("filter", Source(step="decode", port="out")),
        step("last", Source(step="filter", port="out")),
        outputs=[("last", "out")],
        retention=DELETE_ALL,
    )


async def begin_with_a_file(wfms: WfmsFixture) -> Chain:
    """Begin a chain in which ``decode`` writes one file and ``filter`` fails."""
    wfms.keep_failed_data(HOUR)
    chain_started = await wfms.create_chain(await wfms.create_input("a"), wfms.add_template(line()))
    await wfms.start_steps()
    await wfms.deliver()
    chain = await wfms.get_chain(chain_started.uid)
    written = await wfms.dms.get_dataset(dataset_of(chain, "decode"))
    file = NewFile(
        seq=0,
        name="00000000.1-a.hits",
        size=3,
        checksum="sha256:" + "0" * 64,
        url=f"{written.url}/00000000.1-a.hits",
    )
    await wfms.dms.register_files(written.uid, [file])
    await run(wfms, fail="filter")
    return await wfms.get_chain(chain_started.uid)


async def test_each_task_knows_the_inputs_whose_files_are_deleted_after_use(
    wfms: WfmsFixture,
) -> None:
    """Data that a rerun takes over belongs to two chains and is kept."""
    first = await begin(wfms, line(), fail="filter")
    tasks = {task.step: task for task in wfms.wms.tasks.values()}
    read = dataset_of(first, "decode")
    assert wfms.wms.downstream_counts == {tasks["filter"].uid: {read: 1}}
    second = await again(wfms, first)
    wfms.wms.downstream_counts.clear()
    await run(wfms)
    tasks = {task.step: task for task in wfms.wms.tasks.values() if task.chain_uid == second.uid}
    assert tasks.keys() == {"filter", "last"}
    written = dataset_of(await wfms.get_chain(second.uid), "filter")
    assert wfms.wms.downstream_counts == {tasks["last"].uid: {written: 1}}


async def test_rerun_takes_over_finished_jobs_if_their_inputs_are_deleted(
    wfms: WfmsFixture,
) -> None:
    first = await begin_with_a_file(wfms)
    decoded = dataset_of(first, "decode")
    await wfms.release(decoded, 0)
    second = await again(wfms, first)
    await run(wfms, turns=1)
    [task] = [task for task in wfms.wms.tasks.values() if task.chain_uid == second.uid]
    assert (task.step, task.main_input.dat_in_uid) == ("filter", decoded)
    assert task.taken_over is not None
    assert task.taken_over.outputs == {"out": dataset_of(first, "filter")}


async def test_step_that_needs_deleted_files_makes_its_upstream_step_run_again(
    wfms: WfmsFixture,
) -> None:
    """The plan of the rerun says so."""
    first = await begin_with_a_file(wfms)
    await wfms.release(dataset_of(first, "decode"), 0)
    rerun = await wfms.chains.plan_rerun(first.uid, RerunChain(from_step="filter"))
    assert [(one.name, one.runs, one.reason) for one in rerun.steps[:2]] == [
        ("decode", True, "files of its output for step filter are deleted"),
        ("filter", True, "asked for"),
    ]
    second = await again(wfms, first, from_step="filter")
    await run(wfms)
    assert sent(wfms, second) == ["decode", "filter", "last"]
    assert (await wfms.get_chain(second.uid)).state is ChainState.FINISHED
