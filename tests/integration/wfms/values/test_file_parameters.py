"""Files, data sets and directories as values of parameters."""

from typing import Any
from uuid import uuid4

import pytest

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import (
    ChainState,
    EntryKind,
    InputMode,
)
from sluice.contracts.templates.plan import (
    FILES,
    Constant,
    DataEntries,
    NextSource,
    Parameter,
    Plan,
    Source,
    StepInput,
)
from tests.integration.wfms.values.file_values import (
    create_file_dataset,
    make_file_value,
    make_plan_with_file_parameters,
)
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_plan, make_step, make_three_steps


async def test_file_parameters_are_checked_for_a_new_chain(wfms: WfmsFixture) -> None:
    """An accepted chain can run: there is no check at run time."""
    template, dataset = (
        wfms.add_template(make_plan_with_file_parameters("a", "b", "c", "d", "e")),
        await wfms.create_input("in"),
    )
    params = {
        "a": make_file_value(await create_file_dataset(wfms, "two", files=2)),
        "b": make_file_value(await create_file_dataset(wfms, "open", close=False)),
        "c": {"class": "File", "dataset": str(uuid4())},
        "d": make_file_value(dataset),
        "e": None,
    }
    with pytest.raises(Unprocessable) as refused:
        await wfms.create_chain(dataset, template, **params)
    assert [finding.message.split(":")[0] for finding in refused.value.findings] == [
        f"parameter {name!r}" for name in "abcd"
    ]
    for message in (
        "has 2 files",
        "is open; it must be closed",
        "there is no data set",
        "is the chain's input data set",
    ):
        assert message in refused.value.detail
    with pytest.raises(Unprocessable, match="'a' is a file, which is given as"):
        await wfms.create_chain(dataset, template, a={"class": "File", "location": "file:///a"})
    assert (await wfms.chains.list_chains()).chains == []


async def test_file_parameter_is_passed_to_the_task_and_deleted_with_the_chain(
    wfms: WfmsFixture,
) -> None:
    template, dataset = (
        wfms.add_template(make_plan_with_file_parameters("a", "b", "c")),
        await wfms.create_input("in"),
    )
    file_dataset, retained_dataset = [
        await create_file_dataset(wfms, name) for name in ("passing", "kept")
    ]
    chain = await wfms.create_chain(
        dataset,
        template,
        a=make_file_value(file_dataset, retention="delete"),
        b=make_file_value(retained_dataset),
    )
    await wfms.start_steps()
    await wfms.deliver_messages()
    (task,) = wfms.wms.tasks.values()
    assert [(side.port, side.dat_in_uid) for side in task.side_inputs] == [
        ("at_a", file_dataset.uid),
        ("at_b", retained_dataset.uid),
    ]
    assert file_dataset.uid not in wfms.deletions
    for _ in range(3):
        await wfms.run_loops()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FINISHED
    assert file_dataset.uid in wfms.deletions
    assert retained_dataset.uid not in wfms.deletions
    with pytest.raises(Unprocessable, match="is deleting; it must be closed"):
        await wfms.create_chain(
            await wfms.create_input("more"), template, a=make_file_value(file_dataset)
        )


async def test_file_parameter_needed_by_another_chain_is_kept(wfms: WfmsFixture) -> None:
    """Invariant 4, in both directions: the parameter of one chain is the first input of another."""
    short = wfms.add_template(
        make_plan(make_step("only"), outputs=[("only", "out")], retention=DELETE_ALL), name="short"
    )
    long = wfms.add_template(make_three_steps(retention=DELETE_ALL), name="long")
    reader, two = (
        wfms.add_template(make_plan_with_file_parameters("a")),
        [await create_file_dataset(wfms, name) for name in ("one", "two")],
    )
    slow = make_plan(
        make_step("only", sides=make_plan_with_file_parameters("a").steps[0].inputs[1:]),
        make_step("next", Source(step="only", port="out")),
        make_step("last", Source(step="next", port="out")),
        outputs=[("last", "out")],
        parameters={"a": Parameter(type="File")},
    )
    await wfms.create_chain(
        await wfms.create_input("x"), reader, a=make_file_value(two[0], retention="delete")
    )
    await wfms.create_chain(two[0], long)
    await wfms.create_chain(
        await wfms.create_input("y"),
        wfms.add_template(slow, name="slow"),
        a=make_file_value(two[1]),
    )
    await wfms.create_chain(two[1], short)
    for _ in range(2):
        await wfms.run_loops()
    ended = {
        chain.template
        for chain in (await wfms.chains.list_chains()).chains
        if chain.state is ChainState.FINISHED
    }
    assert ended == {"wf", "short"}
    assert not {dataset.uid for dataset in two} & set(wfms.deletions)
    for _ in range(3):
        await wfms.run_loops()
    assert all(
        chain.state is ChainState.FINISHED for chain in (await wfms.chains.list_chains()).chains
    )
    assert [dataset.uid in wfms.deletions for dataset in two] == [True, False]


def make_plan_with_dataset_parameter(mode: InputMode) -> Plan:
    """Return a plan whose parameter ``mates_dataset`` is a data set."""
    mates_dataset = StepInput(port="mate", source=Source(step=None, port="mates"), mode=mode)
    step_with_both = make_step("only", sides=[mates_dataset], by_place=mode is InputMode.EACH)
    parameters = {"mates": Parameter(type=FILES, required=True)}
    return make_plan(step_with_both, outputs=[("only", "out")], parameters=parameters)


