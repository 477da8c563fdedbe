"""Extension fields of a template in its plan."""

from sluice.contracts.templates.conditions import Between, Equals, Glob, OneOf, Require
from tests.unit.cwl.samples import compile_plan, edit_text


def test_retry_may_include_permanent_failure_reasons() -> None:
    edit = (
        "    out: [number]",
        "    out: [number]\n    sluice:retry: {attempts: 5, also: [tool_timeout, no_program]}",
    )
    count, join = compile_plan(edit_text(edit)).steps
    assert (count.retry.attempts, count.retry.also) == (5, ["tool_timeout", "no_program"])
    assert join.retry.also == []


def test_resources_and_labels_are_set_by_step_or_workflow() -> None:
    plan = compile_plan(
        edit_text(
            ("inputs:\n", "sluice:nodes: {site: prague, class: [a, b]}\ninputs:\n"),
            ("    out: [number]", "    out: [number]\n    sluice:resources: {licence: 1, x: 0.5}"),
        )
    )
    count, join = plan.steps
    assert count.needs.named == {"licence": 1.0, "x": 0.5}
    assert count.needs.nodes == join.needs.nodes == {"site": ["prague"], "class": ["a", "b"]}
    assert count.needs.resources == compile_plan(edit_text()).steps[0].needs.resources
    assert join.needs.named == {}


def test_chain_requirements_are_read_in_the_syntax_of_match() -> None:
    requirements = (
        '{files: {minimum: 10}, bytes: 7, meta: {sluice:type: raw, version: {glob: "2.*"}},'
        " parameters: {limit: [5, 6]}}"
    )
    require = compile_plan(
        edit_text(("inputs:\n", f"sluice:require: {requirements}\ninputs:\n"))
    ).require
    assert require == Require(
        files=Between(minimum=10),
        bytes=Equals(value=7),
        meta={"type": Equals(value="raw"), "version": Glob(pattern="2.*")},
        parameters={"limit": OneOf(values=[5, 6])},
    )
    assert compile_plan(edit_text()).require is None
