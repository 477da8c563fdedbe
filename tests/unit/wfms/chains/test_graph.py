"""A plan that the compiler would not write is told as what it is."""

import pytest
from hypothesis import given

from sluice.contracts.plan import Plan, Source
from tests.unit.wfms.chains.plans import plan, plans, step
from wfms.chains.domain.graph import link_findings


def _from(name: str) -> Source:
    return Source(step=name, port="out")


WRONG = {
    "there is no step 'b', of which files are taken": plan(
        step("a", _from("b")), outputs=[("a", "out")]
    ),
    "there is no step 'c', of which files are taken": plan(step("a"), outputs=[("c", "out")]),
    "two steps have the name 'a'": plan(step("a"), step("a"), outputs=[("a", "out")]),
    "steps wait for one another: 'a', 'b', 'a'": plan(
        step("a", _from("b")), step("b", _from("a")), outputs=[("a", "out")]
    ),
    "steps wait for one another: 'a', 'a'": plan(step("a", _from("a")), outputs=[("a", "out")]),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_steps_that_are_no_graph_are_told(sentence: str) -> None:
    told = [finding.message for finding in link_findings(WRONG[sentence])]
    assert told == [sentence]


@given(plan=plans())
def test_a_graph_is_right(plan: Plan) -> None:
    assert link_findings(plan) == []