@pytest.mark.parametrize("mode", [InputMode.EACH, InputMode.ALL])
async def test_data_set_parameter_is_passed_to_the_task_and_deleted_with_the_chain(
    wfms: WfmsFixture, mode: InputMode
) -> None:
    template, dataset = (
        wfms.add_template(make_plan_with_dataset_parameter(mode)),
        await wfms.create_input("in"),
    )
    mates_dataset = await create_file_dataset(wfms, "mates", files=3)
    chain = await wfms.create_chain(
        dataset, template, mates=make_file_value(mates_dataset, retention="delete")
    )
    await wfms.start_steps()
    await wfms.deliver_messages()
    (task,) = wfms.wms.tasks.values()
    assert [(side.port, side.dat_in_uid, side.mode) for side in task.side_inputs] == [
        ("mate", mates_dataset.uid, mode)
    ]
    assert task.by_place is (mode is InputMode.EACH)
    for _ in range(3):
        await wfms.run_loops()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FINISHED
    assert mates_dataset.uid in wfms.deletions


async def test_data_set_parameter_is_checked_for_a_new_chain(wfms: WfmsFixture) -> None:
    template = wfms.add_template(make_plan_with_dataset_parameter(InputMode.ALL))
    dataset = await wfms.create_input("in")
    for value, message in (
        (None, "'mates' .a list of File. is required and has no value"),
        (["a.txt"], "'mates' takes the files of a data set, which is given as"),
        (make_file_value(dataset), "is the chain's input data set"),
        (
            make_file_value(await create_file_dataset(wfms, "open", close=False)),
            "is open; it must be closed",
        ),
    ):
        with pytest.raises(Unprocessable, match=message):
            await wfms.create_chain(
                dataset, template, **({} if value is None else {"mates": value})
            )
    assert (await wfms.chains.list_chains()).chains == []


async def test_parameter_that_is_joined_with_others_has_no_undeclared_secondary_files(
    wfms: WfmsFixture,
) -> None:
    parts = [Source(step=None, port=name) for name in ("first", "second")]
    joined = StepInput(
        port="files",
        source=parts[0],
        next_sources=[NextSource(source=parts[1])],
        mode=InputMode.ALL,
    )
    plan = make_plan_with_file_parameters("first", "second")
    plan.steps[0].inputs.append(joined)
    template, dataset = wfms.add_template(plan), await wfms.create_input("in")
    values: dict[str, dict[str, Any]] = {
        name: {**make_file_value(await create_file_dataset(wfms, name))}
        for name in ("first", "second")
    }
    values["second"]["bundle"] = True
    with pytest.raises(Unprocessable, match=r"'second': it has secondary files, .* joins it with"):
        await wfms.create_chain(dataset, template, **values)
    values["second"]["bundle"] = False
    await wfms.create_chain(dataset, template, **values)


async def test_directory_parameter_takes_a_data_set_with_one_bundle(wfms: WfmsFixture) -> None:
    """An asset is refused."""
    tree = StepInput(
        port="at_tree",
        source=Source(step=None, port="tree"),
        mode=InputMode.ONE,
        kind=EntryKind.BUNDLE,
    )
    entries = DataEntries(type="Directory")
    parameters = {"tree": Parameter(type="Directory", required=True, entries=entries)}
    template = wfms.add_template(
        make_plan(make_step("only", sides=[tree]), outputs=[("only", "out")], parameters=parameters)
    )
    dataset, one = await wfms.create_input("in"), await create_file_dataset(wfms, "one")
    for value, message in (
        (make_file_value(one), "'tree' must be Directory, not"),
        ({"class": "Directory", "path": "tree"}, "'tree' is a directory, which is given as"),
        ("asset:tree", "'tree': takes a directory, or files with secondary files, not an asset"),
        (
            {
                "class": "Directory",
                "dataset": str((await create_file_dataset(wfms, "two", files=2)).uid),
            },
            "has 2 files, but a parameter of type Directory takes one",
        ),
    ):
        with pytest.raises(Unprocessable, match=message):
            await wfms.create_chain(dataset, template, tree=value)
    await wfms.create_chain(dataset, template, tree={"class": "Directory", "dataset": str(one.uid)})
    await wfms.start_steps()
    await wfms.deliver_messages()
    (task,) = wfms.wms.tasks.values()
    (side,) = task.side_inputs
    assert (side.port, side.dat_in_uid, side.kind) == ("at_tree", one.uid, EntryKind.BUNDLE)


async def test_given_file_replaces_the_default_file_of_a_parameter(wfms: WfmsFixture) -> None:
    literal = {"class": "File", "basename": "words.txt", "contents": "a"}
    planned = make_plan_with_file_parameters("a")
    planned.steps[0].arguments["at_a"] = Constant(value=literal)
    template, one = wfms.add_template(planned), await create_file_dataset(wfms, "one")
    await wfms.create_chain(await wfms.create_input("x"), template)
    await wfms.create_chain(await wfms.create_input("y"), template, a=make_file_value(one))
    await wfms.start_steps()
    await wfms.deliver_messages()
    tasks = sorted(wfms.wms.tasks.values(), key=lambda task: len(task.inputs))
    assert [[side.dat_in_uid for side in task.side_inputs] for task in tasks] == [[], [one.uid]]
    assert [task.args for task in tasks] == [{"at_a": literal}] * 2
