"""A chain from its data set to its output, with the watcher and the real DMS."""

import asyncio
from uuid import uuid4

import pytest

from sluice.clients.base import API
from sluice.contracts.chains.chains import Chain, Watch, Watched, WatchList
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import (
    ChainState,
    DatasetState,
    DatasetType,
    StepState,
    StorageType,
    TaskState,
    WatchKind,
)
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.conditions import Between, Equals, Glob, Require
from sluice.contracts.templates.plan import Parameter, ParameterRef
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_plan, make_step, make_three_steps


async def create_chain(wfms: WfmsFixture) -> Chain:
    """Create a chain of three steps."""
    template = wfms.add_template(make_three_steps())
    return await wfms.create_chain(await wfms.create_input("a"), template)


async def test_data_set_is_processed_to_an_uploaded_output(wfms: WfmsFixture) -> None:
    wfms.add_template(make_three_steps(retention=DELETE_ALL, match={"kind": Equals(value="raw")}))
    first = await wfms.create_input("run-7", meta={"kind": "raw", "produced": {"events": 7}})
    for _ in range(5):
        await wfms.run_loops()
    (chain,) = (await wfms.chains.list_chains()).chains
    assert chain.state is ChainState.FINISHED
    assert [step.state for step in chain.steps] == [StepState.FINISHED] * 3
    kept_datasets = [dataset for dataset in chain.datasets if dataset.uid not in wfms.deletions]
    assert [(dataset.step, dataset.port) for dataset in kept_datasets] == [
        ("merge", "out"),
        ("merge", None),
    ]
    assert wfms.deletions[-1] == first.uid, "the first input is deleted last"
    assert len(wfms.deletions) == len(set(wfms.deletions)) == 5
    output = await wfms.dms.get_dataset(kept_datasets[0].uid)
    assert output.state is DatasetState.UPLOADED
    assert output.meta == {
        "kind": "raw",
        "chain": str(chain.uid),
        "template": "wf",
        "step": "merge",
        "port": "out",
        "output": "merge_out",
        "output_name": "run-7.merge_out",
        "produced": {"files": 0, "bytes": 0},
    }
    assert await wfms.fetch_rows("wfms.watcher", "SELECT 1 FROM watches WHERE NOT reported") == []


async def test_uploads_are_polled_in_one_request_and_a_missing_one_blocks_no_other(
    wfms: WfmsFixture,
) -> None:
    template = wfms.add_template(make_plan(make_step("only"), outputs=[("only", "out")]))
    chains = [
        await wfms.create_chain(await wfms.create_input(name), template) for name in ("a", "b", "c")
    ]
    for _ in range(2):
        for loop in (
            wfms.start_steps,
            wfms.deliver_messages,
            wfms.end_running_tasks,
            wfms.follow_watches,
            wfms.watch_uploads,
        ):
            await loop()
    await wfms.deliver_messages()
    lost_watch = Watch(
        kind=WatchKind.UPLOAD,
        uid=uuid4(),
        chain_uid=uuid4(),
        dat_in_uid=uuid4(),
        dat_out_uid=uuid4(),
    )
    await wfms.watcher.watch(lost_watch)
    await wfms.upload_all()
    wfms.http["dms"].requests.clear()
    await wfms.follow_watches()
    assert wfms.http["dms"].requests == ["GET /api/v1/datasets"]
    assert [(await wfms.get_chain(chain.uid)).state for chain in chains] == [
        ChainState.FINISHED
    ] * 3
    assert [
        row["uid"]
        for row in await wfms.fetch_rows(
            "wfms.watcher", "SELECT uid FROM watches WHERE NOT reported"
        )
    ] == [lost_watch.uid]


