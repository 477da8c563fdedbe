"""A chain from its data set to its output, with the watcher and the real DMS."""

import asyncio
from uuid import uuid4

import pytest

from sluice.contracts.chains.chains import Watch
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
from sluice.contracts.templates.plan import (
    Between,
    Equals,
    Glob,
    Parameter,
    ParameterRef,
    Require,
)
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import DELETE_ALL, plan, step, three_steps


async def test_data_set_is_processed_to_an_uploaded_output(world: World) -> None:
    world.template(three_steps(retention=DELETE_ALL, match={"kind": Equals(value="raw")}))
    first = await world.input("run-7", meta={"kind": "raw", "produced": {"events": 7}})
    for _ in range(5):
        await world.turn()
    (chain,) = (await world.chains.list_chains()).chains
    assert chain.state is ChainState.FINISHED
    assert [step.state for step in chain.steps] == [StepState.FINISHED] * 3
    kept_datasets = [dataset for dataset in chain.datasets if dataset.uid not in world.deletions]
    assert [(dataset.step, dataset.port) for dataset in kept_datasets] == [
        ("merge", "out"),
        ("merge", None),
    ]
    assert world.deletions[-1] == first.uid, "the first input is deleted last"
    assert len(world.deletions) == len(set(world.deletions)) == 5
    output = await world.dms.get_dataset(kept_datasets[0].uid)
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
    assert await world.rows("wfms.watcher", "SELECT 1 FROM watches WHERE NOT reported") == []


async def test_uploads_are_polled_in_one_request_and_a_missing_one_blocks_no_other(
    world: World,
) -> None:
    template = world.template(plan(step("only"), outputs=[("only", "out")]))
    chains = [await world.new_chain(await world.input(name), template) for name in ("a", "b", "c")]
    for _ in range(2):
        for crank in (
            world.start_steps,
            world.deliver,
            world.end_running_tasks,
            world.follow,
            world.watch_uploads,
        ):
            await crank()
    await world.deliver()
    lost = Watch(
        kind=WatchKind.UPLOAD,
        uid=uuid4(),
        chain_uid=uuid4(),
        dat_in_uid=uuid4(),
        dat_out_uid=uuid4(),
    )
    await world.watcher.watch(lost)
    await world.upload_all()
    world.http["dms"].requests.clear()
    await world.follow()
    assert world.http["dms"].requests == ["GET /api/v1/datasets"]
    assert [(await world.chain(chain.uid)).state for chain in chains] == [ChainState.FINISHED] * 3
    assert [
        row["uid"]
        for row in await world.rows("wfms.watcher", "SELECT uid FROM watches WHERE NOT reported")
    ] == [lost.uid]


async def test_invariant_1_one_chain_per_data_set_template_version_and_parameters(
    world: World,
) -> None:
    parameters = {
        "cut": Parameter(type="int", default=3),
        "kind": Parameter(type="string", default=""),
    }
    template = world.template(three_steps(parameters=parameters, bind={"kind": "kind"}))
    dataset = await world.input("a", meta={"kind": "raw"})
    request = world.request(dataset, template, kind="raw")
    first, is_new = await world.chains.create_new_chain(request)
    assert is_new, "the intake's request has the values of the metadata"
    assert await world.chains.create_new_chain(world.request(dataset, template)) == (first, False)
    other = world.request(dataset, template, kind="raw", cut=5)
    answers = await asyncio.gather(*(world.chains.create_new_chain(other) for _ in range(4)))
    assert sorted(is_new for _, is_new in answers) == [False, False, False, True]
    assert {chain.uid for chain, _ in answers}.isdisjoint({first.uid})
    [second] = {chain.uid for chain, _ in answers}
    assert (await world.chain(second)).params == {"kind": "raw", "cut": 5}
    again, is_new = await world.chains.create_new_chain(
        request.model_copy(update={"template_version": 2})
    )
    assert is_new
    assert (
        len({first.uid, second, again.uid}) == len((await world.chains.list_chains()).chains) == 3
    )


async def test_parameters_are_checked_and_passed_to_the_task(world: World) -> None:
    parameters = {
        "cut": Parameter(type="int", required=True),
        "scale": Parameter(type="float", default=1.5),
    }
    arguments = {"c": ParameterRef(name="cut"), "s": ParameterRef(name="scale")}
    template = world.template(
        plan(step("only", arguments=arguments), outputs=[("only", "out")], parameters=parameters)
    )
    dataset = await world.input("a")
    with pytest.raises(Unprocessable) as refused:
        await world.new_chain(dataset, template, cut="high", speed=3)
    assert len(refused.value.findings) == 2
    assert "'cut' must be int, not 'high'" in refused.value.detail
    with pytest.raises(Unprocessable, match=r"'cut' \(int\) is required"):
        await world.new_chain(dataset, template)
    await world.new_chain(dataset, template, cut=3)
    await world.start_steps()
    await world.deliver()
    (task,) = world.wms.tasks.values()
    assert task.args == {"c": 3, "s": 1.5}
    assert task.main_input.dat_in_uid == dataset.uid
    assert (
        task.main_output.dat_out_url == f"{task.main_output.dat_stor_url}/{task.chain_uid}.only.out"
    )
    folders = (
        f"file://{world.folder / kind}" for kind in (StorageType.INTERMEDIATE, StorageType.LOGS)
    )
    assert (task.main_output.dat_stor_url, task.log_stor_url) == tuple(folders)


