"""Requirements of a template on a chain, and the sentences about unmet requirements."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.chain_requirements import (
    DatasetFacts,
    required,
    requires_text,
    unmet,
    unmet_dataset,
)
from sluice.contracts.templates.conditions import Between, Condition, Equals, Glob, OneOf, Require
from sluice.contracts.templates.plan import Parameter, Plan
from tests.unit.wfms.chains.plans import make_plan, make_step

REQUIRED = Require(
    files=Between(minimum=10),
    bytes=Between(maximum=12_345_678),
    meta={"version": Glob(pattern="2.*"), "type": Equals(value="input")},
    parameters={"cut": Between(minimum=1, maximum=5), "mode": Equals(value=None)},
)
PARAMETERS = {"cut": Parameter(type="int", default=3), "mode": Parameter(type="string")}


def make_workflow(require: Require | None) -> Plan:
    return make_plan(
        make_step("only"), outputs=[("only", "out")], require=require, parameters=PARAMETERS
    )


def make_dataset_facts(
    *, files: int, size: int, state: DatasetState = DatasetState.CLOSED, **meta: object
) -> DatasetFacts:
    dataset = Dataset(
        uid=UUID(int=1),
        name="d",
        type=DatasetType.INPUT,
        state=state,
        meta=meta,
        count_files=files,
        bytes=size,
        timestamp=datetime(2024, 1, 1, tzinfo=UTC),
    )
    return DatasetFacts.of(dataset)


def test_met_requirements_are_not_reported() -> None:
    assert (
        unmet(
            make_workflow(REQUIRED),
            make_dataset_facts(files=10, size=12_345_678, version="2.1"),
            {},
        )
        == []
    )
    assert (
        unmet(
            make_workflow(REQUIRED),
            make_dataset_facts(files=10, size=1, version="2.1"),
            {"cut": None},
        )
        == []
    ), "the default must count"
    assert unmet(make_workflow(None), make_dataset_facts(files=0, size=0), {"mode": "odd"}) == []


def test_unmet_requirements_are_reported_with_their_values() -> None:
    broken = unmet(
        make_workflow(REQUIRED),
        make_dataset_facts(files=3, size=12_345_679, version="1.4"),
        {"cut": 9, "mode": "fast"},
    )
    assert requires_text(broken) == (
        "requires files from 10 to ∞, which is 3, and bytes from -∞ to 12345678, which is "
        "12345679, "
        "and meta version like '2.*', which is '1.4', and parameter cut from 1 to 5, which is 9, "
        "and parameter mode = null, which is 'fast'"
    )
    assert unmet(make_workflow(REQUIRED), make_dataset_facts(files=10, size=1), {}) == [
        "meta version like '2.*', which is missing"
    ]


@pytest.mark.parametrize(
    ("condition", "value", "actual"),
    [
        (Glob(pattern="2.*"), 2.1, "the number 2.1, not a text"),
        (Equals(value="2.1"), 2.1, "the number 2.1, not a text"),
        (OneOf(values=["2.1", 3]), 2.1, "the number 2.1, not a text"),
        (Equals(value=3), 2.1, "2.1"),
        (Between(minimum=3), 2.1, "2.1"),
        (Glob(pattern="2.*"), True, "true"),
    ],
)
def test_number_in_place_of_a_text_is_explained(
    condition: Condition, value: object, actual: str
) -> None:
    broken = unmet_dataset(
        make_workflow(Require(meta={"version": condition})),
        make_dataset_facts(files=1, size=1, version=value),
    )
    how = (
        """ (quote it to make it a text: "2.1" in JSON, 'version="2.1"' on the command line)"""
        if "text" in actual
        else ""
    )
    assert [one.partition(", which is ")[2] for one in broken] == [f"{actual}{how}"]


def test_requirements_are_listed_by_their_subjects() -> None:
    assert required(make_workflow(None)) == {}
    assert required(make_workflow(REQUIRED)) == {
        "files": REQUIRED.files,
        "bytes": REQUIRED.bytes,
        "meta version": REQUIRED.meta["version"],
        "meta type": REQUIRED.meta["type"],
        "parameter cut": REQUIRED.parameters["cut"],
        "parameter mode": REQUIRED.parameters["mode"],
    }


def test_unknown_number_of_bytes_is_not_checked() -> None:
    unknown = DatasetFacts({"version": "2.1", "type": "input"}, files=12, bytes=None)
    assert unmet_dataset(make_workflow(REQUIRED), unknown) == []


@pytest.mark.parametrize(
    ("condition", "messages"),
    [
        (Between(minimum=2), []),
        (Between(minimum=9), ["files from 9 to ∞, which is 3 so far: the data set is still open"]),
        (
            Between(minimum=2, maximum=9),
            ["files from 2 to 9, and the data set is still open: close it first"],
        ),
        (Equals(value=3), ["files = 3, and the data set is still open: close it first"]),
    ],
)
def test_open_data_set_meets_only_requirements_that_stay_true(
    condition: Condition, messages: list[str]
) -> None:
    assert (
        unmet_dataset(
            make_workflow(Require(files=condition)),
            make_dataset_facts(files=3, size=1, state=DatasetState.OPEN),
        )
        == messages
    )
