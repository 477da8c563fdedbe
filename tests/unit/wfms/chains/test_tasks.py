"""Tasks and data sets of the steps of a plan."""

from dataclasses import replace
from uuid import UUID

import pytest

from sluice.contracts.common.bounds import MAX_ADDED, MAX_META
from sluice.contracts.common.states import (
    DatasetType,
    DeviceType,
    EntryKind,
    InputMode,
    Pick,
    StorageType,
)
from sluice.contracts.data.datasets import Storage
from sluice.contracts.jobs.needs import Needs, Resources, Warm
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.templates.plan import (
    Boundary,
    Constant,
    MergeGroups,
    NextSource,
    Retry,
    Source,
    StepInput,
    StepOutput,
)
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.chains.domain.identity import ChainKey, dataset_name, task_uid
from wfms.chains.domain.storages import NoStorageOfType, choose_storage
from wfms.chains.domain.tasks import (
    DatasetFolder,
    InputFilesMissing,
    Origin,
    StepDatasets,
    make_task,
    name_findings,
    new_dataset,
)

CHAIN = UUID(int=9)
ORIGIN = Origin(CHAIN, "wf", "run-7", {"kind": "raw", "step": "mine"}, "2024a", 7)


def make_storage(
    name: str,
    kind: StorageType = StorageType.LOGS,
    *,
    used: int = 0,
    capacity: int | None = None,
    enabled: bool = True,
    read_only: bool = False,
) -> Storage:
    return Storage(
        id=UUID(int=1),
        name=name,
        type=kind,
        url=f"file:///{name}",
        used=used,
        capacity=capacity,
        enabled=enabled,
        read_only=read_only,
    )


def test_identifiers_are_derived_from_their_contents() -> None:
    assert (
        ChainKey(UUID(int=1), UUID(int=2), 3, "").uid
        == ChainKey(UUID(int=1), UUID(int=2), 3, "").uid
    )
    keys = [
        ChainKey(UUID(int=a), UUID(int=b), c, d)
        for a in (1, 2)
        for b in (1, 2)
        for c in (1, 2)
        for d in ("", "x")
    ]
    assert len({key.uid for key in keys}) == 16
    assert task_uid(CHAIN, "a") != task_uid(CHAIN, "b")
    assert dataset_name(CHAIN, "a", None) == f"{CHAIN}.a.logs"


def test_data_sets_of_a_chain_have_different_names() -> None:
    parts = ["a", "logs", "a.b", "logs.a", "b.logs", "a.b.c"]
    places = [
        (step, port)
        for step in parts
        for port in [None, *parts, *(f"{port}~parts" for port in parts)]
    ]
    assert len({dataset_name(CHAIN, *place) for place in places}) == len(places)


def test_fields_of_a_step_are_copied_to_its_task() -> None:
    filter_step = make_step(
        "filter",
        Source(step="decode", port="out"),
        boundary=Boundary(minimum=0.5, sufficient=0.9),
        retry=Retry(attempts=7, backoff=2.5),
        rank=4.0,
        groups=MergeGroups(files=3),
        needs=Needs(
            resources=Resources(cores=2, ram=1, disk=2, time_limit=3), device_type=DeviceType.GPU
        ),
    ).model_copy(update={"outputs": [StepOutput(port="a"), StepOutput(port="b", optional=True)]})
    datasets = StepDatasets(
        sources={filter_step.main_input.source: UUID(int=1)},
        outputs={
            "a": DatasetFolder(UUID(int=2), "file:///s/x.a"),
            "b": DatasetFolder(UUID(int=3), "file:///s/x.b"),
        },
        logs=DatasetFolder(UUID(int=4), "file:///l/x.logs"),
    )
    task = make_task(
        ORIGIN,
        make_plan(filter_step, make_step("decode"), outputs=[("filter", "a")]),
        step="filter",
        params={},
        datasets=datasets,
    )
    assert (task.retry, task.backoff, task.rank) == (7, 2.5, 4.0)
    assert (task.boundary, task.groups, task.needs) == (
        filter_step.boundary,
        filter_step.groups,
        filter_step.needs,
    )
    assert (task.mode, task.main_input.dat_in_uid, task.main_input.port, task.executable) == (
        filter_step.mode,
        UUID(int=1),
        "file",
        filter_step.tool,
    )
    assert [
        (output.port, output.dat_out_uid, output.dat_stor_url, output.optional)
        for output in task.outputs
    ] == [
        ("a", UUID(int=2), "file:///s", False),
        ("b", UUID(int=3), "file:///s", True),
    ]
    assert (task.log_out_uid, task.log_stor_url, task.log_out_url) == (
        UUID(int=4),
        "file:///l",
        "file:///l/x.logs",
    )
    assert (task.uid, task.template) == (task_uid(CHAIN, "filter"), "wf")


def test_depth_of_a_step_is_its_longest_path_from_the_input() -> None:
    first, again = make_step("first"), make_step("again", Source(step="first", port="out"))
    side = StepInput(port="side", source=Source(step="again", port="out"), mode=InputMode.ALL)
    step_with_both = make_step("both", Source(step="first", port="out"), sides=[side])
    chain_plan = make_plan(step_with_both, again, first, outputs=[("both", "out")])
    assert [chain_plan.depth(name) for name in ("first", "again", "both")] == [0, 1, 2]