async def test_invariant_1_one_chain_per_data_set_template_version_and_parameters(
    wfms: WfmsFixture,
) -> None:
    parameters = {
        "cut": Parameter(type="int", default=3),
        "kind": Parameter(type="string", default=""),
    }
    template = wfms.add_template(make_three_steps(parameters=parameters, bind={"kind": "kind"}))
    dataset = await wfms.create_input("a", meta={"kind": "raw"})
    request = wfms.make_request(dataset, template, kind="raw")
    first, is_new = await wfms.chains.create_new_chain(request)
    assert is_new, "the intake's request has the values of the metadata"
    assert await wfms.chains.create_new_chain(wfms.make_request(dataset, template)) == (
        first,
        False,
    )
    other = wfms.make_request(dataset, template, kind="raw", cut=5)
    answers = await asyncio.gather(*(wfms.chains.create_new_chain(other) for _ in range(4)))
    assert sorted(is_new for _, is_new in answers) == [False, False, False, True]
    assert {chain.uid for chain, _ in answers}.isdisjoint({first.uid})
    [second] = {chain.uid for chain, _ in answers}
    assert (await wfms.get_chain(second)).params == {"kind": "raw", "cut": 5}
    again, is_new = await wfms.chains.create_new_chain(
        request.model_copy(update={"template_version": 2})
    )
    assert is_new
    assert len({first.uid, second, again.uid}) == len((await wfms.chains.list_chains()).chains) == 3


async def test_parameters_are_checked_and_passed_to_the_task(wfms: WfmsFixture) -> None:
    parameters = {
        "cut": Parameter(type="int", required=True),
        "scale": Parameter(type="float", default=1.5),
    }
    arguments = {"c": ParameterRef(name="cut"), "s": ParameterRef(name="scale")}
    template = wfms.add_template(
        make_plan(
            make_step("only", arguments=arguments), outputs=[("only", "out")], parameters=parameters
        )
    )
    dataset = await wfms.create_input("a")
    with pytest.raises(Unprocessable) as refused:
        await wfms.create_chain(dataset, template, cut="high", speed=3)
    assert len(refused.value.findings) == 2
    assert "'cut' must be int, not 'high'" in refused.value.detail
    with pytest.raises(Unprocessable, match=r"'cut' \(int\) is required"):
        await wfms.create_chain(dataset, template)
    await wfms.create_chain(dataset, template, cut=3)
    await wfms.start_steps()
    await wfms.deliver_messages()
    (task,) = wfms.wms.tasks.values()
    assert task.args == {"c": 3, "s": 1.5}
    assert task.main_input.dat_in_uid == dataset.uid
    assert (
        task.main_output.dat_out_url == f"{task.main_output.dat_stor_url}/{task.chain_uid}.only.out"
    )
    folders = (
        f"file://{wfms.folder / kind}" for kind in (StorageType.INTERMEDIATE, StorageType.LOGS)
    )
    assert (task.main_output.dat_stor_url, task.log_stor_url) == tuple(folders)


async def test_requirements_of_a_template_are_checked_for_a_new_chain(
    wfms: WfmsFixture,
) -> None:
    require = Require(
        files=Between(minimum=10),
        meta={"version": Glob(pattern="2.*")},
        parameters={"cut": Between(maximum=5)},
    )
    parameters = {"cut": Parameter(type="int", default=3)}
    template = wfms.add_template(make_three_steps(require=require, parameters=parameters))
    with pytest.raises(Unprocessable) as refused:
        await wfms.create_chain(
            await wfms.create_input("a", meta={"version": "1.4"}), template, cut=9
        )
    assert [finding.message for finding in refused.value.findings] == [
        "requires files from 10 to ∞, which is 1",
        "requires meta version like '2.*', which is '1.4'",
        "requires parameter cut from -∞ to 5, which is 9",
    ]
    assert (await wfms.chains.list_chains()).chains == []
    smaller_template = template.model_copy(
        update={
            "plan": template.plan.model_copy(update={"require": Require(files=Equals(value=1))})
        }
    )
    assert (
        await wfms.create_chain(await wfms.create_input("b"), smaller_template)
    ).state is ChainState.IN_PROGRESS


async def test_failed_task_fails_the_chain_with_its_reason(wfms: WfmsFixture) -> None:
    chain = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_three_steps(retention=DELETE_ALL))
    )
    await wfms.start_steps()
    await wfms.deliver_messages()
    (uid,) = wfms.wms.tasks
    await wfms.end_task(uid, TaskState.FAILED, failed=3, reason="3 of 3 jobs failed")
    await wfms.follow_watches()
    await wfms.deliver_messages()
    chain = await wfms.get_chain(chain.uid)
    assert (chain.state, chain.reason) == (
        ChainState.FAILED,
        "step decode failed: 3 of 3 jobs failed",
    )
    assert [step.state for step in chain.steps] == [
        StepState.FAILED,
        StepState.CANCELED,
        StepState.CANCELED,
    ]
    assert [step.reason for step in chain.steps] == [
        "3 of 3 jobs failed",
        "step decode failed",
        "step decode failed",
    ]
    assert wfms.deletions == [dataset.uid for dataset in chain.datasets if dataset.port == "out"], (
        "input and logs are kept"
    )