async def test_requirements_of_a_template_are_checked_for_a_new_chain(
    world: World,
) -> None:
    require = Require(
        files=Between(minimum=10),
        meta={"version": Glob(pattern="2.*")},
        parameters={"cut": Between(maximum=5)},
    )
    parameters = {"cut": Parameter(type="int", default=3)}
    template = world.template(three_steps(require=require, parameters=parameters))
    with pytest.raises(Unprocessable) as refused:
        await world.new_chain(await world.input("a", meta={"version": "1.4"}), template, cut=9)
    assert [finding.message for finding in refused.value.findings] == [
        "requires files from 10 to ∞, which is 1",
        "requires meta version like '2.*', which is '1.4'",
        "requires parameter cut from -∞ to 5, which is 9",
    ]
    assert (await world.chains.list_chains()).chains == []
    less = template.model_copy(
        update={
            "plan": template.plan.model_copy(update={"require": Require(files=Equals(value=1))})
        }
    )
    assert (await world.new_chain(await world.input("b"), less)).state is ChainState.IN_PROGRESS


async def test_failed_task_fails_the_chain_with_its_reason(world: World) -> None:
    chain = await world.new_chain(
        await world.input("a"), world.template(three_steps(retention=DELETE_ALL))
    )
    await world.start_steps()
    await world.deliver()
    (uid,) = world.wms.tasks
    await world.end_task(uid, TaskState.FAILED, failed=3, reason="3 of 3 jobs failed")
    await world.follow()
    await world.deliver()
    chain = await world.chain(chain.uid)
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
    assert world.deletions == [
        dataset.uid for dataset in chain.datasets if dataset.port == "out"
    ], "input and logs are kept"


async def test_streaming_steps_start_as_soon_as_their_upstream_step_starts(
    world: World,
) -> None:
    chain = await world.new_chain(await world.input("a"), world.template(three_steps()))
    while await world.start_steps():  # The loop also repeats this before it sleeps.
        pass
    chain = await world.chain(chain.uid)
    assert {step.name: step.state for step in chain.steps} == {
        "decode": StepState.IN_PROGRESS,
        "filter": StepState.IN_PROGRESS,
        "merge": StepState.PENDING,
    }, "the merge has no groups: it waits for all files"


async def test_tasks_beside_a_failed_task_are_canceled_with_the_reason_of_the_chain(
    world: World,
) -> None:
    both = plan(step("slow"), step("wrong"), outputs=[("slow", "out"), ("wrong", "out")])
    chain = await world.new_chain(await world.input("a"), world.template(both))
    await world.start_steps()
    await world.deliver()
    tasks = (await world.chains.list_tasks(chain=chain.uid)).tasks
    [failing_task] = [task.task_uid for task in tasks if task.step == "wrong"]
    long = f"no: {'x' * 5_000}"
    await world.end_task(failing_task, TaskState.FAILED, failed=3, reason=long)
    await world.follow()
    await world.stop_tasks()
    await world.follow()
    why = f"step wrong failed: {long}"
    chain = await world.chain(chain.uid)
    assert (chain.state, chain.reason) == (ChainState.FAILED, why)
    assert {step.name: step.reason for step in chain.steps} == {
        "slow": why[:4_000],
        "wrong": long,
    }


async def test_cancellation_of_a_chain_stops_the_running_task(world: World) -> None:
    chain = await world.new_chain(await world.input("a"), world.template(three_steps()))
    await world.start_steps()
    assert (await world.chains.cancel_chain(chain.uid)).state is ChainState.IN_PROGRESS
    assert (await world.chains.cancel_chain(chain.uid)).reason == "canceled by request"
    await world.stop_tasks()
    await world.deliver()
    await world.stop_tasks()
    await world.follow()
    assert (await world.chain(chain.uid)).state is ChainState.CANCELED
    assert (await world.chains.cancel_chain(chain.uid)).state is ChainState.CANCELED
    await world.deliver()
    assert len(world.deletions) == 1