def find_kind(name: str = "filter", *, tool: str = "ocr", **arguments: object) -> str | None:
    """Return the kind of a task whose tool loads the argument ``model``."""
    tool_step = make_step(
        name,
        needs=Needs(warm=Warm(key=["model"])),
        arguments={port: Constant(value=value) for port, value in arguments.items()},
    ).model_copy(update={"tool": {"class": "CommandLineTool", "id": name, "baseCommand": tool}})
    datasets = StepDatasets(
        sources={tool_step.main_input.source: UUID(int=1)},
        outputs={"out": DatasetFolder(UUID(int=2), "file:///s/x.a")},
        logs=DatasetFolder(UUID(int=4), "file:///l/x.logs"),
    )
    task = make_task(
        ORIGIN,
        make_plan(tool_step, outputs=[(name, "out")]),
        step=name,
        params={},
        datasets=datasets,
    )
    assert task.needs.warm is not None
    return task.needs.warm.kind


def test_tasks_whose_tools_load_the_same_have_the_same_kind() -> None:
    """The names of their steps and the other arguments do not matter."""
    assert find_kind(model="a", page=1) == find_kind("other", model="a", page=2)
    assert len({find_kind(model="a"), find_kind(model="b"), find_kind(), find_kind(tool="x")}) == 4


def test_data_sets_inherit_the_description_of_the_input() -> None:
    workflow = make_plan(make_step("only"), outputs=[("only", "out")])
    output = new_dataset(ORIGIN, workflow, step="only", port="out", storage_url="file:///s")
    assert (output.type, output.period, output.run) == (DatasetType.INTERMEDIATE, "2024a", 7)
    assert output.url == f"file:///s/{CHAIN}.only.out"
    assert output.meta["step"] == "only"
    assert (output.meta["output"], output.meta["output_name"]) == ("only_out", "run-7.only_out")
    logs = new_dataset(ORIGIN, workflow, step="only", port=None, storage_url="file:///l")
    assert logs.type is DatasetType.LOGS
    assert "port" not in logs.meta


def test_output_description_is_not_inherited_by_the_next_chain() -> None:
    """Otherwise all outputs of the next chain would have the name of this output."""
    own = {
        "chain": "before",
        "template": "t",
        "step": "sum",
        "port": "out",
        "output": "report",
        "output_name": "week.1.report",
    }
    after = replace(ORIGIN, name="week.1.report", meta={"kind": "raw", **own})
    workflow = make_plan(make_step("first"), make_step("last"), outputs=[("last", "out")])
    for port in ("out", None):
        output = new_dataset(after, workflow, step="first", port=port, storage_url="file:///s")
        assert output.meta["kind"] == "raw"
        assert "output_name" not in output.meta
        assert output.meta.get("port") == port
    assert new_dataset(after, workflow, step="last", port="out", storage_url="file:///s").meta[
        "output_name"
    ] == ("week.1.report.last_out")


def test_description_beyond_the_bounds_is_not_inherited() -> None:
    """Such a description could not be registered again, and the chain would fail."""
    old = replace(ORIGIN, meta={"notes": "x" * (MAX_META + MAX_ADDED)})
    output = new_dataset(
        old,
        make_plan(make_step("only"), outputs=[("only", "out")]),
        step="only",
        port="out",
        storage_url="file:///s",
    )
    assert "notes" not in output.meta
    assert output.meta["not_inherited"].startswith(
        f"metadata may have {MAX_META + MAX_ADDED} bytes as JSON"
    )
    assert output.meta["chain"] == str(CHAIN)
    largest = replace(ORIGIN, meta={"notes": "x" * (MAX_META - 20)})
    output = new_dataset(
        largest,
        make_plan(make_step("only"), outputs=[("only", "out")]),
        step="only",
        port="out",
        storage_url="file:///s",
    )
    assert "notes" in output.meta


def test_names_that_make_no_data_set_name_are_reported() -> None:
    assert name_findings(CHAIN, make_plan(make_step("fine"), outputs=[("fine", "out")])) == []
    findings = name_findings(CHAIN, make_plan(make_step("a/b"), outputs=[("a/b", "out")]))
    assert len(findings) == 2
    assert "step 'a/b' with its port 'out' cannot be the name of a data set" in findings[0].message