async def test_streaming_steps_start_as_soon_as_their_upstream_step_starts(
    wfms: WfmsFixture,
) -> None:
    chain = await create_chain(wfms)
    while await wfms.start_steps():  # The loop also repeats this before it sleeps.
        pass
    chain = await wfms.get_chain(chain.uid)
    assert {step.name: step.state for step in chain.steps} == {
        "decode": StepState.IN_PROGRESS,
        "filter": StepState.IN_PROGRESS,
        "merge": StepState.PENDING,
    }, "the merge has no groups: it waits for all files"


async def test_tasks_beside_a_failed_task_are_canceled_with_the_reason_of_the_chain(
    wfms: WfmsFixture,
) -> None:
    template = make_plan(
        make_step("slow"), make_step("wrong"), outputs=[("slow", "out"), ("wrong", "out")]
    )
    chain = await wfms.create_chain(await wfms.create_input("a"), wfms.add_template(template))
    await wfms.start_steps()
    await wfms.deliver_messages()
    tasks = (await wfms.chains.list_tasks(chain_uid=chain.uid)).tasks
    [failing_task] = [task.task_uid for task in tasks if task.step == "wrong"]
    long_reason = f"no: {'x' * 5_000}"
    await wfms.end_task(failing_task, TaskState.FAILED, failed=3, reason=long_reason)
    await wfms.follow_watches()
    await wfms.stop_tasks()
    await wfms.follow_watches()
    reason = f"step wrong failed: {long_reason}"
    chain = await wfms.get_chain(chain.uid)
    assert (chain.state, chain.reason) == (ChainState.FAILED, reason)
    assert {step.name: step.reason for step in chain.steps} == {
        "slow": reason[:4_000],
        "wrong": long_reason,
    }


async def test_cancellation_of_a_chain_stops_the_running_task(wfms: WfmsFixture) -> None:
    chain = await create_chain(wfms)
    await wfms.start_steps()
    assert (await wfms.chains.cancel_chain(chain.uid)).state is ChainState.IN_PROGRESS
    assert (await wfms.chains.cancel_chain(chain.uid)).reason == "canceled by request"
    await wfms.stop_tasks()
    await wfms.deliver_messages()
    await wfms.stop_tasks()
    await wfms.follow_watches()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.CANCELED
    assert (await wfms.chains.cancel_chain(chain.uid)).state is ChainState.CANCELED
    await wfms.deliver_messages()
    assert len(wfms.deletions) == 1


async def test_data_sets_of_a_chain_canceled_before_its_first_task_are_deleted(
    wfms: WfmsFixture,
) -> None:
    chain = await create_chain(wfms)
    wfms.http["wfms.watcher"].is_down = True
    await wfms.start_steps()
    waiting = (await wfms.get_chain(chain.uid)).steps[0]
    assert waiting.state is StepState.STARTING
    assert "cannot be reached" in waiting.reason
    await wfms.chains.cancel_chain(chain.uid)
    await wfms.start_steps()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.CANCELED
    wfms.http["wfms.watcher"].is_down = False
    await wfms.hand_over_releases()
    await wfms.hand_over_releases()
    await wfms.deliver_messages()
    uids = [
        dataset.uid
        for dataset in (await wfms.get_chain(chain.uid)).datasets
        if dataset.step is not None
    ]
    assert sorted(wfms.deletions) == sorted(uids)
    assert len(uids) == 2
    assert wfms.wms.messages == []


async def list_watches(wfms: WfmsFixture) -> list[Watched]:
    return (await wfms.watcher.call("GET", f"{API}/tasks", answer=WatchList)).tasks


async def test_watch_of_a_task_that_was_never_sent_ends(wfms: WfmsFixture) -> None:
    chain = await create_chain(wfms)
    for place in range(1, 60):
        wfms.fuse.at, wfms.fuse.passed_places = place, 0
        try:
            await wfms.start_steps()
        except BaseException:
            wfms.fuse.at = None
        if await list_watches(wfms):
            break
        wfms.fuse.at = None
    wfms.fuse.at = None
    await wfms.chains.cancel_chain(chain.uid)
    await wfms.start_steps()
    await wfms.follow_watches()
    (watch,) = await list_watches(wfms)
    assert watch.reported
    assert (await wfms.get_chain(chain.uid)).state is ChainState.CANCELED
    assert wfms.wms.messages == []


