"""Bounds of free-form values in requests; answers and messages accept larger stored values."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel, ValidationError

from sluice.contracts.chains.chains import Chain, NewChain, RequestChain, RerunChain
from sluice.contracts.common.bounds import MAX_ADDED, MAX_DEPTH, MAX_META, MAX_PARAMS
from sluice.contracts.common.states import (
    AttemptOutcome,
    ChainState,
    DatasetState,
    DatasetType,
    StorageType,
)
from sluice.contracts.data.datasets import Dataset, File, NewDataset, NewFile, NewFiles, NewStorage
from sluice.contracts.data.runs import Frame, NewFrame, NewPeriod, NewRun, Period, Run
from sluice.contracts.messaging.messages import RegisterFiles
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.wfms.chains.plans import make_plan, make_step

WORKFLOW = make_plan(make_step("only"), outputs=[("only", "out")])
TIME = datetime(2024, 1, 1, tzinfo=UTC)
UID = UUID(int=1)


def make_object_of_size(size: int) -> dict[str, Any]:
    """Return metadata of this many bytes as JSON."""
    return {"x": "y" * (size - len('{"x":""}'))}


def make_nested_object(levels: int) -> dict[str, Any]:
    """Return an object with this many alternating levels of objects and lists."""
    value: Any = 1
    for level in range(levels, 0, -1):
        value = {"x": value} if level % 2 else [value]
    assert isinstance(value, dict)
    return value


def make_dataset(meta: dict[str, Any]) -> Dataset:
    return Dataset(
        uid=UID,
        name="d",
        type=DatasetType.INPUT,
        state=DatasetState.CLOSED,
        meta=meta,
        count_files=1,
        bytes=1,
        timestamp=TIME,
    )


def make_file(**other: Any) -> NewFile:
    fields = {
        "seq": 0,
        "name": "a.raw",
        "size": 1,
        "checksum": f"sha256:{'0' * 64}",
        "url": "file:///s/a.raw",
        **other,
    }
    return NewFile(**fields)


META: dict[str, Callable[[dict[str, Any]], object]] = {
    "a data set": lambda meta: NewDataset(name="d", meta=meta),
    "a file": lambda meta: NewFiles(files=[make_file(), make_file(meta=meta)]),
    "what made a file": lambda meta: NewFiles(files=[make_file(), make_file(origin=meta)]),
    "a run": lambda meta: NewRun(number=1, period="p", conditions=meta),
    "a frame": lambda meta: NewFrame(number=1, meta=meta),
}
PARAMS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a request": lambda params: RequestChain(dataset_uid=UID, template="t", params=params),
    "a rerun": lambda params: RerunChain(params=params),
    "a chain": lambda params: NewChain(
        dataset=make_dataset({}),
        template_id=UID,
        template="t",
        template_version=1,
        plan=WORKFLOW,
        params=params,
    ),
}


@pytest.mark.parametrize(
    "build", [pytest.param(request, id=what) for what, request in META.items()]
)
def test_metadata_of_a_request_are_bounded(build: Callable[[dict[str, Any]], object]) -> None:
    build(make_object_of_size(MAX_META))
    with pytest.raises(
        ValidationError,
        match=rf"may have {MAX_META} bytes as JSON, and these have {MAX_META + 1}: ",
    ):
        build(make_object_of_size(MAX_META + 1))


@pytest.mark.parametrize(
    "build", [pytest.param(request, id=what) for what, request in PARAMS.items()]
)
def test_parameters_of_a_request_are_bounded(build: Callable[[dict[str, Any]], object]) -> None:
    build(make_object_of_size(MAX_PARAMS))
    with pytest.raises(
        ValidationError,
        match=f"may have {MAX_PARAMS} bytes as JSON, and these have {MAX_PARAMS + 1}: ",
    ):
        build(make_object_of_size(MAX_PARAMS + 1))


@pytest.mark.parametrize(
    "build", [pytest.param(request, id=what) for what, request in {**META, **PARAMS}.items()]
)
def test_nesting_of_a_request_is_bounded(build: Callable[[dict[str, Any]], object]) -> None:
    build(make_nested_object(MAX_DEPTH))
    with pytest.raises(
        ValidationError, match=f"may nest objects and lists at most {MAX_DEPTH} levels"
    ):
        build(make_nested_object(MAX_DEPTH + 1))
    with pytest.raises(
        ValidationError, match=f"may nest objects and lists at most {MAX_DEPTH} levels"
    ):
        build(make_nested_object(5_000))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "build", [pytest.param(request, id=what) for what, request in {**META, **PARAMS}.items()]
)
def test_number_that_json_cannot_express_is_refused(
    build: Callable[[dict[str, Any]], object], number: float
) -> None:
    """JSON would store it as null."""
    with pytest.raises(ValidationError, match="which JSON does not have"):
        build({"x": [{"y": number}]})
    build({"x": [{"y": 1e308}], "z": None, "word": "null"})


def test_error_in_a_list_of_files_names_the_file() -> None:
    with pytest.raises(
        ValidationError, match=r"file 1 of the list \('b\.raw'\): metadata may have"
    ):
        NewFiles(
            files=[make_file(), make_file(name="b.raw", meta=make_object_of_size(MAX_META + 1))]
        )
    with pytest.raises(
        ValidationError, match=r"file 0 of the list \('a\.raw'\): a URL may have 4096 characters"
    ):
        NewFiles(files=[make_file(url=f"file:///{'x' * 4096}")])


@pytest.mark.parametrize(
    "build",
    [
        lambda text: NewPeriod(name="p", goal=text),
        lambda text: NewDataset(name="d", url=f"file:///{text}"),
        lambda text: NewStorage(name="s", type=StorageType.INPUT, url=f"file:///{text}"),
        lambda text: RerunChain(from_step=text),
        lambda text: make_registration(host=text),
        lambda text: make_registration(version=text),
        lambda text: make_registration(
            resources=NodeResources(cores=1, ram=1, disk=1, gpus=[text])
        ),
        lambda text: make_registration(
            resources=NodeResources(cores=1, ram=1, disk=1, gpus=list(text))
        ),
    ],
)
def test_texts_and_lists_of_a_request_are_bounded(build: Callable[[str], object]) -> None:
    build("x" * 200)
    with pytest.raises(ValidationError):
        build("x" * 5_000)


def make_registration(**other: Any) -> RegisterPilot:
    node = NodeResources(cores=1, ram=1, disk=1)
    return RegisterPilot(
        **{
            "uid": UID,
            "name": "p",
            "host": "h",
            "slots": 1,
            "resources": node,
            "version": "1",
            **other,
        }
    )


def test_metadata_of_chain_outputs_may_exceed_the_bound_of_inputs() -> None:
    """Otherwise a chain could fail because of metadata that its input may have."""
    for kind in set(DatasetType) - {DatasetType.INPUT}:
        NewDataset(name="d", type=kind, meta=make_object_of_size(MAX_META + MAX_ADDED))
        with pytest.raises(ValidationError, match=f"may have {MAX_META + MAX_ADDED} bytes"):
            NewDataset(name="d", type=kind, meta=make_object_of_size(MAX_META + MAX_ADDED + 1))


def test_stored_values_beyond_the_bounds_are_read_and_sent_between_services() -> None:
    large, long = make_object_of_size(MAX_PARAMS + 1) | make_nested_object(100), "x" * 5_000
    stored = make_dataset(large)
    known_file = make_file(meta=large, origin=large)
    values: list[BaseModel] = [
        NewChain(dataset=stored, template_id=UID, template="t", template_version=1, plan=WORKFLOW),
        Period(name="p", goal=long),
        Run(number=1, period="p", conditions=large),
        Frame(number=1, run=1, meta=large),
        File(id=1, dataset_uid=UID, **known_file.model_dump()),
        RegisterFiles(dataset_uid=UID, files=[known_file]),
        Chain(
            uid=uuid4(),
            state=ChainState.FINISHED,
            template_id=UID,
            template="t",
            template_version=1,
            dataset_uid=UID,
            dataset_name="d",
            params=large,
            created_at=TIME,
            steps=[],
            datasets=[],
        ),
    ]
    for value in values:
        sent_text = value.model_dump_json(exclude_unset=True)
        assert type(value).model_validate_json(sent_text) == value


NODE = {"cores": 1.0, "ram": 100, "disk": 100}
DUPLICATE_GPUS = [{"uuid": "a"}, {"uuid": "a"}]


@pytest.mark.parametrize(
    "bad_resources",
    [{"cores": float("inf")}, {"cores": float("nan")}, {"ram": -1}, {"disk": 2**63},
     {"devices": DUPLICATE_GPUS}],
)  # fmt: skip
def test_impossible_resources_of_a_node_are_refused(bad_resources: dict[str, Any]) -> None:
    """One wrong stored node would make the list of all nodes unreadable."""
    plain = {"uid": uuid4(), "name": "p", "host": "h", "slots": 1, "version": "1"}
    assert RegisterPilot.model_validate({**plain, "resources": NODE})
    with pytest.raises(ValidationError):
        RegisterPilot.model_validate({**plain, "resources": {**NODE, **bad_resources}})


@pytest.mark.parametrize(
    "bad_values",
    [{"ended_at": "2126-01-01T00:00:00Z"}, {"started_at": "0001-01-01T00:00:00Z"},
     {"outputs": [{"size": 2**53 + 1}]}, {"peak_memory": float("inf")},
     {"peak_memory": float("nan")}, {"cpu_seconds": -1},
     {"outputs": [{"size": -1}]}, {"outputs": [{"size": 2**63}]}, {"log": {"size": -1}}],
)  # fmt: skip
def test_impossible_values_in_a_report_are_refused(bad_values: dict[str, Any]) -> None:
    """The catalogue would refuse the files of other jobs in the same message, too."""
    file = {"name": "a", "size": 1, "checksum": "sha256:" + "0" * 64, "url": "file:///a"}
    plain = {"id": 1, "attempt": 1, "outcome": AttemptOutcome.FINISHED, "ended_at": TIME}
    filled = {
        key: [{"port": "o", **file, **value[0]}] if key == "outputs"
        else {**file, **value} if key == "log" else value
        for key, value in bad_values.items()
    }  # fmt: skip
    with pytest.raises(ValidationError) as refused:
        AttemptReport.model_validate({**plain, **filled})
    assert len(refused.value.errors()) == 1
    assert AttemptReport.model_validate({**plain, "outputs": [{"port": "o", **file}], "log": file})