def test_storage_with_the_most_free_space_is_chosen() -> None:
    full, small, large = (
        make_storage("full", used=5, capacity=5),
        make_storage("s", capacity=5),
        make_storage("l", used=90, capacity=100),
    )
    disabled, read_only, unlimited = (
        make_storage("off", enabled=False),
        make_storage("frozen", read_only=True),
        make_storage("endless", used=10**12),
    )
    assert choose_storage(StorageType.LOGS, [full, small, large, disabled, read_only]) is large
    assert choose_storage(StorageType.LOGS, [large, unlimited]) is unlimited
    unknown_size = large.model_copy(
        update={"name": "odd", "used": 0, "warning": "its folder is not there"}
    )
    assert choose_storage(StorageType.LOGS, [unknown_size, small]) is small
    with pytest.raises(
        NoStorageOfType, match=r"odd gets no new data sets \(its folder is not there\)"
    ):
        choose_storage(StorageType.LOGS, [unknown_size])
    with pytest.raises(
        NoStorageOfType,
        match=r"full is full \(5 of 5 bytes\); off is disabled \(.* enable off`\); frozen is"
        r" read-only",
    ):
        choose_storage(StorageType.LOGS, [full, disabled, read_only])
    with pytest.raises(NoStorageOfType, match="type logs: none is registered"):
        choose_storage(StorageType.LOGS, [])


def test_storage_too_small_for_large_files_is_the_last_choice() -> None:
    small, large = make_storage("s", capacity=5), make_storage("l", capacity=100)
    full_storage = large.model_copy(update={"full": "72 GB free, 9.0 PB needed", "full_for": 2**53})
    assert choose_storage(StorageType.LOGS, [full_storage, small]) is small
    assert choose_storage(StorageType.LOGS, [full_storage]) is full_storage


def test_storage_of_another_type_is_never_chosen() -> None:
    logs, outputs = make_storage("l", capacity=5), make_storage("o", StorageType.OUTPUT)
    assert choose_storage(StorageType.LOGS, [outputs, logs]) is logs
    with pytest.raises(NoStorageOfType, match="type intermediate: none is registered"):
        choose_storage(StorageType.INTERMEDIATE, [outputs, logs])


@pytest.mark.parametrize("bundle", [False, True])
def test_parameter_with_undeclared_secondary_files_has_bundles(*, bundle: bool) -> None:
    source = Source(step=None, port="own")
    datasets = StepDatasets(
        {source: UUID(int=1)},
        {"out": DatasetFolder(UUID(int=7), "file:///s/x")},
        DatasetFolder(UUID(int=8), "file:///l/x"),
    )
    value = {"class": "File", "dataset": str(UUID(int=1)), "bundle": bundle}
    chain_plan = make_plan(make_step("use", source), outputs=[("use", "out")])
    task = make_task(ORIGIN, chain_plan, step="use", params={"own": value}, datasets=datasets)
    assert task.main_input.kind is (EntryKind.BUNDLE if bundle else EntryKind.FILE)


def test_missing_file_parameter_makes_way_for_the_next_source() -> None:
    own, from_step, more = (
        Source(step=None, port="own"),
        Source(step="make", port="out"),
        Source(step=None, port="more"),
    )
    chosen = make_step(
        "use",
        own,
        next_sources=[NextSource(source=from_step), NextSource(source=more)],
        pick=Pick.FIRST,
    )
    chain_plan = make_plan(chosen, make_step("make"), outputs=[("use", "out")])

    def make_task_with_numbers(**numbers: int) -> Task:
        sources = {
            Source(
                step="make" if name == "make" else None, port="out" if name == "make" else name
            ): UUID(int=number)
            for name, number in numbers.items()
        }
        datasets = StepDatasets(
            sources,
            {"out": DatasetFolder(UUID(int=7), "file:///s/x")},
            DatasetFolder(UUID(int=8), "file:///l/x"),
        )
        return make_task(ORIGIN, chain_plan, step="use", params={}, datasets=datasets)

    assert make_task_with_numbers(own=1, make=2).main_input.dat_in_uid == UUID(int=1)
    task = make_task_with_numbers(make=2, more=3)
    assert (
        task.main_input.dat_in_uid,
        [following.dat_in_uid for following in task.main_input.next_inputs],
    ) == (
        UUID(int=2),
        [UUID(int=3)],
    )
    with pytest.raises(
        InputFilesMissing,
        match="step use has nothing to work on: no file was given for its input file",
    ):
        make_task_with_numbers()


def test_list_of_files_of_which_none_is_given_is_empty() -> None:
    own, more = Source(step=None, port="own"), Source(step=None, port="more")
    from_step = Source(step="make", port="out")
    inputs = [
        StepInput(port="file", source=from_step, mode=InputMode.EACH),
        StepInput(
            port="files",
            source=own,
            next_sources=[NextSource(source=more)],
            mode=InputMode.ALL,
        ),
        StepInput(port="others", source=own, mode=InputMode.ALL, optional=True),
        StepInput(port="other", source=own, mode=InputMode.ONE, optional=True),
    ]
    use = make_step("use", from_step).model_copy(update={"inputs": inputs})
    chain_plan = make_plan(make_step("make"), use, outputs=[("use", "out")])
    datasets = StepDatasets(
        {from_step: UUID(int=1)},
        {"out": DatasetFolder(UUID(int=7), "file:///s/x")},
        DatasetFolder(UUID(int=8), "file:///l/x"),
    )
    task = make_task(ORIGIN, chain_plan, step="use", params={}, datasets=datasets)
    assert [task_input.port for task_input in task.inputs] == ["file"]
    assert task.args == {"files": []}