async def test_late_cancel_and_use_of_deleted_inputs_are_refused(wfms: WfmsFixture) -> None:
    dataset = await wfms.create_input("a")
    template = wfms.add_template(make_three_steps(retention=DELETE_ALL))
    chain = await wfms.create_chain(dataset, template)
    for _ in range(5):
        await wfms.run_loops()
    with pytest.raises(Conflict, match="it has finished"):
        await wfms.chains.cancel_chain(chain.uid)
    with pytest.raises(NotFound):
        await wfms.chains.cancel_chain(dataset.uid)
    other = wfms.add_template(make_three_steps(), version=2)
    with pytest.raises(Conflict, match="was released for deletion"):
        await wfms.create_chain(dataset, other)
    with pytest.raises(Conflict, match="is deleting"):
        await wfms.create_chain(await wfms.dms.get_dataset(dataset.uid), other)
    own = await wfms.dms.register_dataset(NewDataset(name="own", type=DatasetType.LOGS))
    with pytest.raises(Unprocessable, match="only within its own chain"):
        await wfms.create_chain(own, other)


async def test_input_is_kept_while_another_chain_uses_it(wfms: WfmsFixture) -> None:
    dataset = await wfms.create_input("a")
    template = wfms.add_template(make_three_steps(retention=DELETE_ALL))
    slow = await wfms.create_chain(dataset, template.model_copy(update={"version": 2}))
    await wfms.start_steps()
    await wfms.deliver_messages()
    (task_uid,) = wfms.wms.tasks
    quick = await wfms.create_chain(dataset, template)
    running = wfms.wms.statuses.pop(task_uid)
    for _ in range(5):
        await wfms.run_loops()
    assert (await wfms.get_chain(quick.uid)).state is ChainState.FINISHED
    assert dataset.uid not in wfms.deletions
    wfms.wms.statuses[task_uid] = running
    for _ in range(5):
        await wfms.run_loops()
    assert (await wfms.get_chain(slow.uid)).state is ChainState.FINISHED
    assert wfms.deletions.count(dataset.uid) == 1


async def test_chains_and_tasks_are_listed_ranked_and_canceled(wfms: WfmsFixture) -> None:
    template = wfms.add_template(make_three_steps())
    chains = [
        await wfms.create_chain(await wfms.create_input(f"d{number}"), template)
        for number in range(3)
    ]
    await wfms.start_steps()
    await wfms.deliver_messages()
    page = await wfms.chains.list_chains(limit=2)
    assert [chain.uid for chain in page.chains] == [chains[2].uid, chains[1].uid]
    rest = await wfms.chains.list_chains(limit=2, after=page.after)
    assert ([chain.uid for chain in rest.chains], rest.after) == ([chains[0].uid], None)
    of_one = await wfms.chains.list_chains(dataset_uid=chains[1].dataset_uid)
    assert [chain.uid for chain in of_one.chains] == [chains[1].uid]
    with pytest.raises(Unprocessable, match="is not a cursor of this list"):
        await wfms.chains.list_chains(after="zzz")
    tasks = (await wfms.chains.list_tasks(chain_uid=chains[0].uid)).tasks
    assert [(task.step, task.state) for task in tasks] == [
        ("decode", StepState.IN_PROGRESS),
        ("filter", StepState.STARTING),
    ]
    assert tasks[0].jobs is not None
    assert (await wfms.chains.prioritise_task(tasks[0].task_uid, rank=9.0)).rank == 9.0
    wfms.http["wms"].is_down = True
    assert (await wfms.chains.get_task(tasks[0].task_uid)).jobs is None
    wfms.http["wms"].is_down = False
    assert (await wfms.chains.cancel_task(tasks[0].task_uid)).state is TaskState.CANCELED
    await wfms.follow_watches()
    assert (await wfms.get_chain(chains[0].uid)).state is ChainState.CANCELED
    with pytest.raises(NotFound):
        await wfms.chains.cancel_task(chains[0].uid)
