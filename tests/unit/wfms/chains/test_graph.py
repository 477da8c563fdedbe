"""Errors in the links of a plan that the compiler would not write."""

import pytest
from hypothesis import given

from sluice.contracts.templates.plan import Plan, Source
from tests.unit.wfms.chains.plans import plan, plans, step
from wfms.chains.domain.graph import link_findings


def _from(name: str) -> Source:
    return Source(step=name, port="out")


WRONG_PLANS = {
    "there is no step 'b', whose files are used": plan(
        step("a", _from("b")), outputs=[("a", "out")]
    ),
    "there is no step 'c', whose files are used": plan(step("a"), outputs=[("c", "out")]),
    "two steps have the name 'a'": plan(step("a"), step("a"), outputs=[("a", "out")]),
    "the steps depend on each other in a cycle: 'a', 'b', 'a'": plan(
        step("a", _from("b")), step("b", _from("a")), outputs=[("a", "out")]
    ),
    "the steps depend on each other in a cycle: 'a', 'a'": plan(
        step("a", _from("a")), outputs=[("a", "out")]
    ),
}


@pytest.mark.parametrize("sentence", WRONG_PLANS)
def test_broken_links_of_a_plan_are_reported(sentence: str) -> None:
    messages = [finding.message for finding in link_findings(WRONG_PLANS[sentence])]
    assert messages == [sentence]


@given(plan=plans())
def test_valid_plan_has_no_link_findings(plan: Plan) -> None:
    assert link_findings(plan) == []
