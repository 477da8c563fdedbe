"""Matching of data sets and templates."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.conditions import Between, Condition, Equals, Glob, OneOf, Require
from sluice.contracts.templates.matching import facts_of, holds
from sluice.contracts.templates.plan import Parameter
from sluice.contracts.templates.templates import Template
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.intake.domain.matching import Match, NoMatch, decide

TIME = datetime(2024, 1, 1, tzinfo=UTC)


def make_dataset(meta: dict[str, Any] | None = None, **more: Any) -> Dataset:
    fields: dict[str, Any] = {"period": "2024a", "run": 7, "name": "run-7", **more}
    return Dataset(
        uid=UUID(int=1),
        type=DatasetType.INPUT,
        state=DatasetState.CLOSED,
        meta=meta or {},
        count_files=1,
        bytes=1,
        timestamp=TIME,
        **fields,
    )


def make_template(
    name: str, match: dict[str, Condition], version: int = 1, **more: Any
) -> Template:
    template_plan = make_plan(make_step("only"), outputs=[("only", "out")], match=match, **more)
    return Template(
        id=uuid5(UUID(int=2), f"{name}{version}"),
        name=name,
        version=version,
        created_at=TIME,
        plan=template_plan,
    )


@pytest.mark.parametrize(
    ("condition", "good", "bad"),
    [
        (Equals(value=1), [1, 1.0], [True, "1", 2, None]),
        (Equals(value=True), [True], [1, "true", None]),
        (Equals(value="raw"), ["raw"], ["Raw", ["raw"], None]),
        (Equals(value=None), [None], [0, ""]),
        (OneOf(values=["a", 2]), ["a", 2], ["2", "b", None]),
        (Between(minimum=1, maximum=3), [1, 2.5, 3], [0.99, 3.01, "2", True, None]),
        (Between(minimum=1), [1, 10**9], [0]),
        (Between(maximum=1), [1, -5], [2]),
        (Glob(pattern="run-[0-9]*"), ["run-7", "run-77x"], ["Run-7", "run-", 7, None]),
    ],
)
def test_condition_holds_for_matching_values(
    condition: Condition, good: list[Any], bad: list[Any]
) -> None:
    assert [value for value in good if not holds(condition, value)] == []
    assert [value for value in bad if holds(condition, value)] == []


def test_metadata_override_the_facts_of_a_data_set() -> None:
    facts = facts_of(make_dataset({"type": "raw", "n": 1}))
    assert facts == {"name": "run-7", "type": "raw", "run": 7, "period": "2024a", "n": 1}
    assert facts_of(make_dataset())["type"] == "input"
    assert "run" not in facts_of(make_dataset(run=None))


def test_template_is_chosen_by_priority_then_name_from_latest_versions() -> None:
    run: dict[str, Condition] = {"run": Equals(value=7)}
    low, high = make_template("a", run), make_template("z", run, priority=5)
    assert decide(make_dataset(), [low, high]) == Match(high, {})
    second_low = make_template("b", run)
    assert decide(make_dataset(), [second_low, low]) == Match(low, {}, (second_low,))
    assert decide(make_dataset(), [second_low, high, low]) == Match(high, {}), (
        "templates of lower priority do not compete"
    )
    other = make_template("z", {"run": Equals(value=8)}, version=2, priority=5)
    assert decide(make_dataset(), [low, high, other]) == Match(low, {})


def test_reason_names_each_template_that_does_not_match() -> None:
    decision = decide(
        make_dataset(),
        [
            make_template("a", {"kind": Equals(value="raw")}),
            make_template("b", {"run": Between(maximum=5)}),
        ],
    )
    assert decision == NoMatch(
        "no template matches: a wants kind = 'raw', which is missing; b wants run from -∞ to 5, "
        "which is 7"
    )
    assert decide(make_dataset(), []) == NoMatch("there is no template for data sets")
    many = decide(make_dataset(), [make_template(f"t{number:02}", {}) for number in range(12)])
    assert isinstance(many, NoMatch)
    assert many.reason.endswith("; and 2 more")
    assert "on request only" in many.reason


def test_parameters_bound_to_metadata_are_filled_in() -> None:
    parameters = {
        "cut": Parameter(type="int", required=True),
        "scale": Parameter(type="float", default=1.0),
    }
    bound = make_template(
        "a",
        {"run": Equals(value=7)},
        parameters=parameters,
        bind={"cut": "threshold", "scale": "gain"},
    )
    assert decide(make_dataset({"threshold": 3}), [bound]) == Match(bound, {"cut": 3})
    missing = decide(make_dataset({"gain": 2.0}), [bound])
    assert isinstance(missing, NoMatch)
    assert "cut (from metadata 'threshold')" in missing.reason
    assert missing.reason.endswith("sluice chain start DATASET TEMPLATE --param cut=…")


def test_unmet_requirement_of_a_template_leaves_the_data_set_unmatched() -> None:
    conditions: dict[str, Condition] = {"run": Equals(value=7)}
    require = Require(files=Between(minimum=10), parameters={"cut": Between(maximum=5)})
    parameters = {"cut": Parameter(type="int", default=3)}
    strict_template = make_template(
        "a",
        conditions,
        require=require,
        parameters=parameters,
        bind={"cut": "threshold"},
        priority=5,
    )
    decision = decide(
        make_dataset({"threshold": 9}), [strict_template, make_template("b", conditions)]
    )
    assert decision == NoMatch(
        "template a matches, but requires files from 10 to ∞, which is 1, and parameter cut from "
        "-∞ to 5, which is 9"
    )


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.integers(0, 2), st.booleans()),
        max_size=8,
    ),
    st.randoms(),
)
def test_decision_does_not_depend_on_the_order_of_templates(
    template_list: list[tuple[str, int, int, bool]], random: Any
) -> None:
    versions = {
        (name, version): (priority, fits) for name, version, priority, fits in template_list
    }
    templates = [
        make_template(name, {"run": Equals(value=7 if fits else 8)}, version, priority=priority)
        for (name, version), (priority, fits) in versions.items()
    ]
    first = decide(make_dataset(), templates)
    random.shuffle(templates)
    assert decide(make_dataset(), templates) == first


def test_reason_hides_the_names_of_templates_of_other_groups() -> None:
    """The group of the data set reads the reason."""
    shared_dataset = make_dataset({"kind": "a"}, group="alpha", shared_with=["beta"])
    match: dict[str, Condition] = {"kind": Equals(value="a")}
    for group, named in (("alpha", "template told"), ("beta", "a template of another group")):
        for more in (
            {
                "parameters": {"cut": Parameter(type="int", required=True)},
                "bind": {"cut": "threshold"},
            },
            {"require": Require(files=Between(minimum=9))},
        ):
            group_template = make_template("told", match, **more).model_copy(
                update={"group": group}
            )
            decided = decide(shared_dataset, [group_template])
            assert isinstance(decided, NoMatch), decided
            assert decided.reason.startswith(f"{named} "), decided.reason
