"""Trigger cycles: templates that would start each other forever."""

from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.access.owners import ALL, EVERYONE, visibility
from sluice.contracts.data.append_only import Collect, GrowthTrigger, SliceConsumer, Trigger
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.templates.conditions import Equals
from sluice.contracts.templates.templates import Template
from sluice.contracts.templates.trigger_cycles import describe_cycle, find_cycle, why_cycle
from tests.unit.wfms.chains.plans import make_plan, make_step
from tests.unit.wfms.intake.append_only_datasets import START, make_corpus

GROWN = Trigger(every=GrowthTrigger(files=1))


def make_template(
    name: str, takes: str, *gives: str, trigger: Trigger | None = GROWN, **more: Any
) -> Template:
    template_plan = make_plan(
        *(make_step(f"s{number}") for number in range(len(gives) or 1)),
        outputs=[(f"s{number}", "out") for number in range(len(gives))],
        match={"type": Equals(value=takes)},
        trigger=trigger,
    )
    outputs = [
        output.model_copy(update={"collect": Collect(name=f"the-{into}", type=into)})
        for output, into in zip(template_plan.outputs, gives, strict=True)
    ]
    return Template(
        id=UUID(int=3),
        name=name,
        version=1,
        created_at=START,
        plan=template_plan.model_copy(update={"outputs": outputs}),
        **more,
    )


def append_only_dataset(
    generation: int, *, reader: int | None = None, used: int = 3
) -> AppendOnlyDataset:
    """Return a data set; ``reader`` is the generation of a reader that has ``used`` files."""
    one = make_corpus().model_copy(update={"generation": generation})
    if reader is None:
        return one
    consumer = SliceConsumer(
        name="la", used=used, slices=1, last_at=START, last=UUID(int=2), generation=reader
    )
    return one.model_copy(update={"readers": [consumer]})


LA, LB = make_template("la", "a", "b"), make_template("lb", "b", "a")
LINE = make_template("line", "a", "c")


def describe_templates(cycle: list[Template]) -> str:
    return describe_cycle(cycle)


@pytest.mark.parametrize(
    ("templates", "cycle"),
    [
        ([LA, LB], "la → lb → la"),
        ([LA], ""),
        ([LA, LINE, make_template("far", "c", "d")], ""),
        ([make_template("la", "a", "b", "a"), LB], "la → la"),
        ([LA, make_template("lb", "b", "a", trigger=None)], ""),
        (
            [LA, make_template("mid", "b", "c"), make_template("end", "c", "a")],
            "la → mid → end → la",
        ),
        ([LA, make_template("x", "b", "c"), make_template("y", "c", "b")], ""),
    ],
    ids=["two", "alone", "line", "itself", "no trigger", "three", "before a cycle"],
)
def test_trigger_cycle_leads_back_to_the_same_template(
    templates: list[Template], cycle: str
) -> None:
    assert describe_templates(find_cycle(templates[0], templates)) == cycle


def test_condition_that_no_collected_output_meets_closes_no_cycle() -> None:
    narrow = LB.plan.model_copy(update={"match": {**LB.plan.match, "run": Equals(value=1)}})
    assert find_cycle(LA, [LA, LB.model_copy(update={"plan": narrow})]) == []
    by_name = LB.plan.model_copy(update={"match": {"name": Equals(value="the-b")}})
    assert len(find_cycle(LA, [LA, LB.model_copy(update={"plan": by_name})])) == 3


def test_cycle_hides_the_names_of_templates_of_other_groups() -> None:
    other = LB.model_copy(update={"group": "spd"})
    cycle = find_cycle(LA, [LA, other])
    assert describe_cycle(cycle, ALL) == "la → lb → la"
    assert describe_cycle(cycle, visibility([EVERYONE])) == "la → a template of another group → la"


@pytest.mark.parametrize(
    ("one", "is_stopped"),
    [
        (append_only_dataset(4), False),
        (append_only_dataset(5), True),
        (append_only_dataset(9, reader=4), False),
        (append_only_dataset(9, reader=5), True),
        (append_only_dataset(9, reader=9, used=12), False),
    ],
    ids=["below", "reached", "used up", "what is new", "nothing new"],
)
def test_trigger_cycle_stops_at_the_highest_generation(
    one: AppendOnlyDataset, *, is_stopped: bool
) -> None:
    assert (why_cycle(LA, one, [LA, LB], max_generations=5) is not None) is is_stopped


def test_trigger_on_all_files_counts_the_generation_of_all_files() -> None:
    whole = make_template("la", "a", "b", trigger=Trigger(every=GrowthTrigger(files=1, all=True)))
    one = append_only_dataset(9, reader=0)
    assert why_cycle(whole, one, [whole, LB], max_generations=5) is not None
    assert why_cycle(LA, one, [LA, LB], max_generations=5) is None


def test_templates_without_a_cycle_never_stop() -> None:
    assert why_cycle(LA, append_only_dataset(1000), [LA, LINE], max_generations=5) is None


def test_reason_names_the_cycle_and_the_commands_that_help() -> None:
    reason = why_cycle(LA, append_only_dataset(5), [LA, LB], max_generations=5)
    assert reason is not None
    for part in (
        "5 chains have started on each other's outputs",
        "la → lb → la",
        "sluice template disable la",
        "sluice chain start DATASET la",
        "SLUICE_INTAKE_GENERATIONS to more than 5",
    ):
        assert part in reason
