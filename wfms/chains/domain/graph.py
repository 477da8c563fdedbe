"""The graph of a plan's steps: who reads whose output, and which steps may start."""

from sluice.contracts.plan import Plan, PlanStep, Source
from sluice.contracts.states import StepState
from wfms.chains.domain.chain import ChainView


def readers(plan: Plan, step: str | None, port: str) -> list[PlanStep]:
    """Steps that read what ``step`` (None: the workflow itself) gives at ``port``."""
    return [
        reader
        for reader in plan.steps
        if any((source.step, source.port) == (step, port) for source in reader.sources)
    ]


def output_ports(plan: Plan) -> dict[tuple[str, str], str]:
    """(step, port) → name of the workflow output it is; the first name where it is several."""
    names: dict[tuple[str, str], str] = {}
    for output in plan.outputs:
        names.setdefault((output.step, output.port), output.name)
    return names


def writes_output(plan: Plan, step: str) -> bool:
    return any(output.step == step for output in plan.outputs)


def startable(chain: ChainView) -> list[str]:
    """Pending steps whose inputs are complete, or are taken as they come, in the plan's order."""
    return [
        step.name
        for step in chain.plan.steps
        if chain.steps[step.name].state is StepState.PENDING
        and all(_is_there(chain, step, source) for source in step.sources)
    ]


def _is_there(chain: ChainView, reader: PlanStep, source: Source) -> bool:
    if source.step is None:
        return True
    state = chain.steps[source.step].state
    as_it_comes = reader.takes_as_they_come and all(
        given in reader.inputs_that_come for given in reader.inputs if source in given.sources
    )
    return state is StepState.FINISHED or (state is StepState.IN_PROGRESS and as_it_comes)
