"""Extension fields of a template, as the plan has them."""

from tests.unit.cwl.samples import edited, plan_of


def test_what_is_tried_again_although_it_ends_in_the_same_way_is_asked_for() -> None:
    edit = ("    out: [number]", "    out: [number]\n    sluice:retry: {attempts: 5, also: [tool_timeout, no_program]}")
    count, join = plan_of(edited(edit)).steps
    assert (count.retry.attempts, count.retry.also) == (5, ["tool_timeout", "no_program"])
    assert "also" not in join.retry.model_dump()
