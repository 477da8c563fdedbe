"""The graph of a plan's steps: their downstream steps, and the steps that may start."""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from sluice.contracts.common.problems import Finding
from sluice.contracts.common.states import StepState
from sluice.contracts.templates.plan import Plan, PlanStep, Source
from sluice.text.visible_text import quoted
from wfms.chains.domain.chain import ChainView


def link_findings(plan: Plan) -> list[Finding]:
    """Return why the plan's steps form no acyclic graph. The compiler writes no such plan."""
    return [Finding(message=problem) for problem in _list_link_problems(plan)]


def _list_link_problems(plan: Plan) -> Iterator[str]:
    names = [step.name for step in plan.steps]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two steps have the name {quoted(name)}"
    before = {step.name: {each.step for each in step.sources if each.step} for step in plan.steps}
    referenced_steps = set().union(*before.values(), (output.step for output in plan.outputs))
    for name in sorted(referenced_steps - set(names)):
        yield f"there is no step {quoted(name)}, whose files are used"
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        yield f"the steps depend on each other in a cycle: {', '.join(map(repr, error.args[1]))}"


def downstream_steps(plan: Plan, step: str | None, port: str) -> list[PlanStep]:
    """Return the steps that read ``port`` of ``step``, or of the workflow if ``step`` is None."""
    return [
        downstream
        for downstream in plan.steps
        if any((source.step, source.port) == (step, port) for source in downstream.sources)
    ]


def output_ports(plan: Plan) -> dict[tuple[str, str], str]:
    """Map (step, port) to the name of its workflow output; the first name where it has several."""
    names: dict[tuple[str, str], str] = {}
    for output in plan.outputs:
        names.setdefault((output.step, output.port), output.name)
    return names


def writes_output(plan: Plan, step: str) -> bool:
    """Return whether ``step`` writes a workflow output."""
    return any(output.step == step for output in plan.outputs)


def startable(chain: ChainView) -> list[str]:
    """Return the pending steps that may start, in the plan's order.

    All their inputs are complete, or are streamed from a step that runs.
    """
    return [
        step.name
        for step in chain.plan.steps
        if chain.steps[step.name].state is StepState.PENDING
        and all(_is_available(chain, step, source) for source in step.sources)
    ]


def _is_available(chain: ChainView, step: PlanStep, source: Source) -> bool:
    if source.step is None:
        return True
    state = chain.steps[source.step].state
    return state is StepState.FINISHED or (state is StepState.IN_PROGRESS and step.streams(source))