async def test_data_sets_of_a_chain_canceled_before_its_first_task_are_deleted(
    world: World,
) -> None:
    chain = await world.new_chain(await world.input("a"), world.template(three_steps()))
    world.http["wfms.watcher"].down = True
    await world.start_steps()
    waiting = (await world.chain(chain.uid)).steps[0]
    assert waiting.state is StepState.STARTING
    assert "cannot be reached" in waiting.reason
    await world.chains.cancel_chain(chain.uid)
    await world.start_steps()
    assert (await world.chain(chain.uid)).state is ChainState.CANCELED
    world.http["wfms.watcher"].down = False
    await world.hand_over_releases()
    await world.hand_over_releases()
    await world.deliver()
    uids = [
        dataset.uid
        for dataset in (await world.chain(chain.uid)).datasets
        if dataset.step is not None
    ]
    assert sorted(world.deletions) == sorted(uids)
    assert len(uids) == 2
    assert world.wms.messages == []


async def test_watch_of_a_task_that_was_never_sent_ends(world: World) -> None:
    chain = await world.new_chain(await world.input("a"), world.template(three_steps()))
    for place in range(1, 60):
        world.fuse.at, world.fuse.passed = place, 0
        try:
            await world.start_steps()
        except BaseException:
            world.fuse.at = None
        if (await world.watcher.list_watched()).tasks:
            break
        world.fuse.at = None
    world.fuse.at = None
    await world.chains.cancel_chain(chain.uid)
    await world.start_steps()
    await world.follow()
    (watch,) = (await world.watcher.list_watched()).tasks
    assert watch.reported
    assert (await world.chain(chain.uid)).state is ChainState.CANCELED
    assert world.wms.messages == []


async def test_late_cancel_and_use_of_deleted_inputs_are_refused(world: World) -> None:
    dataset = await world.input("a")
    chain = await world.new_chain(dataset, world.template(three_steps(retention=DELETE_ALL)))
    for _ in range(5):
        await world.turn()
    with pytest.raises(Conflict, match="it has finished"):
        await world.chains.cancel_chain(chain.uid)
    with pytest.raises(NotFound):
        await world.chains.cancel_chain(dataset.uid)
    other = world.template(three_steps(), version=2)
    with pytest.raises(Conflict, match="was released for deletion"):
        await world.new_chain(dataset, other)
    with pytest.raises(Conflict, match="is deleting"):
        await world.new_chain(await world.dms.get_dataset(dataset.uid), other)
    own = await world.dms.register_dataset(NewDataset(name="own", type=DatasetType.LOGS))
    with pytest.raises(Unprocessable, match="only inside its own chain"):
        await world.new_chain(own, other)


async def test_input_is_kept_while_another_chain_uses_it(world: World) -> None:
    dataset, template = await world.input("a"), world.template(three_steps(retention=DELETE_ALL))
    slow = await world.new_chain(dataset, template.model_copy(update={"version": 2}))
    await world.start_steps()
    await world.deliver()
    (task_uid,) = world.wms.tasks
    quick = await world.new_chain(dataset, template)
    running = world.wms.statuses.pop(task_uid)
    for _ in range(5):
        await world.turn()
    assert (await world.chain(quick.uid)).state is ChainState.FINISHED
    assert dataset.uid not in world.deletions
    world.wms.statuses[task_uid] = running
    for _ in range(5):
        await world.turn()
    assert (await world.chain(slow.uid)).state is ChainState.FINISHED
    assert world.deletions.count(dataset.uid) == 1


async def test_chains_and_tasks_are_listed_ranked_and_canceled(world: World) -> None:
    template = world.template(three_steps())
    chains = [
        await world.new_chain(await world.input(f"d{number}"), template) for number in range(3)
    ]
    await world.start_steps()
    await world.deliver()
    page = await world.chains.list_chains(limit=2)
    assert [chain.uid for chain in page.chains] == [chains[2].uid, chains[1].uid]
    rest = await world.chains.list_chains(limit=2, after=page.after)
    assert ([chain.uid for chain in rest.chains], rest.after) == ([chains[0].uid], None)
    of_one = await world.chains.list_chains(dataset_uid=chains[1].dataset_uid)
    assert [chain.uid for chain in of_one.chains] == [chains[1].uid]
    with pytest.raises(Unprocessable, match="is not a cursor of this list"):
        await world.chains.list_chains(after="zzz")
    tasks = (await world.chains.list_tasks(chain=chains[0].uid)).tasks
    assert [(task.step, task.state) for task in tasks] == [
        ("decode", StepState.IN_PROGRESS),
        ("filter", StepState.STARTING),
    ]
    assert tasks[0].jobs is not None
    assert (await world.chains.prioritise(tasks[0].task_uid, 9.0)).rank == 9.0
    world.http["wms"].down = True
    assert (await world.chains.get_task(tasks[0].task_uid)).jobs is None
    world.http["wms"].down = False
    assert (await world.chains.cancel_task(tasks[0].task_uid)).state is TaskState.CANCELED
    await world.follow()
    assert (await world.chain(chains[0].uid)).state is ChainState.CANCELED
    with pytest.raises(NotFound):
        await world.chains.cancel_task(chains[0].uid)
