"""Errors in the links of a plan that the compiler would not write."""

import pytest
from hypothesis import given

from sluice.contracts.templates.plan import Plan, Source
from tests.unit.wfms.chains.plans import draw_plan, make_plan, make_step
from wfms.chains.domain.graph import link_findings


def _make_source(name: str) -> Source:
    return Source(step=name, port="out")


WRONG_PLANS = {
    "there is no step 'b', whose files are used": make_plan(
        make_step("a", _make_source("b")), outputs=[("a", "out")]
    ),
    "there is no step 'c', whose files are used": make_plan(make_step("a"), outputs=[("c", "out")]),
    "two steps have the name 'a'": make_plan(
        make_step("a"), make_step("a"), outputs=[("a", "out")]
    ),
    "the steps depend on each other in a cycle: 'a', 'b', 'a'": make_plan(
        make_step("a", _make_source("b")), make_step("b", _make_source("a")), outputs=[("a", "out")]
    ),
    "the steps depend on each other in a cycle: 'a', 'a'": make_plan(
        make_step("a", _make_source("a")), outputs=[("a", "out")]
    ),
}


@pytest.mark.parametrize("sentence", WRONG_PLANS)
def test_broken_links_of_a_plan_are_reported(sentence: str) -> None:
    messages = [finding.message for finding in link_findings(WRONG_PLANS[sentence])]
    assert messages == [sentence]


@given(plan=draw_plan())
def test_valid_plan_has_no_link_findings(plan: Plan) -> None:
    assert link_findings(plan) == []
