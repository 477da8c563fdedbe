"""Texts on pages: listings, words for values, and values that cannot be stored."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.problems import Finding
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.checkpoints import Checkpoint
from sluice.contracts.jobs.needs import Needs, Resources
from sluice.contracts.templates.conditions import Between, Condition, Equals, Glob, OneOf
from sluice.contracts.templates.matching import bind as bind_parameters
from sluice.contracts.templates.matching import condition_text, facts_of
from tests.unit.operator.plans import make_plan, make_step
from wfms.operator.templates.domain.json_document import MAX_VALUES, UnstorableDocument, to_storable
from wfms.operator.templates.domain.parameters import type_name
from wfms.operator.web.domain.formatting import (
    ago_text,
    duration_text,
    memory_text,
    needs_text,
)
from wfms.operator.web.domain.source_listing import MAX_LINES, list_lines

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_listing_shows_each_line_once_with_its_findings() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 101)) + "\n"
    findings = [
        Finding(message="bad", line=50, column=3),
        Finding(message="everywhere"),
        Finding(message="beyond", line=900),
    ]
    for fold in (False, True):
        listing = list_lines(text, findings, fold=fold)
        lines = [line for block in listing.blocks for line in block.lines]
        assert [line.text for line in lines] == text.splitlines()
        assert [(line.number, line.findings) for line in lines if line.findings] == [
            (50, findings[:1])
        ]
        assert listing.general == findings[1:]
        assert any(block.folded for block in listing.blocks) is fold
        assert not any(
            block.folded for block in listing.blocks if any(line.findings for line in block.lines)
        )


def test_huge_text_is_listed_only_around_its_findings() -> None:
    text = "x" * 10_000 + "\n" + "y\n" * (MAX_LINES * 10)
    listing = list_lines(text, [Finding(message="bad", line=MAX_LINES * 5)])
    assert sum(block.count for block in listing.blocks) == MAX_LINES * 10 + 1
    assert sum(len(block.lines) for block in listing.blocks) < 50
    assert len(listing.blocks[0].lines[0].text) < 500


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Equals(value="raw"), "is raw"),
        (Equals(value=True), "is true"),
        (Equals(value=None), "is absent"),
        (OneOf(values=[1, "two"]), "is one of 1, two"),
        (Between(minimum=3, maximum=9), "is from 3 to 9"),
        (Between(minimum=3), "is at least 3"),
        (Between(maximum=9.5), "is at most 9.5"),
        (Glob(pattern="run-*"), "is like run-*"),
    ],
)
def test_conditions_are_described_in_words(condition: Condition, text: str) -> None:
    assert condition_text(condition) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.21, "0.2 s"),
        (9.96, "10 s"),
        (75, "1 min 15 s"),
        (120, "2 min"),
        (7260, "2 h 1 min"),
        (100_000, "1 d 3 h"),
        (-5, "0.0 s"),
    ],
)
def test_durations_are_described_in_words(seconds: float, text: str) -> None:
    assert duration_text(timedelta(seconds=seconds)) == text


def test_sizes_and_ages_are_described_in_words() -> None:
    assert [size_text(size) for size in (0, 999, 1200, 20e6, 504e6, 2.5e12, 7e15)] == [
        "0 B",
        "999 B",
        "1.2 kB",
        "20.0 MB",
        "504 MB",
        "2.5 TB",
        "7.0 PB",
    ]
    ages = (3, 42, 61, 7300, 200_000)
    assert [ago_text(NOW - timedelta(seconds=age), NOW) for age in ages] == [
        "just now",
        "42 s ago",
        "1 min ago",
        "2 h ago",
        "2 d ago",
    ]


def test_requests_and_used_memory_are_described_in_words() -> None:
    assert (
        needs_text(Needs(resources=Resources(cores=2, ram=2048, time_limit=60)))
        == "2 cores, 2\u202f048 MiB, at most 60 s"
    )
    assert (
        needs_text(Needs(resources=Resources(time_limit=0)))
        == "1 core, no memory request: the node's memory is the limit"
    )
    needs = Needs(
        resources=Resources(cores=1, ram=9, time_limit=60),
        checkpoint=Checkpoint(files=["state/*"], every=30),
    )
    assert needs_text(needs) == "1 core, 9 MiB, at most 60 s, a checkpoint every 30 s"
    used = (None, 0, 0.3, 9.96, 312.4, 2048)
    assert [memory_text(memory) for memory in used] == [
        "–",
        "–",
        "0.3 MiB",
        "10 MiB",
        "312 MiB",
        "2\u202f048 MiB",
    ]


def test_types_are_described_in_words() -> None:
    assert type_name(["null", "int"]) == "int?"
    assert type_name({"type": "array", "items": "string"}) == "string[]"
    assert type_name({"type": "enum", "symbols": ["file#mode/low", "high"]}) == "low | high"
    assert type_name("float") == "float"


def test_parameters_are_bound_to_metadata_before_facts_of_the_data_set() -> None:
    dataset = Dataset(
        uid=uuid4(),
        name="d",
        type=DatasetType.INPUT,
        state=DatasetState.CLOSED,
        meta={"run": 7, "empty": None},
        period="autumn",
        run=6,
        count_files=1,
        bytes=1,
        timestamp=NOW,
    )
    bind = {"number": "run", "when": "period", "gone": "nothing", "none": "empty"}
    assert bind_parameters(make_plan(make_step("last", None), bind=bind), facts_of(dataset))[0] == {
        "number": 7,
        "when": "autumn",
    }


def test_document_is_stored_as_plain_json_values() -> None:
    assert to_storable({"a": [1, 2.5, None, True, 2**70], 3: "x"}) == {
        "a": [1, 2.5, None, True, str(2**70)],
        "3": "x",
    }


def test_values_that_postgresql_cannot_store_are_refused() -> None:
    looped: list[object] = []
    looped.append(looped)
    grown: object = "x"
    for _ in range(18):
        grown = [grown, grown]
    assert MAX_VALUES < 2**18
    for value, words in (
        ("a\x00b", "NUL"),
        ("\ud800", "surrogate"),
        (looped, "levels"),
        (grown, "values"),
    ):
        with pytest.raises(UnstorableDocument, match=words):
            to_storable({"key": value})
